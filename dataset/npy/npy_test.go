package npy_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/dataset/npy"
	"github.com/penstock-go/penstock/internal/datatest"
)

// golden is what testdata/make.py wrote.
type golden struct {
	Files   map[string][]byte
	Read    map[string]json.RawMessage
	Refused map[string]string
}

type goldenArray struct {
	Kind   string
	Shape  []int
	SHA256 string
}

func readGolden(t testing.TB) (golden, fstest.MapFS) {
	t.Helper()
	f, err := os.Open("testdata/golden.json.gz")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	var g golden
	if err := json.NewDecoder(z).Decode(&g); err != nil {
		t.Fatal(err)
	}
	fsys := fstest.MapFS{}
	for name, content := range g.Files {
		fsys[name] = &fstest.MapFile{Data: content}
	}
	return g, fsys
}

func decodeGolden[T any](t testing.TB, raw json.RawMessage) T {
	t.Helper()
	var v T
	if err := json.Unmarshal(raw, &v); err != nil {
		t.Fatal(err)
	}
	return v
}

// check compares a field with what NumPy read.
func (g goldenArray) check(t *testing.T, name string, ds dataset.Dataset, field string) {
	t.Helper()
	f := ds.Spec()[ds.Spec().Index(field)]
	if got := append([]int{ds.Len()}, f.Shape...); f.Dtype.String() != g.Kind || !slices.Equal(got, g.Shape) {
		t.Errorf("%s: %v %v, want %s %v", name, f.Dtype, got, g.Kind, g.Shape)
		return
	}
	sum := sha256.Sum256(datatest.Bytes(t, ds, field))
	if got := hex.EncodeToString(sum[:]); got != g.SHA256 {
		t.Errorf("%s: values differ from NumPy's", name)
	}
}

func onlyLittleEndian(t *testing.T) {
	if binary.NativeEndian.Uint16([]byte{1, 0}) != 1 {
		t.Skip("the hashes are of little-endian values")
	}
}

// TestNpyHoldsWhatNumPyWrote reads every dtype, byte order, order of dimensions
// and version, from memory and sample by sample.
func TestNpyHoldsWhatNumPyWrote(t *testing.T) {
	onlyLittleEndian(t)
	g, fsys := readGolden(t)
	n := 0
	for name, raw := range g.Read {
		if !strings.HasSuffix(name, ".npy") {
			continue
		}
		n++
		want := decodeGolden[goldenArray](t, raw)
		ds, err := npy.Open(fsys, name, "x")
		if err != nil {
			t.Error(err)
			continue
		}
		want.check(t, name, ds, "x")
		// A byte of memory is not enough for arrays in Fortran order.
		ds, err = npy.Open(fsys, name, "x", npy.MaxBytes(1))
		fortran := strings.Contains(name, "-F") && bytes.Contains(g.Files[name], []byte("'fortran_order': True"))
		if fortran && len(want.Shape) > 1 && want.Shape[0] > 0 {
			if err == nil || !strings.Contains(err.Error(), "MaxBytes") {
				t.Errorf("%s: error %v, want one of the limit", name, err)
			}
			continue
		}
		if err != nil {
			t.Error(err)
			continue
		}
		want.check(t, name+", sample by sample", ds, "x")
	}
	if n < 150 {
		t.Errorf("%d files, want more", n)
	}
}

func TestNpyItemsHoldWhatNumPyWrote(t *testing.T) {
	onlyLittleEndian(t)
	g, fsys := readGolden(t)
	for name, raw := range g.Read {
		want := decodeGolden[goldenArray](t, raw)
		if !strings.HasSuffix(name, ".npy") || slices.Contains(want.Shape, 0) {
			continue
		}
		ds, err := npy.Items(fsys, name, "x")
		if err != nil {
			t.Error(err)
			continue
		}
		f := ds.Spec()[0]
		sum := sha256.Sum256(datatest.Bytes(t, ds, "x"))
		if hex.EncodeToString(sum[:]) != want.SHA256 || !slices.Equal([]int(f.Shape), want.Shape) {
			t.Errorf("%s: %v differs from NumPy's", name, f)
		}
	}
}

// TestNpyItemsMayDifferInOrder has files of one dtype and shape whose headers differ.
func TestNpyItemsMayDifferInOrder(t *testing.T) {
	onlyLittleEndian(t)
	g, fsys := readGolden(t)
	for _, dtype := range []string{"f2", "i4", "c16"} {
		ds, err := npy.Items(fsys, "*"+dtype+"-*.npy", "x")
		if err != nil {
			t.Fatal(err)
		}
		if ds.Len() != 12 {
			t.Fatalf("%d files of %s, want 12", ds.Len(), dtype)
		}
		all := datatest.Bytes(t, ds, "x")
		size := len(all) / ds.Len()
		for i := range ds.Len() {
			sum := sha256.Sum256(all[i*size:][:size])
			if want := decodeGolden[goldenArray](t, g.Read[dataset.Name(ds, i)]).SHA256; hex.EncodeToString(sum[:]) != want {
				t.Errorf("%s differs from NumPy's", dataset.Name(ds, i))
			}
		}
	}
}

func TestNpyItemsOfAnotherShapeAreRefused(t *testing.T) {
	fsys := fstest.MapFS{
		"a.npy": {Data: npyFile("<i4", "2, 3", make([]byte, 24))},
		"b.npy": {Data: npyFile("<i4", "3, 2", make([]byte, 24))},
		"c.npy": {Data: npyFile("<f4", "2, 3", make([]byte, 24))},
		"d.npy": {Data: npyFile("<i4", "2, 3", make([]byte, 23))},
		"e.npy": {Data: npyFile("<i4", "2, 3", make([]byte, 25))},
		"f.npy": {Data: []byte("\x93NUMPY")},
		"g.npy": {Data: npyFile(">i4", "2, 3", make([]byte, 23))},
	}
	ds, err := npy.Items(fsys, "*.npy", "x")
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{
		"<nil>",
		"dataset: sample 1 (b.npy): npy: array of int32 [3 2], want int32 [2 3] as in a.npy",
		"dataset: sample 2 (c.npy): npy: array of float32 [2 3], want int32 [2 3] as in a.npy",
		"dataset: sample 3 (d.npy): npy: file of 151 bytes, want 152",
		"dataset: sample 4 (e.npy): npy: file of 153 bytes, want 152",
		"dataset: sample 5 (f.npy): npy: byte 6: unexpected EOF",
		"dataset: sample 6 (g.npy): npy: file of 151 bytes, want 152",
	} {
		_, err := dataset.At(t.Context(), ds, i)
		if got := fmt.Sprint(err); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
}

func TestWriteNpyWritesWhatNpyReads(t *testing.T) {
	for _, values := range []any{
		[]bool{true, false, true}, [][2]int8{{1, -2}}, []int16{-3}, []int32{4}, []int64{-5, 6}, []int{7},
		[]uint8{8}, []uint16{9}, []uint32{10}, []uint64{11}, []float32{1.5}, []float64{-2.5},
		[]complex64{1 + 2i}, []complex128{3 - 4i}, [][2][3]float32{{{1, 2, 3}, {4, 5, 6}}},
	} {
		want := datatest.Tensors(t, dataset.Named("x", values))
		var file bytes.Buffer
		if err := npy.Write(t.Context(), &file, want, "x"); err != nil {
			t.Fatal(err)
		}
		got, err := npy.Open(fstest.MapFS{"x.npy": {Data: file.Bytes()}}, "x.npy", "x")
		if err != nil {
			t.Fatal(err)
		}
		datatest.Same(t, got, want)
		if data := file.Len() - len(datatest.Bytes(t, want, "x")); data%64 != 0 {
			t.Errorf("%T: data begins at byte %d, no multiple of 64", values, data)
		}
	}
}

func TestWriteNpyRefusesRaggedFields(t *testing.T) {
	ds := dataset.Func(1, dataset.Spec{{Name: "x", Dtype: dataset.Uint8, Ragged: true}}, func(context.Context, int, dataset.Slot) error { return nil })
	for got, want := range map[error]string{
		npy.Write(t.Context(), new(bytes.Buffer), ds, "x"): "npy: field x uint8 (n) is ragged: want a fixed size",
		npy.Write(t.Context(), new(bytes.Buffer), ds, "y"): `npy: no field "y": the dataset has x uint8 (n)`,
	} {
		if fmt.Sprint(got) != want {
			t.Errorf("got  %v\nwant %s", got, want)
		}
	}
}
