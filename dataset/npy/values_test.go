package npy_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"os"
	"testing"
	"testing/fstest"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/dataset/npy"
	"github.com/penstock-go/penstock/internal/allocs"
	"github.com/penstock-go/penstock/internal/datatest"
)

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
	got := dataset.ValuesOf[float32](datatest.Sample(t, ds, 0)["x"])
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

func TestArraysPlaceWithoutAllocation(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(dir+"/x.npy", npyFile(">f4", "100, 50", make([]byte, 100*200)), 0o666); err != nil {
		t.Fatal(err)
	}
	for _, limit := range []int64{1, 1 << 20} {
		ds, err := npy.Open(os.DirFS(dir), "x.npy", "x", npy.MaxBytes(limit))
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
