package sound_test

import (
	"math"
	"math/cmplx"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/penstock-go/penstock/internal/allocs"
	"github.com/penstock-go/penstock/internal/cpu/cputest"
	"github.com/penstock-go/penstock/internal/sound"
)

var lengths = []int{2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 15, 16, 20, 22, 25, 30, 49, 60, 64, 81, 100, 128, 200, 240, 254, 256, 400, 405, 441, 512, 1000, 1024, 2048}

// frames are random numbers, of another magnitude in every lane.
func frames(n int) []sound.Vec {
	r := rand.New(rand.NewPCG(uint64(n), 1))
	all := make([]sound.Vec, n)
	for i := range all {
		for l := range sound.Lanes {
			all[i][l] = r.NormFloat64() * math.Pow(1000, float64(l))
		}
	}
	return all
}

func power(t testing.TB, n int, in []sound.Vec) []sound.Vec {
	t.Helper()
	p, err := sound.New(n)
	if err != nil {
		t.Fatal(err)
	}
	out, scaled := make([]sound.Vec, p.Bins()), make([]sound.Vec, n)
	for i, v := range in {
		for l, x := range v {
			scaled[i][l] = x * p.Scale()
		}
	}
	p.Power(out, scaled, make([]sound.Complex, p.Work()))
	return out
}

// TestPowerIsThatOfTheDefinition: the spectrum is rounded to float32, so the power is within twice its precision.
func TestPowerIsThatOfTheDefinition(t *testing.T) {
	for _, n := range lengths {
		in := frames(n)
		got := power(t, n, in)
		if len(got) != n/2+1 {
			t.Fatalf("n=%d: %d values", n, len(got))
		}
		for k := range got {
			for l := range sound.Lanes {
				var sum complex128
				for i := range in {
					sum += complex(in[i][l], 0) * cmplx.Exp(complex(0, -2*math.Pi*float64(i*k%n)/float64(n)))
				}
				re, im := real(sum), imag(sum)
				want := re*re + im*im
				if d := math.Abs(got[k][l] - want); d > 2.5e-7*want && d > 1e-24*math.Pow(1e6, float64(l))*float64(n) {
					t.Errorf("n=%d, k=%d, lane %d: %v, want %v", n, k, l, got[k][l], want)
				}
			}
		}
	}
}

// TestLanesAreApart: what is in the other lanes does not change a lane.
func TestLanesAreApart(t *testing.T) {
	for _, n := range lengths {
		in := frames(n)
		want := power(t, n, in)
		for l := range sound.Lanes {
			for i := range in {
				for other := range sound.Lanes {
					if other != l {
						in[i][other] = math.NaN()
					}
				}
			}
			for k, got := range power(t, n, in) {
				if got[l] != want[k][l] {
					t.Fatalf("n=%d, k=%d, lane %d: %v, want %v", n, k, l, got[l], want[k][l])
				}
			}
			in = frames(n)
		}
	}
}

func TestPowerAllocatesNothing(t *testing.T) {
	for _, n := range []int{400, 405, 14} {
		p, err := sound.New(n)
		if err != nil {
			t.Fatal(err)
		}
		in, out, work := frames(n), make([]sound.Vec, p.Bins()), make([]sound.Complex, p.Work())
		if n := allocs.PerRun(0, 10, func() { p.Power(out, in, work) }); n != 0 {
			t.Errorf("%v allocations", n)
		}
	}
}

func TestLengthsThatNoPlanHas(t *testing.T) {
	for _, n := range []int{-1, 0, 1, 131, 2 * 131, 65537} {
		if _, err := sound.New(n); err == nil {
			t.Errorf("a plan for %d", n)
		}
	}
}

func BenchmarkPower(b *testing.B) {
	for _, n := range []int{400, 512, 1024} {
		b.Run(map[int]string{400: "400", 512: "512", 1024: "1024"}[n], func(b *testing.B) {
			p, err := sound.New(n)
			if err != nil {
				b.Fatal(err)
			}
			frames := frames(n)
			in, out, work := slices.Clone(frames), make([]sound.Vec, p.Bins()), make([]sound.Complex, p.Work())
			for k := 0; b.Loop(); k++ {
				if k%8 == 0 {
					copy(in, frames) // the result of a result grows
				}
				p.Power(out, in, work)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/sound.Lanes, "ns/frame")
		})
	}
}

// logs are the logarithms of the values, and of their number of lanes.
func logs(in []sound.Vec, floor, offset, factor float64) [][sound.Lanes]float32 {
	out := make([][sound.Lanes]float32, len(in))
	sound.Logs(out, in, floor, offset, factor)
	return out
}

// TestLogsAreThoseOfMath: to the precision of float32.
func TestLogsAreThoseOfMath(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 50 {
		in := make([]sound.Vec, 100)
		for k := range in {
			for l := range in[k] {
				in[k][l] = math.Exp(r.NormFloat64() * 20)
				if r.IntN(3) == 0 {
					in[k][l] = 1 + r.NormFloat64()/1000
				}
			}
		}
		for k, v := range logs(in, 1e-30, 0, 1) {
			for l, got := range v {
				if want := float32(math.Log(max(in[k][l], 1e-30))); math.Abs(float64(got-want)) > 1.2e-7*math.Abs(float64(want)) {
					t.Fatalf("ln(%v) = %v, want %v", in[k][l], got, want)
				}
			}
		}
	}
	inf, nan := math.Inf(1), math.NaN()
	got := logs([]sound.Vec{{0, 1, inf, nan}, {-1, 5e-324, -inf, math.MaxFloat64}}, -inf, 0, 1)
	want := [8]float32{float32(-inf), 0, float32(inf), float32(nan), float32(nan), float32(math.Log(5e-324)), float32(nan), float32(math.Log(math.MaxFloat64))}
	for k, w := range want {
		if g := got[k/4][k%4]; g != w && (g == g || w == w) {
			t.Errorf("special number %d: %v, want %v", k, g, w)
		}
	}
	if g := logs([]sound.Vec{{0, nan, 1, 3}}, 2, 1, 1/math.Ln10)[0]; g[0] != float32(math.Log10(3)) || g[1] == g[1] || g[2] != float32(math.Log10(3)) {
		t.Errorf("floor 2 and offset 1: %v", g)
	}
}

// TestKernelsAreThePortableCode bit for bit.
func TestKernelsAreThePortableCode(t *testing.T) {
	type result struct {
		powers  [][]sound.Vec
		windows [][]sound.Vec
		sums    []sound.Vec
		logs    [][sound.Lanes]float32
		levels  [][]float32
		sum     []float32
	}
	compute := func() (r result) {
		for _, n := range lengths {
			r.powers = append(r.powers, power(t, n, frames(n)))
		}
		for n := range 19 {
			var in [sound.Lanes][]float32
			window := make([]float64, n)
			for i, v := range frames(n) {
				for l := range in {
					in[l] = append(in[l], float32(v[l]))
				}
				window[i] = v[0]
			}
			r.windows = append(r.windows, make([]sound.Vec, n))
			sound.Window(r.windows[n], &in, window)
		}
		var filters sound.Filters
		for k := range 20 {
			weights := make([]float64, k%7)
			for i := range weights {
				weights[i] = 1 / float64(i+k+1)
			}
			filters.Add(3*k, weights)
		}
		spectrum := frames(70)
		r.sums = make([]sound.Vec, 20)
		filters.Sum(r.sums, spectrum)
		for k := range spectrum {
			for l, v := range spectrum[k] {
				spectrum[k][l] = v * v
			}
		}
		r.logs = append(logs(spectrum, 1e-10, 0, 10/math.Ln10), logs(spectrum, math.Inf(-1), 1e-6, 1)...)
		for n := 1; n < 40; n++ {
			x := make([]float32, n)
			for i, v := range frames(n) {
				x[i] = float32(v[0])
			}
			least := sound.Greatest(x) - 1
			sound.Level(x, least, -4, 4)
			sound.Level(x, 0.5, 0.3, 3)
			r.levels = append(r.levels, append(x, least))
			r.sum = append(r.sum, sound.Product(x, x))
		}
		return r
	}
	got := compute()
	var want result
	cputest.Portable(func() { want = compute() })
	if !reflect.DeepEqual(got, want) {
		t.Errorf("the kernels make other bits")
		for i := range lengths {
			if !reflect.DeepEqual(got.powers[i], want.powers[i]) {
				t.Errorf("power of %d samples", lengths[i])
			}
		}
	}
}

// TestGreatestFindsWhatIsNoNumber at every place.
func TestGreatestFindsWhatIsNoNumber(t *testing.T) {
	for n := 1; n < 30; n++ {
		x := make([]float32, n)
		for i := range x {
			clear(x)
			if x[i] = 1; sound.Greatest(x) != 1 {
				t.Errorf("1 at %d of %d: %v", i, n, sound.Greatest(x))
			}
			if x[i] = float32(math.NaN()); sound.Greatest(x) == sound.Greatest(x) {
				t.Errorf("not a number at %d of %d: %v", i, n, sound.Greatest(x))
			}
		}
	}
}

func TestProductIsASumOfProducts(t *testing.T) {
	for n := range 30 {
		weights, samples, want := make([]float32, n), make([]float32, n), 0.0
		for i := range n {
			weights[i], samples[i] = float32(i+1), 1/float32(i+3)
			want += float64(weights[i]) * float64(samples[i])
		}
		if got := sound.Product(weights, samples); math.Abs(float64(got)-want) > 1e-7*want {
			t.Errorf("%d products: %v, want %v", n, got, want)
		}
	}
}
