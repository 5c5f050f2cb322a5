package npy_test

import (
	"archive/zip"
	"bytes"
	"compress/flate"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/dataset/npy"
	"github.com/penstock-go/penstock/internal/budget"
	"github.com/penstock-go/penstock/internal/datatest"
	"github.com/penstock-go/penstock/internal/hostile"
)

func TestNpzHoldsWhatNumPyWrote(t *testing.T) {
	onlyLittleEndian(t)
	g, fsys := readGolden(t)
	for _, name := range []string{"stored.npz", "deflated.npz"} {
		members := decodeGolden[map[string]goldenArray](t, g.Read[name])
		ds, err := npy.OpenNpz(fsys, name, nil)
		if err != nil {
			t.Fatal(err)
		}
		if len(ds.Spec()) != len(members) {
			t.Errorf("%s: fields %v, want %d", name, ds.Spec(), len(members))
		}
		for field, want := range members {
			want.check(t, name, ds, field)
		}
		// 400 bytes hold z, which has to be put in C order, but not x.
		ds, err = npy.OpenNpz(fsys, name, []string{"z", "x"}, npy.MaxBytes(50*6*4+400))
		if name == "deflated.npz" {
			if err == nil || !strings.Contains(err.Error(), `npy: read deflated.npz: member "x": 2400 bytes of samples to be held in memory because they are compressed, MaxBytes leaves 400`) {
				t.Errorf("error %v, want one of the limit", err)
			}
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		if got, want := ds.Spec().String(), "z float32 (6), x float32 (3, 4)"; got != want {
			t.Errorf("spec %s, want %s", got, want)
		}
		members["x"].check(t, name, ds, "x")
		members["z"].check(t, name, ds, "z")
		if got, want := dataset.Name(ds, 7), "stored.npz, index 7"; got != want {
			t.Errorf("name %q, want %q", got, want)
		}
	}
}

func TestWriteNpzWritesWhatNpzReads(t *testing.T) {
	want := datatest.Tensors(t, dataset.Named("a", [][2]uint16{{1, 2}, {3, 4}}), dataset.Named("b/c", []float64{5, 6}))
	var file bytes.Buffer
	if err := npy.WriteNpz(t.Context(), &file, want); err != nil {
		t.Fatal(err)
	}
	got, err := npy.OpenNpz(fstest.MapFS{"x.npz": {Data: file.Bytes()}}, "x.npz", nil)
	if err != nil {
		t.Fatal(err)
	}
	datatest.Same(t, got, want)
	got, err = npy.OpenNpz(datatest.SeekOnly{FS: fstest.MapFS{"x.npz": {Data: file.Bytes()}}}, "x.npz", nil, npy.MaxBytes(1))
	if err != nil {
		t.Fatal(err)
	}
	datatest.Same(t, got, want)
}

// npzFile has the members given by their names and contents in turn.
func npzFile(method uint16, members ...string) []byte {
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for k := 0; k < len(members); k += 2 {
		w, err := z.CreateHeader(&zip.FileHeader{Name: members[k], Method: method})
		if err != nil {
			panic(err)
		}
		io.WriteString(w, members[k+1])
	}
	z.Close()
	return b.Bytes()
}

// lyingNpz has one member whose header in the archive is as given.
func lyingNpz(h zip.FileHeader, content []byte) []byte {
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	w, err := z.CreateRaw(&h)
	if err != nil {
		panic(err)
	}
	w.Write(content)
	z.Close()
	return b.Bytes()
}

func deflated(data []byte) []byte {
	var b bytes.Buffer
	w, err := flate.NewWriter(&b, flate.BestCompression)
	if err != nil {
		panic(err)
	}
	w.Write(data)
	w.Close()
	return b.Bytes()
}

func TestNpzSaysWhatIsWrong(t *testing.T) {
	x := string(npyFile("<i2", "2,", []byte{1, 2, 3, 4}))
	longer := string(npyFile("<i2", "3,", []byte{1, 2, 3, 4, 5, 6}))
	sum := crc32.ChecksumIEEE([]byte(x))
	packed := deflated([]byte(x))
	stored := npzFile(zip.Store, "x.npy", x)
	damaged := slices.Clone(stored)
	damaged[bytes.Index(damaged, []byte(x))+130] ^= 1
	huge := string(npyFile("<i2", "1000000000000,", nil))
	for _, c := range []struct {
		name    string
		data    []byte
		members []string
		want    string
	}{
		{"no zip", []byte("PK but no zip"), nil, "npy: read x.npz: zip: not a valid zip file"},
		{"empty", npzFile(zip.Store), nil, "npy: read x.npz: no member"},
		{"other lengths", npzFile(zip.Deflate, "x.npy", x, "y.npy", longer), nil, `npy: read x.npz: field "y" has 3 samples, field "x" has 2`},
		{"two of a name", npzFile(zip.Deflate, "x.npy", x, "x", x), nil, `npy: read x.npz: two members are named "x"`},
		{"a name missing", stored, []string{"x", "z"}, `npy: read x.npz: no member "z": there are ["x"]`},
		{"the same twice", stored, []string{"x", "x"}, `dataset: spec: two fields are named "x"`},
		{"a promise", npzFile(zip.Store, "x.npy", huge), nil, `npy: read x.npz: member "x": ` + datatest.OfInt("header promises 2000000000000 bytes of data from byte 128, the file has 0: unexpected EOF", "byte 61: header: number")},
		{"a deflated promise", npzFile(zip.Deflate, "x.npy", huge), nil, `npy: read x.npz: member "x": ` + datatest.OfInt("header promises 2000000000000 bytes of data, more than", "byte 61: header: number")},
		{"deflated data after it", npzFile(zip.Deflate, "x.npy", x+"!"), nil, `npy: read x.npz: member "x": more data after byte 132, where the header says that it ends`},
		{"data after it", npzFile(zip.Store, "x.npy", x+"!"), nil, `npy: read x.npz: member "x": 1 bytes after the data, which ends at byte 132`},
		{"deflated and cut", npzFile(zip.Deflate, "x.npy", x[:131]), nil, `npy: read x.npz: member "x": byte 131 of the decompressed data: unexpected EOF`},
		{"a broken byte", damaged, nil, `npy: read x.npz: member "x": byte 132: zip: checksum error`},
		{"encrypted", lyingNpz(zip.FileHeader{Name: "x.npy", Flags: 1, Method: zip.Deflate, CRC32: sum, CompressedSize64: uint64(len(packed)), UncompressedSize64: uint64(len(x))}, packed), nil, `npy: read x.npz: member "x": encrypted`},
		{"an unknown method", lyingNpz(zip.FileHeader{Name: "x.npy", Method: 99, CRC32: sum, CompressedSize64: uint64(len(packed)), UncompressedSize64: uint64(len(x))}, packed), nil, `npy: read x.npz: member "x": zip: unsupported compression algorithm`},
		{"broken deflate", lyingNpz(zip.FileHeader{Name: "x.npy", Method: zip.Deflate, CRC32: sum, CompressedSize64: 8, UncompressedSize64: uint64(len(x))}, bytes.Repeat([]byte{0xff}, 8)), nil, `npy: read x.npz: member "x": byte 0 of the decompressed data: inflate: corrupt data before byte 1`},
		{"stored in another size", lyingNpz(zip.FileHeader{Name: "x.npy", Method: zip.Store, CRC32: sum, CompressedSize64: 100, UncompressedSize64: uint64(len(x))}, []byte(x)[:100]), nil, `npy: read x.npz: member "x": 132 bytes stored as 100 from byte 35 of a file`},
		{"a pickle", npzFile(zip.Store, "x.npy", string(npyText("{'descr': '|O', 'fortran_order': False, 'shape': (2,), }", nil))), nil, "pickled"},
		{"no npy", npzFile(zip.Store, "readme.txt", "hello, reader"), nil, `npy: read x.npz: member "readme.txt": byte 0: magic string "hello,"`},
	} {
		ds, err := npy.OpenNpz(fstest.MapFS{"x.npz": {Data: c.data}}, "x.npz", c.members)
		if got := fmt.Sprint(err); !strings.Contains(got, c.want) {
			t.Errorf("%s: %v\ngot  %s\nwant %s", c.name, ds, got, c.want)
		}
	}
}

// sharingNpz is an archive of n members of one byte each, which share the bytes of one. Its header has
// that many spaces.
func sharingNpz(n, spaces int, method uint16) []byte {
	array := string(npyText("{'descr': '|u1', 'fortran_order': False, 'shape': (1,), }"+strings.Repeat(" ", spaces), []byte{1}))
	one := npzFile(method, "00000", array)
	end := len(one) - 22
	list := bytes.Index(one, []byte("PK\x01\x02"))
	entry := one[list:end]
	file := slices.Clone(one[:list])
	for k := range n {
		at := len(file)
		file = append(file, entry...)
		copy(file[at+46:], fmt.Sprintf("%05d", k))
	}
	last := slices.Clone(one[end:])
	binary.LittleEndian.PutUint16(last[8:], uint16(n))
	binary.LittleEndian.PutUint16(last[10:], uint16(n))
	binary.LittleEndian.PutUint32(last[12:], uint32(n*len(entry)))
	return append(file, last...)
}

func TestMembersThatShareBytesTakeLittle(t *testing.T) {
	for _, method := range []uint16{zip.Store, zip.Deflate} {
		for _, c := range []struct {
			n, spaces int
			read      bool
		}{{5000, 0, true}, {5000, 1000, false}, {5000, 60_000, false}, {1, 60_000, true}} {
			file := sharingNpz(c.n, c.spaces, method)
			hostile.Bounded(t, len(file), 0, func() {
				ds, err := npy.OpenNpz(fstest.MapFS{"x": {Data: file}}, "x", nil)
				if c.read && (err != nil || len(ds.Spec()) != c.n) || !c.read && !errors.Is(err, budget.ErrExceeded) {
					t.Errorf("%d members with headers of %d spaces, method %d: %v", c.n, c.spaces, method, err)
				}
			})
		}
	}
}

// Every small member would otherwise take 40 KB to be decompressed.
func TestManySmallMembersTakeLittle(t *testing.T) {
	var members []string
	for k := range 2000 {
		members = append(members, fmt.Sprint(k), string(npyFile("|u1", "3,", []byte{1, 2, byte(k)})))
	}
	file := npzFile(zip.Deflate, members...)
	hostile.Bounded(t, len(file), 0, func() {
		ds, err := npy.OpenNpz(fstest.MapFS{"x": {Data: file}}, "x", nil)
		if err != nil {
			t.Fatal(err)
		}
		s, err := dataset.At(t.Context(), ds, 2)
		if err != nil {
			t.Fatal(err)
		}
		for k := range 2000 {
			if got := dataset.ValuesOf[uint8](s[fmt.Sprint(k)])[0]; got != byte(k) {
				t.Fatalf("member %d: %d", k, got)
			}
		}
	})
}

func FuzzNpz(f *testing.F) {
	x, y := string(npyFile("<i2", "2,", []byte{1, 2, 3, 4})), string(npyFile(">f2", "2, 1", []byte{1, 2, 3, 4}))
	f.Add(npzFile(zip.Store, "x.npy", x, "y.npy", y))
	f.Add(npzFile(zip.Deflate, "x.npy", x, "y.npy", y))
	f.Fuzz(func(t *testing.T, data []byte) {
		fsys := fstest.MapFS{"x": {Data: data}}
		var ds dataset.Dataset
		var err error
		hostile.Bounded(t, len(data), 3<<20, func() { // MaxBytes, with the smaller memory that grew to it
			ds, err = npy.OpenNpz(fsys, "x", nil, npy.MaxBytes(1<<20))
		})
		if err != nil || ds.Len() == 0 {
			return
		}
		dataset.At(t.Context(), ds, ds.Len()-1)
	})
}

func FuzzNpy(f *testing.F) {
	g, _ := readGolden(f)
	for _, content := range g.Files {
		if len(content) < 400 {
			f.Add(content)
		}
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		fsys := fstest.MapFS{"x": {Data: data}}
		var items dataset.Dataset
		var err error
		hostile.Bounded(t, len(data), 0, func() { items, err = npy.Items(fsys, "x", "x") })
		if err == nil {
			if _, err := dataset.At(t.Context(), items, 0); err != nil {
				t.Errorf("a file that was accepted cannot be read: %v", err)
			}
		}
		var ds dataset.Dataset
		hostile.Bounded(t, len(data), 3<<20, func() { ds, err = npy.Open(fsys, "x", "x", npy.MaxBytes(1<<20)) })
		if err != nil || ds.Len() == 0 {
			return
		}
		var again bytes.Buffer
		if err := npy.Write(t.Context(), &again, ds, "x"); err != nil {
			t.Fatal(err)
		}
		same, err := npy.Open(fstest.MapFS{"x": {Data: again.Bytes()}}, "x", "x")
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(datatest.Bytes(t, same, "x"), datatest.Bytes(t, ds, "x")) {
			t.Error("differs after reading and writing")
		}
	})
}
