package nrrd_test

import (
	"bytes"
	"errors"
	"math"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/dataset/volume/internal/nrrd"
)

func tensorOf(m *nrrd.Image) dataset.Tensor {
	return dataset.NewTensor(m.Dtype, dataset.Shape(m.Sizes), m.Data)
}

// same compares headers without the fields that Write sets itself.
var same = cmp.Options{
	cmpopts.IgnoreUnexported(nrrd.Header{}, nrrd.DataFiles{}), cmpopts.EquateNaNs(),
	cmpopts.IgnoreFields(nrrd.Header{}, "Version", "Encoding", "Endian", "Number", "LineSkip", "ByteSkip", "DataFiles"),
}

func TestWhatIsWrittenReadsTheSame(t *testing.T) {
	for name := range goldens(t).Files {
		m, err := nrrd.Read(os.DirFS("testdata/files"), name, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, encoding := range []nrrd.Encoding{"", nrrd.Gzip} {
			h := m.Header
			h.Encoding = encoding
			var b bytes.Buffer
			if err := nrrd.Write(&b, &h, m.Data); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			got, err := nrrd.Read(files("f", b.String()), "f", 0)
			if err != nil {
				t.Fatalf("%s: %v in\n%.2000s", name, err, b.String())
			}
			if diff := cmp.Diff(m.Header, got.Header, same); diff != "" {
				t.Errorf("%s: -read +written\n%s", name, diff)
			}
			if !bytes.Equal(got.Data, m.Data) {
				t.Errorf("%s: the data differ", name)
			}
		}
	}
}

func TestTextIsWrittenSoThatItComesBack(t *testing.T) {
	h := nrrd.Header{
		Type: nrrd.Uint8, Sizes: []int{1, 2}, Labels: []string{`a "b" \ c`, ""}, Units: []string{"mm", "\t"}, Content: "a: b := c # d",
		KeyValues: []nrrd.KeyValue{{"a\\n\nb", " \\ \n\\n= :="}, {"type of", "x"}, {"sizes", ""}}, Comments: []string{"c"},
	}
	var b bytes.Buffer
	if err := nrrd.Write(&b, &h, []byte("xy")); err != nil {
		t.Fatal(err)
	}
	m, err := nrrd.Read(files("f", b.String()), "f", 0)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(h, m.Header, same); diff != "" {
		t.Errorf("-given +read\n%s", diff)
	}
}

func TestVersionIsTheOldestThatHasTheFields(t *testing.T) {
	for _, c := range []struct {
		want string
		edit func(*nrrd.Header)
	}{
		{"NRRD0001", func(*nrrd.Header) {}},
		{"NRRD0002", func(h *nrrd.Header) { h.KeyValues = []nrrd.KeyValue{{"k", "v"}} }},
		{"NRRD0003", func(h *nrrd.Header) { h.Kinds = []string{"domain"} }},
		{"NRRD0004", func(h *nrrd.Header) { h.Thicknesses = []float64{math.NaN()} }},
		{"NRRD0005", func(h *nrrd.Header) { h.SpaceDimension, h.MeasurementFrame = 1, [][]float64{{1}} }},
		{"NRRD0006", func(h *nrrd.Header) { h.Space, h.SpaceDimension = "right-up", 2 }},
	} {
		h := nrrd.Header{Type: nrrd.Uint8, Sizes: []int{1}}
		c.edit(&h)
		var b bytes.Buffer
		if err := nrrd.Write(&b, &h, []byte("x")); err != nil {
			t.Error(err)
		}
		if got, _, _ := strings.Cut(b.String(), "\n"); got != c.want {
			t.Errorf("got %s, want %s", got, c.want)
		}
	}
}

func TestWhatCannotBeReadIsNotWritten(t *testing.T) {
	for _, c := range []struct {
		want string
		edit func(*nrrd.Header)
	}{
		{"type is missing", func(h *nrrd.Header) { h.Type = "" }},
		{"0 axes", func(h *nrrd.Header) { h.Sizes = nil }},
		{"2 bytes, but the data have 1", func(h *nrrd.Header) { h.Sizes = []int{2} }},
		{"content: it has a line break", func(h *nrrd.Header) { h.Content = "a\nb:=c" }},
		{"2 values for 1 axes", func(h *nrrd.Header) { h.Spacings = []float64{1, 2} }},
		{"space or space dimension", func(h *nrrd.Header) { h.SpaceOrigin = []float64{1, 2} }},
		{"there is no kind", func(h *nrrd.Header) { h.Kinds = []string{"x"} }},
		{"begins like the field type", func(h *nrrd.Header) { h.KeyValues = []nrrd.KeyValue{{"type: x", ""}} }},
		{"cannot distinguish it", func(h *nrrd.Header) { h.KeyValues = []nrrd.KeyValue{{"#", ""}} }},
		{"not raw or gzip", func(h *nrrd.Header) { h.Encoding = nrrd.Hex }},
	} {
		h := nrrd.Header{Type: nrrd.Uint8, Sizes: []int{1}}
		c.edit(&h)
		var b bytes.Buffer
		err := nrrd.Write(&b, &h, []byte("x"))
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("got %v, want %s", err, c.want)
		}
		if b.Len() > 0 {
			t.Errorf("%s: %d bytes are written in spite of the error", c.want, b.Len())
		}
	}
}

func TestWriteReportsTheWritersError(t *testing.T) {
	full := errors.New("disk full")
	for _, encoding := range []nrrd.Encoding{nrrd.Raw, nrrd.Gzip} {
		for n := range 2 {
			h := nrrd.Header{Type: nrrd.Uint8, Sizes: []int{1}, Encoding: encoding}
			if err := nrrd.Write(&failing{n, full}, &h, []byte("x")); !errors.Is(err, full) {
				t.Errorf("%s, write %d: got %v", encoding, n, err)
			}
		}
	}
}

// failing fails after n writes.
type failing struct {
	n   int
	err error
}

func (f *failing) Write(p []byte) (int, error) {
	if f.n--; f.n < 0 {
		return 0, f.err
	}
	return len(p), nil
}

func TestKindsAreKnownByTheNameThatComesBack(t *testing.T) {
	for name, want := range map[string]bool{
		"space": true, "RGB-color": true, "RGBcolor": false, "3D-tensor": false, "Space": false, "none": false, "???": false, "": false,
	} {
		if got := nrrd.IsKind(name); got != want {
			t.Errorf("%q: got %v, want %v", name, got, want)
		}
	}
}
