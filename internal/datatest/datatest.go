// Package datatest holds what the tests of several packages of datasets and loaders share.
package datatest

import (
	"archive/zip"
	"bytes"
	"compress/gzip"
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io/fs"
	"math"
	"os"
	"testing"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/internal/allocs"
	"github.com/penstock-go/penstock/internal/slots"
)

// Tensors is dataset.Tensors, which must succeed.
func Tensors(t testing.TB, fields ...dataset.NamedValues) dataset.Dataset {
	t.Helper()
	ds, err := dataset.Tensors(fields...)
	if err != nil {
		t.Fatal(err)
	}
	return ds
}

// Pairs has five samples of two fields, "pair" and "label", of 6 bytes each.
func Pairs(t testing.TB) dataset.Dataset {
	t.Helper()
	return Tensors(t,
		dataset.Named("pair", [][2]uint16{{1, 2}, {3, 4}, {5, 6}, {7, 8}, {9, 10}}),
		dataset.Named("label", []int16{-1, -2, -3, -4, -5}))
}

// An Unknown has the samples of its Dataset, and says how many they are only when it is asked
// for more.
type Unknown struct{ dataset.Dataset }

// Len is [dataset.Unknown].
func (u Unknown) Len() int { return dataset.Unknown }

// Await never waits: see [dataset.Awaiter].
func (u Unknown) Await(_ context.Context, n int, _ <-chan struct{}) (have int, ended bool, err error) {
	return u.Dataset.Len(), n > u.Dataset.Len(), nil
}

// Sample reads sample i, which must succeed.
func Sample(t testing.TB, ds dataset.Dataset, i int) dataset.Sample {
	t.Helper()
	s, err := dataset.At(t.Context(), ds, i)
	if err != nil {
		t.Fatalf("sample %d: %v", i, err)
	}
	return s
}

// Same reports an error for every field of a sample that differs.
func Same(t testing.TB, got, want dataset.Dataset) {
	t.Helper()
	if got.Len() != want.Len() {
		t.Fatalf("%d samples, want %d", got.Len(), want.Len())
	}
	for i := range want.Len() {
		g, w := Sample(t, got, i), Sample(t, want, i)
		for _, f := range want.Spec() {
			if g, w := fmt.Sprint(g[f.Name].Data()), fmt.Sprint(w[f.Name].Data()); g != w {
				t.Errorf("sample %d, field %s: %s, want %s", i, f.Name, g, w)
			}
		}
	}
}

// Open opens a Reader, which is closed with the test.
func Open(t testing.TB, ds dataset.Dataset) dataset.Reader {
	t.Helper()
	r, err := ds.Open()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() })
	return r
}

// Reset gives the slot the random numbers of another draw.
func Reset(s dataset.Slot, seed uint64, epoch, draw int) {
	slots.Slot(s).Draw().Reset(seed, epoch, int64(draw))
}

// OfInt is one of two values: the first where an int has 64 bits, the second where
// it has 32.
func OfInt[T any](bits64, bits32 T) T {
	if math.MaxInt == math.MaxInt32 {
		return bits32
	}
	return bits64
}

// Slots are the slots of a batch.
type Slots []dataset.Slot

// NewSlots makes n slots.
func NewSlots(n int, spec dataset.Spec) Slots {
	s := make(Slots, n)
	for k := range s {
		s[k] = dataset.NewSlot(spec...)
	}
	return s
}

// Len is the number of slots.
func (s Slots) Len() int { return len(s) }

// At is slot k.
func (s Slots) At(k int) dataset.Slot { return s[k] }

// Bytes is a field of all samples, one after the other. Bytes that Place does not
// write are 0xa5.
func Bytes(t testing.TB, ds dataset.Dataset, field string) []byte {
	t.Helper()
	var all bytes.Buffer
	r := Open(t, ds)
	slot := dataset.NewSlot(ds.Spec()...)
	k := ds.Spec().Index(field)
	for i := range ds.Len() {
		row := slot.Cell(k).Bytes()
		for b := range row {
			row[b] = 0xa5
		}
		if err := r.Place(t.Context(), i, slot); err != nil {
			t.Fatal(err)
		}
		all.Write(slot.Cell(k).Bytes())
	}
	return all.Bytes()
}

// PlacesWithoutAllocation reports an error if placing all samples allocates memory
// after the first time.
func PlacesWithoutAllocation(t *testing.T, ds dataset.Dataset) {
	t.Helper()
	r, slot := Open(t, ds), dataset.NewSlot(ds.Spec()...)
	ctx := t.Context()
	all := func() {
		for i := range ds.Len() {
			if err := r.Place(ctx, i, slot); err != nil {
				t.Fatal(err)
			}
		}
	}
	all()
	if n := allocs.PerRun(0, 20, all); n > 0 {
		t.Errorf("%v allocations for %d samples", n, ds.Len())
	}
}

// PlacesTogether reports an error unless the Reader places all samples by one call as it does one by one, in another order and twice.
func PlacesTogether(t *testing.T, ds dataset.Dataset) {
	t.Helper()
	r, one := Open(t, ds), dataset.NewSlot(ds.Spec()...)
	batch, ok := r.(dataset.BatchReader)
	if !ok {
		t.Fatalf("%T is no BatchReader", r)
	}
	n := ds.Len()
	for _, step := range []int{n - 1, n + 1} { // backwards and forwards
		indices, rows := make([]int, 2*n), NewSlots(2*n, ds.Spec())
		for k := range indices {
			indices[k] = (k + 1) * step % n
			Reset(rows[k], 1, step, k)
		}
		if err := batch.PlaceBatch(t.Context(), indices, rows); err != nil {
			t.Fatal(err)
		}
		for k, i := range indices {
			Reset(one, 1, step, k)
			if err := r.Place(t.Context(), i, one); err != nil {
				t.Fatalf("sample %d: %v", i, err)
			}
			for f, field := range ds.Spec() {
				if !bytes.Equal(rows[k].Cell(f).Bytes(), one.Cell(f).Bytes()) {
					t.Errorf("sample %d, field %s: placed with others it is not what it is alone", i, field.Name)
				}
			}
		}
	}
}

// RefusesOtherIndices reports an error if an index out of range is accepted.
func RefusesOtherIndices(t *testing.T, ds dataset.Dataset) {
	t.Helper()
	r, slot := Open(t, ds), dataset.NewSlot(ds.Spec()...)
	for _, i := range []int{-1, ds.Len(), math.MinInt, math.MaxInt} {
		if err := r.Place(t.Context(), i, slot); err == nil {
			t.Errorf("sample %d of %d gives no error", i, ds.Len())
		}
		if got := dataset.Name(ds, i); got != "" {
			t.Errorf("sample %d of %d is named %q", i, ds.Len(), got)
		}
		if stop := dataset.Foresee(ds, Future{{i, 0}}); stop != nil {
			stop()
		}
	}
	if err := r.Place(t.Context(), ds.Len()-1, slot); err != nil {
		t.Errorf("last sample: %v", err)
	}
}

// A Future is batches of samples, none of which are begun.
type Future [][]int

func (f Future) Len() int                      { return len(f) }
func (f Future) At(batch int, dst []int) []int { return append(dst, f[batch]...) }
func (f Future) Begun() int                    { return 0 }
func (f Future) Done() int                     { return 0 }

// Golden decodes testdata/golden.json of the package under test into v.
func Golden(t testing.TB, v any) {
	t.Helper()
	JSON(t, "testdata/golden.json", v)
}

// JSON decodes a file into v.
func JSON(t testing.TB, path string, v any) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, v); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
}

// Archive is what a zip file holds, by name.
func Archive(t testing.TB, path string) map[string][]byte {
	t.Helper()
	z, err := zip.OpenReader(path)
	if err != nil {
		t.Fatal(err)
	}
	defer z.Close()
	all := map[string][]byte{}
	for _, f := range z.File {
		if all[f.Name], err = fs.ReadFile(z, f.Name); err != nil {
			t.Fatalf("%s: %v", path, err)
		}
	}
	return all
}

// Gzip is data compressed by gzip.
func Gzip(data []byte) []byte {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	z.Write(data)
	z.Close()
	return b.Bytes()
}

// IDX is a file in the format of MNIST: its type code, shape and values.
func IDX(code byte, shape []int, values any) []byte {
	b := []byte{0, 0, code, byte(len(shape))}
	for _, d := range shape {
		b = binary.BigEndian.AppendUint32(b, uint32(d))
	}
	b, err := binary.Append(b, binary.BigEndian, values)
	if err != nil {
		panic(err)
	}
	return b
}
