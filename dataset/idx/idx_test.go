package idx_test

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/dataset/idx"
	"github.com/penstock-go/penstock/internal/datatest"
	"github.com/penstock-go/penstock/internal/hostile"
	"github.com/penstock-go/penstock/internal/testenv"
)

func TestIDXReadsEveryType(t *testing.T) {
	for _, c := range []struct {
		code   byte
		values any
	}{
		{0x08, [][3]uint8{{1, 2, 3}, {4, 5, 255}}},
		{0x09, [][3]int8{{1, -2, 3}, {4, 5, -128}}},
		{0x0b, [][3]int16{{1, -2, 3}, {4, 0x1234, -32768}}},
		{0x0c, [][3]int32{{1, -2, 3}, {4, 0x12345678, math.MinInt32}}},
		{0x0d, [][3]float32{{1, -2.5, 3}, {4, 5e10, -1e-40}}},
		{0x0e, [][3]float64{{1, -2.5, 3}, {4, 5e100, -1e-310}}},
	} {
		want := datatest.Tensors(t, dataset.Named("x", c.values))
		plain := datatest.IDX(c.code, []int{2, 3}, c.values)
		for name, data := range map[string][]byte{"plain": plain, "gzip": datatest.Gzip(plain)} {
			for _, limit := range []int64{1, 1 << 20} {
				got, err := idx.Open(fstest.MapFS{"x": {Data: data}}, "x", "x", idx.MaxBytes(limit))
				if limit == 1 && name == "gzip" {
					if err == nil || !strings.Contains(err.Error(), "because they are compressed, MaxBytes leaves 1") {
						t.Errorf("error %v, want one of the limit", err)
					}
					continue
				}
				if err != nil {
					t.Fatal(err)
				}
				datatest.Same(t, got, want)
			}
		}
		var written bytes.Buffer
		if err := idx.Write(t.Context(), &written, want, "x"); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(written.Bytes(), plain) {
			t.Errorf("type %#x: wrote % x, want % x", c.code, written.Bytes(), plain)
		}
	}
}

func TestIDXReadsEveryRank(t *testing.T) {
	for shape, want := range map[string]string{
		"4":                             "x uint8 ()",
		"2 2":                           "x uint8 (2)",
		"1 2 1 2":                       "x uint8 (2, 1, 2)",
		"4" + strings.Repeat(" 1", 254): "x uint8 (" + strings.Repeat("1, ", 253) + "1)",
		"0 5 5":                         "x uint8 (5, 5)",
	} {
		var dims []int
		n := 1
		for _, text := range strings.Fields(shape) {
			d := int(text[0] - '0')
			dims = append(dims, d)
			n *= d
		}
		ds, err := idx.Open(fstest.MapFS{"x": {Data: datatest.IDX(8, dims, make([]byte, n))}}, "x", "x")
		if err != nil {
			t.Fatal(err)
		}
		if got := ds.Spec().String(); got != want || ds.Len() != dims[0] {
			t.Errorf("%d samples of %s, want %d of %s", ds.Len(), got, dims[0], want)
		}
	}
}

func TestIDXSaysWhatIsWrong(t *testing.T) {
	good := datatest.IDX(0x0c, []int{2, 2}, []int32{1, 2, 3, 4})
	broken := datatest.Gzip(good)
	broken[len(broken)-8] ^= 1 // the checksum
	for _, c := range []struct {
		data []byte
		want string
	}{
		{nil, "byte 0: unexpected EOF"},
		{good[:7], "byte 7: unexpected EOF"},
		{[]byte{0, 1, 8, 1}, "byte 0: magic number 00 01 08 01, want 00 00, the type and the rank"},
		{[]byte{0, 0, 10, 1}, "byte 2: type 0x0a, want 0x08, 0x09 or 0x0b to 0x0e"},
		{[]byte{0, 0, 8, 0}, "byte 3: rank 0, want a first dimension with the number of samples"},
		{datatest.IDX(8, []int{1, -2}, []byte{}), "byte 8: dimension 1 is -2, below 0"},
		{datatest.IDX(8, []int{1, 0}, []byte{}), "dataset: spec: field \"x\": shape (0) has a dimension below 1"},
		{datatest.IDX(8, []int{1, 1 << 30, 1 << 30}, []byte{}), "dataset: spec: field \"x\": shape (1073741824, 1073741824) is larger than " + datatest.OfInt("1 TiB", "2 GiB")},
		{datatest.IDX(14, []int{math.MaxInt32, 1 << 30}, []byte{}), datatest.OfInt("shape [2147483647 1073741824] is larger than any file", "shape (1073741824) is larger than 2 GiB")},
		{datatest.IDX(8, []int{math.MaxInt32, 1 << 30}, []byte{}), "header promises 2305843008139952128 bytes of data from byte 12, the file has 0: unexpected EOF"},
		{good[:27], "header promises 16 bytes of data from byte 12, the file has 15: unexpected EOF"},
		{append(slices.Clone(good), 0), "1 bytes after the data, which ends at byte 28"},
		{datatest.Gzip(good[:27]), "byte 27 of the decompressed data: unexpected EOF"},
		{datatest.Gzip(append(slices.Clone(good), 0)), "more data after byte 28, where the header says that it ends"},
		{datatest.Gzip(good)[:30], "byte 28 of the decompressed data: unexpected EOF"},
		{broken, "byte 28 of the decompressed data: gzip: invalid checksum"},
		{datatest.Gzip(datatest.IDX(8, []int{1 << 30}, []byte{})), "header promises 1073741824 bytes of data, more than 32 compressed bytes can hold"},
	} {
		_, err := idx.Open(fstest.MapFS{"x": {Data: c.data}}, "x", "x")
		if got := fmt.Sprint(err); !strings.HasPrefix(got, "idx: read x: ") || !strings.Contains(got, c.want) {
			t.Errorf("% x\ngot  %s\nwant %s", c.data[:min(len(c.data), 30)], got, c.want)
		}
	}
	_, err := idx.Open(fstest.MapFS{"x": {Data: good}}, "x", "x", idx.MaxBytes(0))
	if got, want := fmt.Sprint(err), "idx: MaxBytes(0): want 1 or more"; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// TestAFileThatShrinksIsAnError cuts a file short after it was opened.
func TestAFileThatShrinksIsAnError(t *testing.T) {
	file := &fstest.MapFile{Data: datatest.IDX(0x0c, []int{2, 2}, []int32{1, 2, 3, 4})}
	ds, err := idx.Open(fstest.MapFS{"x": file}, "x", "x", idx.MaxBytes(1))
	if err != nil {
		t.Fatal(err)
	}
	file.Data = file.Data[:25]
	_, err = dataset.At(t.Context(), ds, 1)
	if got, want := fmt.Sprint(err), "dataset: sample 1 (x, index 1): idx: file ended at byte 25, want 28: unexpected EOF"; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestWriteRefusesOtherDtypes(t *testing.T) {
	err := idx.Write(t.Context(), new(bytes.Buffer), datatest.Tensors(t, dataset.Named("x", []int64{1})), "x")
	if got, want := fmt.Sprint(err), "idx: field x int64 (): values of dtype int64: want uint8, int8, int16, int32, float32 or float64"; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func FuzzIDX(f *testing.F) {
	f.Add(datatest.IDX(8, []int{2, 2}, []byte{1, 2, 3, 4}))
	f.Add(datatest.IDX(0x0c, []int{2}, []int32{1, 2}))
	f.Add(datatest.Gzip(datatest.IDX(0x0d, []int{1, 2}, []float32{1, 2})))
	f.Fuzz(func(t *testing.T, data []byte) {
		var ds dataset.Dataset
		var err error
		hostile.Bounded(t, len(data), 3<<20, func() { // MaxBytes, with the smaller memory that grew to it
			ds, err = idx.Open(fstest.MapFS{"x": {Data: data}}, "x", "x", idx.MaxBytes(1<<20))
		})
		if err != nil || ds.Len() == 0 {
			return
		}
		var again bytes.Buffer
		if err := idx.Write(t.Context(), &again, ds, "x"); err != nil {
			t.Fatal(err)
		}
		if data[0] == 0 && !bytes.Equal(again.Bytes(), data) {
			t.Error("differs after reading and writing")
		}
	})
}

// A megabyte that does not compress could hold 900 MB if it did.
func TestPromisesOfCompressedFilesTakeNoMemory(t *testing.T) {
	testenv.OneGoroutine(t)
	noise := make([]byte, 1<<20)
	if _, err := io.ReadFull(rand.NewChaCha8([32]byte{5}), noise); err != nil {
		t.Fatal(err)
	}
	fsys := fstest.MapFS{"x": {Data: datatest.Gzip(append(datatest.IDX(8, []int{900_000_000}, []byte{}), noise...))}}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, err := idx.Open(fsys, "x", "x")
	runtime.ReadMemStats(&after)
	if got, want := fmt.Sprint(err), "of the decompressed data: unexpected EOF"; !strings.HasSuffix(got, want) {
		t.Errorf("got %s, want … %s", got, want)
	}
	if got := after.TotalAlloc - before.TotalAlloc; got > 40<<20 {
		t.Errorf("%d bytes allocated for a file of 1 MiB", got)
	}
}

func TestPipesAreNotOpened(t *testing.T) {
	_, err := idx.Open(datatest.PipeFS{T: t}, "a", "x")
	if got, want := fmt.Sprint(err), "idx: read a: not a file"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
