package volume_test

import (
	"bytes"
	"encoding/json"
	"io/fs"
	"math"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/dataset/volume"
	"github.com/penstock-go/penstock/internal/dense"
)

// A dicomGolden is what SimpleITK reads from a series, and pydicom where it does not.
type dicomGolden struct {
	Values                     []float64
	Spacing, Origin, Direction []float64 // as ITK has them: x first, axes in columns
	ITK                        string
}

func dicomGoldens(t *testing.T) (g map[string]dicomGolden) {
	t.Helper()
	text, err := os.ReadFile("testdata/dicom.json")
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &g); err != nil {
		t.Fatal(err)
	}
	if len(g) < 15 {
		t.Fatalf("%d golden series", len(g))
	}
	return g
}

func TestSeriesAreThoseOfITK(t *testing.T) {
	fsys := os.DirFS("testdata/dicom")
	for name, want := range dicomGoldens(t) {
		v, err := volume.Read(fsys, name, 0)
		if slices.Contains([]string{"big", "deflated", "rle", "rle8"}, name) {
			if err == nil || !strings.Contains(err.Error(), "is not read: want uncompressed values in little endian") {
				t.Errorf("%s: got %v", name, err)
			}
			continue
		}
		if err != nil {
			t.Error(err)
			continue
		}
		if want.ITK != "" && v.Dtype.String() != want.ITK && (want.ITK != "float64" || v.Dtype != dataset.Float32) {
			t.Errorf("%s: %v, want %s", name, v.Dtype, want.ITK)
		}
		if v.Shape[1] != 3 || v.Shape[2] != 5 || v.World != "LPS" {
			t.Errorf("%s: got %v", name, v)
		}
		values := make([]float64, v.Shape.Elements())
		for i := range values {
			values[i] = float64(floats(t, v)[i])
			if v.Dtype == dataset.Uint32 { // beyond the integers that float32 holds exactly
				values[i] = float64(dense.Values[uint32](v.Data)[i])
			}
		}
		for i, x := range values {
			if w := want.Values[i]; math.Abs(x-w) > 1e-6*math.Abs(w) {
				t.Errorf("%s: value %d is %v, want %v", name, i, x, w)
				break
			}
		}
		for k := range 3 {
			a := v.Axes[2-k]
			near(t, name+", spacing", a.Spacing, want.Spacing[k])
			near(t, name+", origin", v.Origin[k], want.Origin[k])
			for d := range 3 {
				near(t, name+", direction", a.Direction[d], want.Direction[3*d+k])
			}
		}
		h, err := volume.ReadHeader(fsys, name)
		if err != nil || h.String() != v.String() {
			t.Errorf("%s: header %v, %v, want %v", name, h, err, v)
		}
	}
}

func near(t *testing.T, what string, got, want float64) {
	t.Helper()
	if math.Abs(got-want) > 1e-6 {
		t.Errorf("%s: got %v, want %v", what, got, want)
	}
}

func TestASeriesTellsItsModalityButNotItsPatient(t *testing.T) {
	v, err := volume.ReadHeader(os.DirFS("testdata/dicom"), "ct")
	if err != nil {
		t.Fatal(err)
	}
	if got := v.Attributes; len(got) != 3 || got["Modality"] != "CT" || got["SeriesDescription"] != "ct" || got["SeriesInstanceUID"] == "" {
		t.Errorf("got %v", got)
	}
}

// inFolder is a series of testdata as files in memory.
func inFolder(t *testing.T, name string) fstest.MapFS {
	t.Helper()
	fsys := fstest.MapFS{}
	entries, err := os.ReadDir("testdata/dicom/" + name)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		data, err := os.ReadFile("testdata/dicom/" + name + "/" + e.Name())
		if err != nil {
			t.Fatal(err)
		}
		fsys["p/ct/"+e.Name()] = &fstest.MapFile{Data: data}
	}
	return fsys
}

// sortedFiles are the names of the files of a series, ordered by position.
func sortedFiles(t *testing.T, fsys fstest.MapFS) []string {
	t.Helper()
	at := map[string]float64{}
	var names []string
	for name := range fsys {
		v, err := volume.ReadHeader(fstest.MapFS{"a.dcm": fsys[name]}, "a.dcm")
		if err != nil {
			t.Fatal(err)
		}
		for d, x := range v.Axes[0].Direction {
			at[name] += x * v.Origin[d]
		}
		names = append(names, name)
	}
	slices.SortFunc(names, func(a, b string) int {
		if at[a] < at[b] {
			return -1
		}
		return 1
	})
	return names
}

func TestFoldersThatAreNotOneStackAreErrors(t *testing.T) {
	replaced := func(data []byte, old, new string) []byte {
		if len(old) != len(new) || !bytes.Contains(data, []byte(old)) {
			t.Fatalf("%q is not to be replaced by %q", old, new)
		}
		return bytes.Replace(data, []byte(old), []byte(new), 1)
	}
	for _, c := range []struct {
		name, want string // base stands for the first, other for another slice
		spoil      func(fsys fstest.MapFS, sorted []string)
	}{
		{"gap", "5 mm apart, most slices 2.5: slices are missing between them", func(fsys fstest.MapFS, sorted []string) { delete(fsys, sorted[2]) }},
		{"twice", "are at the same position: want a folder per time point or echo, and no copies", func(fsys fstest.MapFS, sorted []string) {
			fsys["p/ct/copy"] = fsys[sorted[1]]
		}},
		{"another series", "is of another series than", func(fsys fstest.MapFS, sorted []string) {
			f := fsys[sorted[1]]
			f.Data = replaced(f.Data, "1.2.826.0.1.3680043.8.498.2.1", "1.2.826.0.1.3680043.8.498.7.1")
		}},
		{"another spacing", "has another spacing than", func(fsys fstest.MapFS, sorted []string) {
			f := fsys[sorted[1]]
			f.Data = replaced(f.Data, `0.75\0.5`, `0.75\0.6`)
		}},
		{"another frame", "has another frame of reference than", func(fsys fstest.MapFS, sorted []string) {
			f := fsys[sorted[1]]
			f.Data = replaced(f.Data, "1.2.826.0.1.3680043.8.498.3\x00", "1.2.826.0.1.3680043.8.498.33")
		}},
		{"a text", "p/ct: README.txt: not a DICOM file: there is no DICM at byte 128", func(fsys fstest.MapFS, _ []string) {
			fsys["p/ct/README.txt"] = &fstest.MapFile{Data: []byte("hello")}
		}},
		{"cut", "IM", func(fsys fstest.MapFS, sorted []string) {
			f := fsys[sorted[1]]
			f.Data = f.Data[:len(f.Data)-1]
		}},
		{"empty", "a folder without files", func(fsys fstest.MapFS, sorted []string) {
			for _, name := range sorted {
				delete(fsys, name)
			}
			fsys["p/ct/.hidden"], fsys["p/ct/DICOMDIR"], fsys["p/ct/sub/x"] = &fstest.MapFile{}, &fstest.MapFile{}, &fstest.MapFile{}
		}},
	} {
		fsys := inFolder(t, "implicit")
		c.spoil(fsys, sortedFiles(t, fsys))
		_, err := volume.Read(fsys, "p/ct", 0)
		if err == nil || !strings.HasPrefix(err.Error(), "volume: read p/ct: ") || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %q in it", c.name, err, c.want)
		}
		if _, err := volume.ReadHeader(fsys, "p/ct"); err == nil {
			t.Errorf("%s: its header is read", c.name)
		}
	}
	fsys := inFolder(t, "implicit")
	fsys["p/ct/.DS_Store"], fsys["p/ct/DICOMDIR"] = &fstest.MapFile{}, &fstest.MapFile{}
	if _, err := volume.Read(fsys, "p/ct", 4*15*2); err != nil {
		t.Errorf("with hidden files: %v", err)
	}
	if _, err := volume.Read(fsys, "p/ct", 4*15*2-1); err == nil || !strings.Contains(err.Error(), "120 bytes of values, the limit is 119") {
		t.Errorf("beyond the limit: %v", err)
	}
}

func TestCohortsHaveSeriesAndFiles(t *testing.T) {
	fsys := inFolder(t, "ct")
	ct, err := volume.Read(fsys, "p/ct", 0)
	if err != nil {
		t.Fatal(err)
	}
	mask := ct.Header()
	mask.Dtype, mask.Data = dataset.Uint8, make([]byte, ct.Shape.Elements())
	mask.Data[7] = 1
	fsys["p/mask.nrrd"] = nrrdFile(mask)
	c, err := volume.Open(struct{ fs.FS }{fsys}, volume.Scan("ct", "{patient}/ct", volume.As(dataset.Int16)), volume.Mask("mask", "{patient}/mask.nrrd"))
	if err != nil {
		t.Fatal(err)
	}
	s := sampleOf(t, cut(t)(c.Whole()), 0)
	if got := dataset.ValuesOf[int16](s["ct"]); !slices.Equal(got, dense.Values[int16](ct.Data)) || dataset.ValuesOf[uint8](s["mask"])[7] != 1 {
		t.Errorf("got %v", got)
	}
}
