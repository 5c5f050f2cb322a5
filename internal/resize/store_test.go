package resize

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/internal/cpu"
	"github.com/penstock-go/penstock/internal/cpu/cputest"
	"github.com/penstock-go/penstock/internal/guard"
)

var (
	imageNetMean = [3]float32{0.485, 0.456, 0.406}
	imageNetStd  = [3]float32{0.229, 0.224, 0.225}
)

// torchs is x of a channel, computed one operation after the other.
func torchs(x byte, mean, std float32) float32 {
	v := float32(x) / 255
	v -= mean
	v /= std
	return v
}

// storing checks Store and StorePlane of random norms with random rows.
func storing[T float32 | uint16](t *testing.T, norm func(mean, std [3]float32) *Norm[T], want func(float32) T) {
	t.Helper()
	r := rand.New(rand.NewPCG(3, 4))
	for range 300 {
		var mean, std [3]float32
		for c := range 3 {
			mean[c], std[c] = r.Float32(), r.Float32()*3+1e-3
		}
		n := norm(mean, std)
		wide := 1 + r.IntN(200)
		row := noise(r, 4*wide, 0)
		planes := [3][]T{make([]T, wide), make([]T, wide), make([]T, wide)}
		n.Store(planes[0], planes[1], planes[2], row)
		for c, plane := range planes {
			one, got := make([]byte, wide), make([]T, wide)
			for x := range one {
				one[x] = row[4*x+c]
			}
			n.StorePlane(got, one, c)
			for x, v := range one {
				want := want(torchs(v, mean[c], std[c]))
				if plane[x] != want || got[x] != want {
					t.Fatalf("(%d/255 - %v)/%v: got %v in a row and %v in a plane, want %v", v, mean[c], std[c], plane[x], got[x], want)
				}
			}
		}
	}
}

func TestStoreIsTorchsArithmetic(t *testing.T) {
	storing(t, NewNorm, func(x float32) float32 { return x })
}

func TestHalvesAreFloat32RoundedToNearestEven(t *testing.T) {
	for _, dt := range []dataset.Dtype{dataset.Float16, dataset.BFloat16} {
		storing(t, func(mean, std [3]float32) *Norm[uint16] { return NewHalfNorm(mean, std, dt) }, Round(dt))
	}
}

// TestZerosKeepTheirSigns: a deviation below 0, which inverts an image, makes -0 of what is equal to the mean.
func TestZerosKeepTheirSigns(t *testing.T) {
	var row [4 * 256]byte
	var one [256]byte
	for x := range one {
		row[4*x], row[4*x+1], row[4*x+2], one[x] = byte(x), byte(x), byte(x), byte(x)
	}
	mean, std := [3]float32{0, 1, 51. / 255}, [3]float32{-1, -1, -0.3}
	cputest.Each(func() {
		n := NewNorm(mean, std)
		var planes, single [3][256]float32
		n.Store(planes[0][:], planes[1][:], planes[2][:], row[:])
		for c := range single {
			n.StorePlane(single[c][:], one[:], c)
			for x := range one {
				want := math.Float32bits(torchs(byte(x), mean[c], std[c]))
				if a, b := math.Float32bits(planes[c][x]), math.Float32bits(single[c][x]); a != want || b != want {
					t.Errorf("(%d/255 - %v)/%v: got %#x in a row and %#x in a plane, want %#x", x, mean[c], std[c], a, b, want)
				}
			}
		}
	})
}

// A deviation near 0 makes values that float16 cannot hold, and a large one makes
// values below its least normal number.
func TestHalvesBeyondTheirRange(t *testing.T) {
	for _, dt := range []dataset.Dtype{dataset.Float16, dataset.BFloat16} {
		for _, std := range []float32{1e-6, 1e-38, 1e-41, 1e4, 1e6, 1e8, 1e30} {
			n := NewHalfNorm(imageNetMean, [3]float32{std, std, std}, dt)
			var row [4 * 256]byte
			for x := range 256 {
				row[4*x], row[4*x+1], row[4*x+2] = byte(x), byte(x), byte(x)
			}
			var planes [3][256]uint16
			n.Store(planes[0][:], planes[1][:], planes[2][:], row[:])
			for c := range 3 {
				for x, got := range planes[c] {
					if want := Round(dt)(torchs(byte(x), imageNetMean[c], std)); got != want {
						t.Fatalf("%v: (%d/255 - %v)/%v: got %#04x, want %#04x", dt, x, imageNetMean[c], std, got, want)
					}
				}
			}
		}
	}
}

func TestStoreOfCommonNormsUsesTheKernel(t *testing.T) {
	if !cpu.Kernels() {
		t.Skip("the kernels need AVX2 and FMA or NEON, and PENSTOCK_KERNELS not to be portable")
	}
	for _, p := range []params{
		{mean: imageNetMean, std: imageNetStd},
		{std: [3]float32{1, 1, 1}},
		{mean: [3]float32{0.5, 0.5, 0.5}, std: [3]float32{0.5, 0.5, 0.5}},
		{mean: [3]float32{0.48145466, 0.4578275, 0.40821073}, std: [3]float32{0.26862954, 0.26130258, 0.27577711}},
		{mean: [3]float32{0.4914, 0.4822, 0.4465}, std: [3]float32{0.2470, 0.2435, 0.2616}},
		{mean: [3]float32{104. / 255, 117. / 255, 123. / 255}, std: [3]float32{1. / 255, 1. / 255, 1. / 255}},
	} {
		if NewNorm(p.mean, p.std).store == nil {
			t.Errorf("float32, mean %v, deviation %v: the kernel differs from the table", p.mean, p.std)
		}
		for _, dt := range []dataset.Dtype{dataset.Float16, dataset.BFloat16} {
			if NewHalfNorm(p.mean, p.std, dt).store == nil {
				t.Errorf("%v, mean %v, deviation %v: the kernel differs from the table, or the processor has none", dt, p.mean, p.std)
			}
		}
	}
}

// BenchmarkStore stores 224×224 pixels into three planes.
func BenchmarkStore(b *testing.B) {
	benchmarkStore(b, "float32", NewNorm(imageNetMean, imageNetStd))
	for _, dt := range []dataset.Dtype{dataset.Float16, dataset.BFloat16} {
		benchmarkStore(b, fmt.Sprint(dt.String()), NewHalfNorm(imageNetMean, imageNetStd, dt))
	}
}

func benchmarkStore[T float32 | uint16](b *testing.B, name string, norm *Norm[T]) {
	const w, h = 224, 224
	row := noise(rand.New(rand.NewPCG(1, 1)), 4*w, 0)
	out := make([]T, 3*w*h)
	b.Run(name, func(b *testing.B) {
		for b.Loop() {
			for y := range h {
				plane := out[w*y:]
				norm.Store(plane[:w], plane[w*h:][:w], plane[2*w*h:][:w], row)
			}
		}
	})
}

// rowsAtPages compares Store and StorePlane with the table for every length, where
// rows and planes begin or end at pages that must not be touched.
func rowsAtPages[T float32 | uint16](t *testing.T, n *Norm[T]) {
	t.Helper()
	r := rand.New(rand.NewPCG(5, 6))
	const widest = 330
	source := guard.New[byte](t, 4*widest)
	var regions [3]guard.Fence[T]
	for c := range regions {
		regions[c] = guard.New[T](t, widest)
	}
	for wide := range widest {
		var planes [3][]T
		for c := range planes {
			planes[c] = edge(r, regions[c], wide)
		}
		row := edge(r, source, 4*wide)
		fillNoise(r, row)
		n.Store(planes[0], planes[1], planes[2], row)
		for c, plane := range planes {
			for x, got := range plane {
				if want := n.table[c][row[4*x+c]]; got != want {
					t.Fatalf("channel %d, pixel %d of %d: got %v, want %v", c, x, wide, got, want)
				}
			}
		}
		samples := edge(r, source, wide)
		fillNoise(r, samples)
		for c, plane := range planes {
			n.StorePlane(plane, samples, c)
			for x, got := range plane {
				if want := n.table[c][samples[x]]; got != want {
					t.Fatalf("channel %d, sample %d of %d: got %v, want %v", c, x, wide, got, want)
				}
			}
		}
	}
}

// storesAtPages is rowsAtPages for all that stores.
func storesAtPages(t *testing.T) {
	full := NewNorm(imageNetMean, imageNetStd)
	rowsAtPages(t, full)
	arithmetic := *full
	arithmetic.lookup = nil
	rowsAtPages(t, &arithmetic)
	rowsAtPages(t, NewTable(full.table))
	for _, dt := range []dataset.Dtype{dataset.Float16, dataset.BFloat16} {
		halves := NewHalfNorm(imageNetMean, imageNetStd, dt)
		rowsAtPages(t, halves)
		arithmetic := *halves
		arithmetic.lookup = nil
		rowsAtPages(t, &arithmetic)
	}
}

// bytesAtPages compares Interleave and Separate with the portable code for every length, where rows begin or end at pages
// that must not be touched.
func bytesAtPages(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	const widest = 200
	source, destination := guard.New[byte](t, 4*widest), guard.New[byte](t, 3*widest)
	for wide := range widest {
		row := edge(r, source, 4*wide)
		fillNoise(r, row)
		for _, from := range [][3]int{{0, 1, 2}, {2, 1, 0}} {
			got, want := edge(r, destination, 3*wide), make([]byte, 3*wide)
			Interleave(got, row, from)
			interleave(want, row, from)
			if !bytes.Equal(got, want) {
				t.Fatalf("%d pixels of the colours %v: got %v, want %v", wide, from, got, want)
			}
		}
		for colour := range 4 {
			got, want := edge(r, destination, wide), make([]byte, wide)
			Separate(got, row, colour)
			separate(want, row, colour)
			if !bytes.Equal(got, want) {
				t.Fatalf("colour %d of %d pixels: got %v, want %v", colour, wide, got, want)
			}
		}
	}
}
