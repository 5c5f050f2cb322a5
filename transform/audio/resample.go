package audio

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"

	"github.com/penstock-go/penstock/internal/sound"
)

// maxRate is the greatest number of samples per second.
const maxRate = 768000

// maxRatio is how many times as long a waveform becomes at most: 8000 samples per second become 768,000. A header that claims less would
// make a small file take much memory and time.
const maxRatio = 96

// Resample changes the number of samples per second to this one, as torchaudio.transforms.Resample does with sinc_interp_hann, a filter of
// width 6 and a roll-off of 0.99. The results are within 5e-7 of torchaudio's, in parts of the greatest sample: the filters have its bits, but
// their products are summed up in float64. It keeps channels apart. Waveforms of less than a 96th of the samples per second are an error.
type Resample int

func (r Resample) prepare(s *state) (plan, error) {
	if r < 1 || r > maxRate {
		return nil, fmt.Errorf("want 1 to %d samples per second", maxRate)
	}
	if s.extra.Only {
		if s.rate > 0 && s.rate != int(r) {
			return nil, fmt.Errorf("the steps before make %d samples per second", s.rate)
		}
		s.wants(int(r))
		s.rate = int(r)
		return atRate(r), s.waveform()
	}
	s.wants(0)
	if s.samples >= 0 && s.rate > 0 {
		s.samples = resampled(s.samples, s.rate, int(r))
	} else {
		s.samples = -1
	}
	s.rate = int(r)
	return &resampler{rate: int(r)}, s.waveform()
}

// atRate is the plan of a Resample that changes nothing: waveforms of another number of samples per second are an error.
type atRate int

func (a atRate) open() runner { return a }

func (a atRate) run(w *worker) error {
	if err := w.wantRate(int(a)); err != nil {
		return err
	}
	if _, err := w.single(); err != nil {
		return err
	}
	return w.pass(len(w.data))
}

// Speed makes speech faster or slower by a factor, with its pitch, as torchaudio's SpeedPerturbation does. It draws one of the factors;
// the number of samples per second stays what it is.
type Speed []float64

func (f Speed) prepare(s *state) (plan, error) {
	for _, v := range f {
		if !(v >= 0.1 && v <= 10) {
			return nil, fmt.Errorf("a factor is %v: want 0.1 to 10", v)
		}
	}
	if len(f) == 0 {
		return nil, errors.New("want one factor or more")
	}
	s.samples = -1
	return &resampler{factors: f}, s.waveform()
}

// A resampler is the plan of Resample and Speed. All its runners share the filters.
type resampler struct {
	rate    int // or 0 with factors
	factors []float64
	part    func(w *worker, n int) (from, to int) // which of n samples the next step takes, if there is one channel; nil is all

	mu      sync.Mutex
	filters []*filter // those made last, for files of different rates
}

// keptFilters is how many filters a resampler keeps. Files have few different rates.
const keptFilters = 16

// resampling is the runner.
type resampling struct {
	of   *resampler
	last *filter
}

func (r *resampler) open() runner { return &resampling{of: r} }

func (r *resampling) run(w *worker) error {
	from, to := w.rate, r.of.rate
	if f := r.of.factors; f != nil {
		to = w.rate
		from = int(f[min(int(w.random.Float64()*float64(len(f))), len(f)-1)] * float64(w.rate))
		if from < 1 || from > maxRate {
			return fmt.Errorf("a waveform of %d samples per second would be one of %d: want 1 to %d", w.rate, from, maxRate)
		}
	}
	if to > maxRatio*from {
		return fmt.Errorf("a waveform of %d samples per second: want at least %d to make %d of them", from, (to+maxRatio-1)/maxRatio, to)
	}
	n := len(w.data) / w.channels
	m := n
	if from != to {
		m = resampled(n, from, to)
	}
	if m < 0 || m > maxSamples/w.channels {
		return fmt.Errorf("%d samples at %d per second would be more than %d at %d per second", n, from, maxSamples, to)
	}
	first, end := 0, m
	if r.of.part != nil && w.channels == 1 {
		first, end = r.of.part(w, m)
	}
	if from == to {
		if w.channels == 1 {
			w.data = w.data[first:end]
		}
		return w.pass(len(w.data))
	}
	if g := divisor(from, to); r.last == nil || r.last.from != from/g || r.last.to != to/g {
		f, err := r.of.filter(from/g, to/g)
		if err != nil {
			return err
		}
		r.last = f
	}
	data, channels, count := w.data, w.channels, end-first
	out, err := w.room(count * channels)
	if err != nil {
		return err
	}
	for c := range channels {
		r.last.apply(out[c*count:][:count], data[c*n:][:n], first)
	}
	w.data = out
	if r.of.factors == nil {
		w.rate = to
	}
	return nil
}

// divisor is the greatest common one.
func divisor(a, b int) int {
	for b > 0 {
		a, b = b, a%b
	}
	return a
}

// resampled is how many samples n of them become. torchaudio computes it in float32, so that it may differ from the exact number for long
// waveforms; the number is never more than torchaudio's filter makes.
func resampled(n, from, to int) int {
	g := divisor(from, to)
	from, to = from/g, to/g
	m := math.Ceil(float64(float32(float64(to) * float64(n) / float64(from))))
	return int(min(m, float64(to)*(math.Floor(float64(n)/float64(from))+1), 1<<30))
}

// filter is that for two rates without a common divisor. Others who need the same one wait until it is computed; those who need another one
// do not.
func (r *resampler) filter(from, to int) (*filter, error) {
	const most = 1 << 22 // weights: of every second, 12 weights for every sample of the greater rate
	if 13*max(from, to) > most {
		return nil, fmt.Errorf("the rates have the ratio %d:%d, which needs too large a filter", from, to)
	}
	f := r.kept(from, to)
	f.once.Do(f.compute)
	return f, nil
}

// kept is the filter among those that are kept, which may not be computed yet.
func (r *resampler) kept(from, to int) *filter {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, f := range r.filters {
		if f.from == from && f.to == to {
			return f
		}
	}
	if len(r.filters) == keptFilters {
		r.filters = slices.Delete(r.filters, 0, 1)
	}
	f := &filter{from: from, to: to}
	r.filters = append(r.filters, f)
	return f
}

// A filter makes to samples of from samples. Each of the to samples has weights of its own; the next to samples have the same weights for
// samples that are from further.
type filter struct {
	from, to int
	once     sync.Once // phases are computed
	phases   []phase
}

// A phase is the weights of a sample, and which is multiplied by the first of them.
type phase struct {
	first   int
	weights []float32
}

// compute computes what torchaudio's _get_sinc_resample_kernel does where its dtype is None: times in float64, but for the place of the
// sample, which is float32, and weights rounded to float32. Weights outside of the window are left out.
func (f *filter) compute() {
	const zeros, rolloff = 6, 0.99
	from, to := f.from, f.to
	base := float64(min(from, to)) * rolloff
	width := int(math.Ceil(zeros * float64(from) / base))
	scale := base / float64(from)
	for j := range to {
		place := float64(float32(-j) / float32(to))
		p := phase{first: math.MinInt}
		for i := -width + int(float64(j)*float64(from)/float64(to)) - 1; i < width+from; i++ {
			t := (place + float64(i)/float64(from)) * base
			if math.Abs(t) >= zeros || i < -width {
				if p.weights != nil {
					break
				}
				continue
			}
			if p.weights == nil {
				p.first = i
			}
			window := math.Cos(t * math.Pi / zeros / 2)
			weight := 1.0
			if t *= math.Pi; t != 0 {
				weight = math.Sin(t) / t
			}
			p.weights = append(p.weights, float32(weight*(float64(window*window)*scale)))
		}
		f.phases = append(f.phases, p)
	}
}

// apply resamples a waveform, beyond whose ends are zeros. out has the samples of the result from first on.
func (f *filter) apply(out, in []float32, first int) {
	start, j := first/f.to*f.from, first%f.to
	for k := range out {
		p := &f.phases[j]
		at, weights, x := start+p.first, p.weights, in
		switch {
		case at < 0:
			weights = weights[min(-at, len(weights)):]
		case at < len(in):
			x = in[at:]
		default:
			x = nil
		}
		out[k] = sound.Product(weights[:min(len(weights), len(x))], x)
		if j++; j == f.to {
			start, j = start+f.from, 0
		}
	}
}
