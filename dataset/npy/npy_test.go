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
	"math"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"gorgonia.org/tensor"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/dataset/npy"
	"github.com/penstock-go/penstock/internal/allocs"
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
	if got := append([]int{ds.Len()}, f.Shape...); f.Dtype.Name() != g.Kind || !slices.Equal(got, g.Shape) {
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
		ds, err = npy.Open(fsys, name, "x", npy.MemoryLimit(1))
		fortran := strings.Contains(name, "-F") && bytes.Contains(g.Files[name], []byte("'fortran_order': True"))
		if fortran && len(want.Shape) > 1 && want.Shape[0] > 0 {
			if err == nil || !strings.Contains(err.Error(), "MemoryLimit") {
				t.Errorf("%s: error %v, want one of the limit", name, err)
			}
			continue
		}
		if err != nil {
			t.Error(err)
			continue
		}
		want.check(t, name+", sample by sample", ds, "x")
		dataset.ReadAhead(t.Context(), ds, []int{0})
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

func TestNpyRefusesWhatHasNoPlainValues(t *testing.T) {
	g, fsys := readGolden(t)
	for name, word := range g.Refused {
		_, err := npy.Open(fsys, name, "x")
		if err == nil || !strings.Contains(err.Error(), word) || !strings.HasPrefix(err.Error(), "npy: read "+name+": ") {
			t.Errorf("%s: error %v, want one that says %q", name, err, word)
		}
	}
}

// npyFile is a file of format version 1.0.
func npyFile(descr, shape string, data []byte) []byte {
	return npyText(fmt.Sprintf("{'descr': '%s', 'fortran_order': False, 'shape': (%s), }", descr, shape), data)
}

func npyText(text string, data []byte) []byte {
	text += strings.Repeat(" ", max(0, 117-len(text))) + "\n"
	b := binary.LittleEndian.AppendUint16([]byte("\x93NUMPY\x01\x00"), uint16(len(text)))
	return append(append(b, text...), data...)
}

func TestNpyHeadersAreReadStrictly(t *testing.T) {
	for text, want := range map[string]string{
		"{'descr': '<i2', 'fortran_order': False, 'shape': (2,)}":                                    "<nil>",
		"{\"shape\":(2L,),\"fortran_order\":False,\"descr\":\"i2\",}":                                "<nil>",
		"{'descr': '<i2', 'fortran_order': False, 'shape': (2)}":                                     `byte 62: header: want a comma after the only number of a tuple, not ")}`,
		"{'descr': '<i2', 'fortran_order': False, 'shape': (-2,)}":                                   `byte 61: header: want an integer of 0 or more, not "-2,)}`,
		"{'descr': '<i2', 'fortran_order': False, 'shape': (02,)}":                                   `byte 61: header: want an integer of 0 or more, not "02,)}`,
		"{'descr': '<i2', 'fortran_order': False, 'shape': (99999999999999999999,)}":                 "is too large",
		"{'descr': '<i2', 'fortran_order': False, 'shape': (9223372036854775807,)}":                  datatest.OfInt("is larger than any file", "is too large"),
		"{'descr': '<i2', 'fortran_order': False, 'shape': (4294967296, 4294967296, 4294967296)}":    datatest.OfInt("is larger than any file", "is too large"),
		"{'descr': '<i2', 'fortran_order': False, 'shape': (0, 4294967296, 4294967296, 4294967296)}": datatest.OfInt("is larger than any file", "is too large"),
		"{'descr': '<i2', 'fortran_order': False, 'shape': (1000000000000,)}":                        datatest.OfInt("header promises 2000000000000 bytes of data from byte 128, the file has 4: unexpected EOF", "is too large"),
		"{'descr': '<i2', 'fortran_order': False, 'shape': (65536, 65536, 65536, 65536, 65536)}":     "is larger than any file",
		"{'descr': '<i2', 'fortran_order': False, 'shape': (1,)}":                                    "2 bytes after the data, which ends at byte 130",
		"{'descr': '<i2', 'fortran_order': False, 'shape': (2,), 'shape': (2,)}":                     `byte 66: header: key "shape" twice`,
		"{'descr': '<i2', 'fortran_order': False, 'shape': (2,), 'x': 1}":                            `byte 66: header: key "x", want descr`,
		"{'descr': '<i2', 'shape': (2,)}":                                                            `header: no key "fortran_order"`,
		"{'descr': '<i2', 'fortran_order': 0, 'shape': (2,)}":                                        `byte 44: header: want True or False, not "0, 'shape'`,
		"{'descr': '<i3', 'fortran_order': False, 'shape': (2,)}":                                    `byte 20: header: type "<i3": want bool`,
		"{'descr': '|i2', 'fortran_order': False, 'shape': (2,)}":                                    `type "|i2": want bool`,
		"{'descr': '\\x3ci2', 'fortran_order': False, 'shape': (2,)}":                                "with an escape",
		"{'descr': '<i2', 'fortran_order': False, 'shape': (2,)} + {}":                               "text after the dictionary",
		"__import__('os')": "byte 10: header: want '{', not",
		"":                 "want '{', not the header's end",
		"{'descr': '<i2', 'fortran_order': False, 'shape': (" + strings.Repeat("1,", 65) + ")}": "more than 64 dimensions",
	} {
		_, err := npy.Open(fstest.MapFS{"x.npy": {Data: npyText(text, make([]byte, 4))}}, "x.npy", "x")
		if got := fmt.Sprint(err); !strings.Contains(got, want) {
			t.Errorf("%s\ngot  %s\nwant %s", text, got, want)
		}
	}
}

func TestNpyRefusesOtherFiles(t *testing.T) {
	for content, want := range map[string]string{
		"":                                      "byte 0: unexpected EOF",
		"\x93NUMPX\x01\x00\x00\x00":             `byte 0: magic string "\x93NUMPX", want "\x93NUMPY"`,
		"\x93NUMPY\x04\x00\x00\x00":             "byte 6: version 4.0, want 1.0, 2.0 or 3.0",
		"\x93NUMPY\x01\x00\x76\x00{":            "byte 11: unexpected EOF",
		"\x93NUMPY\x02\x00\xff\xff\xff\xff":     "byte 8: header of 4294967295 bytes, want at most 65536",
		"\x93NUMPY\x03\x00\x01\x00\x00\x00\xff": "byte 12: header is not UTF-8",
		"\x1f\x8b\x08":                          "unexpected EOF",
	} {
		_, err := npy.Open(fstest.MapFS{"x.npy": {Data: []byte(content)}}, "x.npy", "x")
		if got := fmt.Sprint(err); !strings.Contains(got, want) || !strings.HasPrefix(got, "npy: read x.npy: ") {
			t.Errorf("%q\ngot  %s\nwant %s", content, got, want)
		}
	}
}

// TestFortranOrderIsReadInStripes has more stripes than fit into a chunk.
func TestFortranOrderIsReadInStripes(t *testing.T) {
	for _, dtype := range []string{"|u1", "<i2", "<i4", "<i8"} {
		size := int(dtype[2] - '0')
		shape := []int{70_001, 3, 5}
		n := shape[0] * shape[1] * shape[2]
		if size != 1 && size != 8 && testing.Short() {
			continue
		}
		data := make([]byte, n*size)
		at := 0
		for c := range shape[2] {
			for b := range shape[1] {
				for a := range shape[0] {
					data[at] = byte(7*a + 31*b + 101*c)
					at += size
				}
			}
		}
		text := fmt.Sprintf("{'descr': '%s', 'fortran_order': True, 'shape': (70001, 3, 5)}", dtype)
		ds, err := npy.Open(fstest.MapFS{"x.npy": {Data: npyText(text, data)}}, "x.npy", "x")
		if err != nil {
			t.Fatal(err)
		}
		all := datatest.Bytes(t, ds, "x")
		for i := 0; i < n; i++ {
			a, b, c := i/15, i/5%3, i%5
			if got, want := all[i*size], byte(7*a+31*b+101*c); got != want {
				t.Fatalf("%s: value %d is %d, want %d", dtype, i, got, want)
			}
		}
	}
}

// TestEveryHalfBecomesTheSameFloat32 tries all of them against the definition.
func TestEveryHalfBecomesTheSameFloat32(t *testing.T) {
	data := make([]byte, 2<<16)
	for h := range 1 << 16 {
		binary.LittleEndian.PutUint16(data[2*h:], uint16(h))
	}
	ds, err := npy.Open(fstest.MapFS{"x.npy": {Data: npyFile("<f2", "1, 65536", data)}}, "x.npy", "x")
	if err != nil {
		t.Fatal(err)
	}
	got := datatest.Sample(t, ds, 0)["x"].Data().([]float32)
	for h, v := range got {
		exponent, mantissa := h>>10&31, float64(h&1023)
		want := math.Ldexp(mantissa, -24)
		switch {
		case exponent == 31 && mantissa == 0:
			want = math.Inf(1)
		case exponent == 31:
			if v == v {
				t.Fatalf("%04x is %v, want NaN", h, v)
			}
			continue
		case exponent > 0:
			want = math.Ldexp(1024+mantissa, exponent-25)
		}
		if h>>15 == 1 {
			want = -want
		}
		if float64(v) != want || math.Signbit(float64(v)) != math.Signbit(want) {
			t.Fatalf("%04x is %v, want %v", h, v, want)
		}
	}
}

func TestBoolsAreZeroOrOneInMemory(t *testing.T) {
	ds, err := npy.Open(fstest.MapFS{"x.npy": {Data: npyFile("|b1", "4,", []byte{0, 1, 2, 255})}}, "x.npy", "x")
	if err != nil {
		t.Fatal(err)
	}
	if got, want := datatest.Bytes(t, ds, "x"), []byte{0, 1, 1, 1}; !bytes.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
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

// TestRecordsThatFollowEachOtherAreReadTogether compares batches with single samples.
func TestRecordsThatFollowEachOtherAreReadTogether(t *testing.T) {
	const n = 500
	data := make([]byte, n*3*2)
	for i := range data {
		data[i] = byte(i * 7)
	}
	fsys := &datatest.CountedFS{MapFS: fstest.MapFS{"x.npy": {Data: npyFile(">f2", "500, 3", data)}}}
	ds, err := npy.Open(fsys, "x.npy", "x", npy.MemoryLimit(100))
	if err != nil {
		t.Fatal(err)
	}
	want := datatest.Bytes(t, ds, "x")
	r, err := ds.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	indices := []int{3, 4, 5, 6, 100, 99, 98, 0, 1, 499, 7, 7, 8}
	batch := datatest.NewSlots(len(indices), ds.Spec())
	fsys.Reads = 0
	if err := r.(dataset.BatchReader).PlaceBatch(t.Context(), indices, batch); err != nil {
		t.Fatal(err)
	}
	for k, i := range indices {
		if got, want := batch[k].Cell(0).Bytes(), want[12*i:][:12]; !bytes.Equal(got, want) {
			t.Errorf("sample %d: % x, want % x", i, got, want)
		}
	}
	if got, want := fsys.Reads, 8; got != want {
		t.Errorf("%d reads, want %d", got, want)
	}
	if err := r.(dataset.BatchReader).PlaceBatch(t.Context(), []int{498, 499, 500}, batch[:3]); err == nil {
		t.Error("sample 500 of 500 was placed")
	}
}

func TestArraysPlaceWithoutAllocation(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(dir+"/x.npy", npyFile(">f4", "100, 50", make([]byte, 100*200)), 0o666); err != nil {
		t.Fatal(err)
	}
	for _, limit := range []int64{1, 1 << 20} {
		ds, err := npy.Open(os.DirFS(dir), "x.npy", "x", npy.MemoryLimit(limit))
		if err != nil {
			t.Fatal(err)
		}
		r, err := ds.Open()
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		slot := dataset.NewSlot(ds.Spec()...)
		i := 0
		got := allocs.PerRun(0, 100, func() {
			i++
			if err := r.Place(t.Context(), i%100, slot); err != nil {
				t.Fatal(err)
			}
		})
		if got != 0 {
			t.Errorf("limit %d: %v allocations per sample, want 0", limit, got)
		}
	}
}

func TestWriteNpyRefusesRaggedFields(t *testing.T) {
	ds := dataset.Func(1, dataset.Spec{{Name: "x", Dtype: tensor.Uint8, Ragged: true}}, func(context.Context, int, dataset.Slot) error { return nil })
	for got, want := range map[error]string{
		npy.Write(t.Context(), new(bytes.Buffer), ds, "x"): "npy: field x uint8 (n) is ragged: want a fixed size",
		npy.Write(t.Context(), new(bytes.Buffer), ds, "y"): `npy: no field "y": the dataset has x uint8 (n)`,
	} {
		if fmt.Sprint(got) != want {
			t.Errorf("got  %v\nwant %s", got, want)
		}
	}
}
