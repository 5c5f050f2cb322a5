package audio

import (
	"errors"
	"fmt"
	"iter"
	"math"

	"github.com/penstock-go/penstock/internal/prng"
)

// Mono makes one channel, the mean of all. It sums them up in their order, in float32, as librosa and torch's mean do.
type Mono struct{}

func (m Mono) prepare(s *state) (plan, error) { return m, s.waveform() }

func (m Mono) open() runner { return m }

func (Mono) run(w *worker) error {
	n := len(w.data) / w.channels
	if w.channels == 1 {
		return w.pass(n)
	}
	from, channels := w.data, w.channels
	out, err := w.room(n)
	if err != nil {
		return err
	}
	copy(out, from[:n])
	for c := 1; c < channels; c++ {
		for i, v := range from[c*n:][:n] {
			out[i] += v
		}
	}
	for i := range out {
		out[i] /= float32(channels)
	}
	w.data, w.channels = out, 1
	return nil
}

// wantRate says that a waveform has the rate that is wanted.
func (w *worker) wantRate(rate int) error {
	if w.rate != rate {
		return fmt.Errorf("a waveform has %d samples per second: want %d, or Resample(%d) in the list of steps", w.rate, rate, rate)
	}
	return nil
}

// Fit cuts a waveform to so many samples, or pads it with zeros at its end. After a [Resample] or [Speed], no more than these samples are
// computed.
type Fit int

// fit is the plan of a Fit.
type fit struct {
	samples       int
	value         float32
	repeat, whole bool
}

func (f Fit) prepare(s *state) (plan, error) {
	if f < 1 || f > maxSamples {
		return nil, fmt.Errorf("want 1 to %d samples", maxSamples)
	}
	s.samples = int(f)
	if r, ok := s.before.(*resampler); ok && !s.extra.Whole {
		r.part = func(_ *worker, n int) (from, to int) { return 0, min(int(f), n) }
	}
	return fit{int(f), s.extra.Value, s.extra.Repeat, s.extra.Whole}, s.waveform()
}

func (f fit) open() runner { return f }

func (f fit) run(w *worker) error {
	from, err := w.single()
	if err != nil {
		return err
	}
	if f.whole && len(from) > f.samples {
		return fmt.Errorf("a waveform has %d samples: want %d at most, so cut a part out of it before", len(from), f.samples)
	}
	if len(from) >= f.samples {
		return w.pass(f.samples)
	}
	out, err := w.room(f.samples)
	if err != nil {
		return err
	}
	n := copy(out, from)
	for f.repeat && len(from) > 0 && n+len(from) <= len(out) {
		n += copy(out[n:], from)
	}
	for i := n; i < len(out); i++ {
		out[i] = f.value
	}
	w.data = out
	return nil
}

// RandomCrop takes a part of so many samples of a waveform, at a place drawn at random. A shorter waveform is padded with zeros. After a
// [Resample] or [Speed], no more than the part is computed.
type RandomCrop int

// crop is the plan of a RandomCrop.
type crop int

func (c RandomCrop) prepare(s *state) (plan, error) {
	p, err := Fit(c).prepare(s)
	if r, ok := s.before.(*resampler); ok {
		r.part = crop(c).draw
		return p, err // pads the part
	}
	return crop(c), err
}

func (c crop) open() runner { return c }

func (c crop) run(w *worker) error {
	wave, err := w.single()
	if err != nil {
		return err
	}
	from, to := c.draw(w, len(wave))
	w.data = wave[from:to]
	return fit{samples: int(c)}.run(w)
}

// draw draws a part of n samples.
func (c crop) draw(w *worker, n int) (from, to int) {
	u := w.random.Float64()
	if more := n - int(c); more > 0 {
		from = min(int(u*float64(more+1)), more)
	}
	return from, min(from+int(c), n)
}

// Gain makes a waveform louder by a number of decibels, drawn evenly from the first one to the second.
type Gain [2]float64

func (g Gain) prepare(s *state) (plan, error) {
	if !(math.Abs(g[0]) <= 200 && g[1] >= g[0] && g[1] <= 200) {
		return nil, errors.New("want two numbers from -200 to 200 decibels, the first not above the second")
	}
	return g, s.waveform()
}

func (g Gain) open() runner { return g }

// draw draws a number of decibels.
func (g Gain) draw(w *worker) float64 { return g[0] + float64(w.random.Float64()*(g[1]-g[0])) }

func (g Gain) run(w *worker) error {
	factor := float32(math.Pow(10, g.draw(w)/20))
	from, out, err := w.copies()
	if err != nil {
		return err
	}
	for i, v := range from {
		out[i] = v * factor
	}
	return nil
}

// copies gives a step that changes every sample what it gets and where it writes to.
func (w *worker) copies() (from, to []float32, err error) {
	if from, err = w.single(); err != nil {
		return nil, nil, err
	}
	to, err = w.room(len(from))
	w.data = to
	return from, to, err
}

// Noise adds normally distributed noise. Its power is below that of the waveform by a number of decibels, drawn evenly from the first one
// to the second: it is torchaudio's AddNoise with white noise. A silent waveform stays as it is.
type Noise [2]float64

func (n Noise) prepare(s *state) (plan, error) {
	_, err := Gain(n).prepare(s)
	return n, err
}

func (n Noise) open() runner { return n }

func (n Noise) run(w *worker) error {
	snr := Gain(n).draw(w)
	draws := normals{at: w.random.Uint64()} // one number, so that later steps draw the same for waveforms of any length
	from, out, err := w.copies()
	if err != nil || len(from) == 0 {
		return err
	}
	var energy float64
	for _, v := range from {
		energy += float64(float64(v) * float64(v))
	}
	scale := math.Sqrt(energy / float64(len(from)) * math.Pow(10, -snr/10))
	for i, v := range from {
		out[i] = v + float32(scale*draws.next())
	}
	return nil
}

// normals are normally distributed numbers, by the polar method of Marsaglia over splitmix64.
type normals struct {
	at    uint64
	other float64
	have  bool
}

func (n *normals) next() float64 {
	if n.have {
		n.have = false
		return n.other
	}
	for {
		x, y := n.uniform(), n.uniform()
		s := float64(x*x) + float64(y*y)
		if s > 0 && s < 1 {
			f := math.Sqrt(-2 * math.Log(s) / s)
			n.other, n.have = y*f, true
			return x * f
		}
	}
}

// uniform is a number from -1 to 1.
func (n *normals) uniform() float64 {
	n.at += prng.Gamma
	return float64(int64(prng.Mix(n.at))>>10) / (1 << 53)
}

// Preemphasis subtracts from every sample of a waveform so much of the sample before it, as torchaudio.transforms.Preemphasis does. The
// first sample stays. A [Spectrogram] can do the same in every frame.
type Preemphasis float64

func (p Preemphasis) prepare(s *state) (plan, error) {
	if !(p >= 0 && p <= 1) {
		return nil, errors.New("want 0 to 1")
	}
	return p, s.waveform()
}

func (p Preemphasis) open() runner { return p }

func (p Preemphasis) run(w *worker) error {
	from, out, err := w.copies()
	if err != nil {
		return err
	}
	var before float32
	for i, v := range from {
		out[i] = v - float32(float32(p)*before)
		before = v
	}
	return nil
}

// Standardize gives a waveform the mean 0 and the variance 1: (x - mean)/sqrt(variance + 1e-7), with the bits of transformers'
// Wav2Vec2FeatureExtractor.
type Standardize struct{}

func (z Standardize) prepare(s *state) (plan, error) { return z, s.waveform() }

func (z Standardize) open() runner { return z }

func (Standardize) run(w *worker) error {
	from, out, err := w.copies()
	if err != nil || len(from) == 0 {
		return err
	}
	copy(out, from)
	standardize(out, 0)
	return nil
}

// standardize is (x - mean)/sqrt(variance + 1e-7), where a variance divides by the number of values less less.
func standardize(x []float32, less int) {
	mean := meanOf(x)
	for i := range x {
		x[i] -= mean
	}
	variance := float32(float64(pairwise(x, true)) / float64(max(len(x)-less, 0)))
	std := float32(math.Sqrt(float64(variance + 1e-7)))
	for i := range x {
		x[i] /= std
	}
}

// meanOf is NumPy's mean of float32.
func meanOf(x []float32) float32 { return float32(float64(pairwise(x, false)) / float64(len(x))) }

// pairwise is NumPy's sum of float32 that lie next to each other, or of their squares: in eight sums for up to 128 numbers, and in two
// halves for more. Its order of additions decides about the last bits.
func pairwise(x []float32, squared bool) float32 {
	n := len(x)
	switch {
	case n < 8:
		var sum float32
		for _, v := range x {
			sum += term(v, squared)
		}
		return sum
	case n <= 128:
		var r [8]float32
		for k := range r {
			r[k] = term(x[k], squared)
		}
		i := 8
		for ; i < n-n%8; i += 8 {
			for k, v := range x[i : i+8] {
				r[k] += term(v, squared)
			}
		}
		sum := ((r[0] + r[1]) + (r[2] + r[3])) + ((r[4] + r[5]) + (r[6] + r[7]))
		for ; i < n; i++ {
			sum += term(x[i], squared)
		}
		return sum
	}
	half := n / 2
	half -= half % 8
	return pairwise(x[:half], squared) + pairwise(x[half:], squared)
}

func term(v float32, squared bool) float32 {
	if squared {
		return float32(v * v)
	}
	return v
}

// Windows are the parts of a long recording of n samples: each begins step samples after the one before it and has length samples, but
// for the last one, which ends with the recording and may be shorter. It yields the first sample of each, and the one after its last. A
// recording without samples has one empty part.
//
//	for from, to := range audio.Windows(len(samples), 30*16000, 30*16000) {
//
// It panics if length or step is less than 1.
func Windows(n, length, step int) iter.Seq2[int, int] {
	if length < 1 || step < 1 {
		panic(fmt.Sprintf("audio: Windows of %d samples, each %d after the one before: want 1 or more", length, step))
	}
	return func(yield func(from, to int) bool) {
		for from := 0; ; from += step {
			to := from + min(length, n-from)
			if !yield(from, to) || to >= n || step >= n-from {
				return
			}
		}
	}
}
