package audio

import (
	"errors"
	"fmt"
	"math"

	"github.com/penstock-go/penstock/internal/sound"
	"github.com/penstock-go/penstock/transform/internal/extractor"
)

// A Spectrogram is the step from a waveform to features. Its fields are in the order in which they act. The zero value of a field leaves
// its part out, or is what is said there. The computation is that of transformers' audio_utils.spectrogram: in float64, with the spectrum
// rounded to complex64, and the features to float32.
type Spectrogram struct {
	// Rate is the number of samples per second that waveforms must have.
	Rate int
	// Scale multiplies the samples: 32768 gives those of 16 bits that Kaldi's features are made of.
	Scale float64

	// FrameLength is how many samples a frame has, and HopLength how far a frame begins after the one before it.
	FrameLength, HopLength int
	// FFTLength is how many samples the Fourier transform takes: those of the frame, and zeros. The default is FrameLength.
	FFTLength int
	// Edge says what is beyond the ends of a waveform.
	Edge Edge
	// RemoveDC subtracts a frame's mean from it.
	RemoveDC bool
	// Preemphasis subtracts from every sample of a frame so much of the sample before it: 0.97 in Kaldi.
	Preemphasis float64
	// Window is what a frame is multiplied with. Symmetric makes it one with two equal ends, instead of a period of the function.
	// WindowLength is its length, in the middle of a frame, and zeros are beside it. The default is FrameLength.
	Window       Window
	Symmetric    bool
	WindowLength int
	// Magnitude says that a spectrum has magnitudes, instead of their squares.
	Magnitude bool

	// Mel filters sum up the spectrum.
	Mel Mel
	// Floor is the least value of what the mel filters make, or of the spectrum without them. Below it values become Floor.
	Floor float64
	// Offset is added then.
	Offset float64
	// Log is what is done then.
	Log Log

	// What follows is done with all features of a waveform, in float32.

	// DropLast leaves out the last frame, as Whisper does.
	DropLast bool
	// Range raises values to the greatest one less Range.
	Range float64
	// Mean is subtracted, and the difference divided by Std, which is 1 if it is 0.
	Mean, Std float64
	// Cepstral is how many coefficients of a discrete cosine transform (type 2, orthogonal) the mel filters of a frame become.
	Cepstral int
	// FramesFirst has a row for every frame. Otherwise a row is a filter.
	FramesFirst bool
}

// Edge says what is beyond the ends of a waveform.
type Edge uint8

const (
	// Reflect mirrors the waveform at its first and last sample. A frame has its middle at a multiple of HopLength.
	Reflect Edge = iota
	// Silence has zeros there.
	Silence
	// Inside has only the frames that are within the waveform.
	Inside
)

// Window is a function that begins and ends at 0 or near it.
type Window uint8

const (
	// Hann is half of a cosine, raised.
	Hann Window = iota
	// Hamming is 0.54 - 0.46·cos.
	Hamming
	// Povey is Kaldi's: Hann to the power of 0.85.
	Povey
	// Boxcar is 1 everywhere.
	Boxcar
)

// Mel are triangular filters over the frequencies of a spectrum.
type Mel struct {
	// Filters is how many there are.
	Filters int
	// Low and High are the limits of the first and of the last one in hertz. High 0 is half of Rate.
	Low, High float64
	// HTK says that they are equally wide on the scale 2595·log10(1 + f/700), where it would be Slaney's: linear up to 1000 hertz, and
	// logarithmic above.
	HTK bool
	// Kaldi says that they are as Kaldi's: equally wide on the scale 1127·ln(1 + f/700), on which the sides of the triangles are straight,
	// and not in hertz.
	Kaldi bool
	// Area divides a filter by its width in hertz. It is "slaney" as a norm in transformers, torchaudio and librosa.
	Area bool
}

// Log makes values logarithmic. 0 leaves them as they are.
type Log uint8

const (
	// Natural is the logarithm to base e.
	Natural Log = 1 + iota
	// Log10 is that to base 10.
	Log10
	// Decibels is 10·log10, and 20·log10 of magnitudes.
	Decibels
)

// spectral is the plan of a Spectrogram.
type spectral struct {
	Spectrogram
	extra   extractor.Extra
	plan    *sound.Plan
	window  []float64      // times plan.Scale
	filters *sound.Filters // or nil
	values  int            // of a frame: filters, frequencies or coefficients
	cosine  [][]float32    // by coefficient
}

func (p Spectrogram) prepare(s *state) (plan, error) {
	if p.FFTLength == 0 {
		p.FFTLength = p.FrameLength
	}
	if p.WindowLength == 0 {
		p.WindowLength = p.FrameLength
	}
	if p.Mel.High == 0 {
		p.Mel.High = float64(p.Rate) / 2
	}
	if p.Scale == 0 {
		p.Scale = 1
	}
	if p.Std == 0 {
		p.Std = 1
	}
	errs := append(p.check(&s.extra), s.waveform())
	if s.rate > 0 && s.rate != p.Rate {
		errs = append(errs, fmt.Errorf("field Rate: the steps before make %d samples per second", s.rate))
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	s.wants(p.Rate)
	f, err := sound.New(p.FFTLength)
	if err != nil {
		return nil, fmt.Errorf("field FFTLength: %w", err)
	}
	x := &spectral{Spectrogram: p, extra: s.extra, plan: f, window: make([]float64, p.FrameLength), values: f.Bins()}
	for i, v := range p.Window.of(p.WindowLength, p.Symmetric) {
		x.window[(p.FrameLength-p.WindowLength)/2+i] = v * f.Scale()
	}
	if p.Mel.Filters > 0 {
		x.filters, x.values = p.Mel.filters(f.Bins(), p.Rate), p.Mel.Filters
	}
	if p.Cepstral > 0 {
		x.cosine, x.values = cosines(p.Cepstral, x.values), p.Cepstral
	}
	if x.shape(s); s.copies > 0 && min(s.rows, s.columns) < 0 {
		return nil, errors.New("field Copies: want a fixed number of frames, so Fit before, or Frames")
	}
	return x, nil
}

// A rule is what a field must be.
type rule struct {
	field string
	ok    bool
	want  string
}

// within is the rule of a number from low to high.
func within(field string, v, low, high int) rule {
	return rule{field, v >= low && v <= high, fmt.Sprintf("%d to %d", low, high)}
}

// check says what is wrong with the fields.
func (p *Spectrogram) check(extra *extractor.Extra) (errs []error) {
	const longest = 1 << 16
	for _, r := range append(p.rules(extra),
		within("Rate", p.Rate, 1, maxRate),
		rule{"Scale", finite(p.Scale), "a number"},
		within("FrameLength", p.FrameLength, 2, longest),
		within("HopLength", p.HopLength, 1, longest),
		within("FFTLength", p.FFTLength, p.FrameLength, longest),
		rule{"Edge", p.Edge <= Inside, "Reflect, Silence or Inside"},
		rule{"Preemphasis", p.Preemphasis >= 0 && p.Preemphasis <= 1, "0 to 1"},
		within("WindowLength", p.WindowLength, 2, p.FrameLength),
		rule{"Window", p.Window <= Boxcar, "Hann, Hamming, Povey or Boxcar"},
		within("Mel.Filters", p.Mel.Filters, 0, longest/16),
		rule{"Mel.Low", p.Mel.Low >= 0 && p.Mel.Low <= p.Mel.High, "0 to High"},
		rule{"Mel.High", p.Mel.High > 0 && p.Mel.High <= maxRate, "hertz"},
		rule{"Mel.Kaldi", !p.Mel.Kaldi || !p.Mel.HTK, "no HTK with it"},
		rule{"Floor", p.Floor >= 0 && finite(p.Floor), "0 or more"},
		rule{"Offset", p.Offset >= 0 && finite(p.Offset), "0 or more"},
		rule{"Log", p.Log <= Decibels, "0, Natural, Log10 or Decibels"},
	) {
		if !r.ok {
			errs = append(errs, fmt.Errorf("field %s: want %s", r.field, r.want))
		}
	}
	return errs
}

// rules are those of what is done with all features.
func (p *Spectrogram) rules(extra *extractor.Extra) []rule {
	const most = 1 << 20
	values := p.FFTLength/2 + 1
	if p.Mel.Filters > 0 {
		values = p.Mel.Filters
	}
	stack := rule{"Stack", extra.Stack == 0 || extra.Stack == 1, "a number that divides Multiple"}
	if extra.Stack > 1 && extra.Multiple > 0 {
		stack.ok = extra.Multiple%extra.Stack == 0
	}
	return []rule{
		{"Range", p.Range >= 0, "0 or more"},
		{"Mean", finite(p.Mean), "a number"},
		{"Std", finite(p.Std), "a number"},
		within("Cepstral", p.Cepstral, 0, values),
		within("Frames", extra.Frames, 0, most),
		within("Multiple", extra.Multiple, 0, most),
		{"Multiple", extra.Multiple <= 1 || p.FramesFirst, "FramesFirst with it"},
		stack,
		within("Copies", extra.Copies, 0, 16),
	}
}

func finite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }

// shape says what comes of a waveform.
func (x *spectral) shape(s *state) {
	s.features, s.byMel = true, !x.FramesFirst
	if s.name == "waveform" {
		s.name = "input_features"
	}
	frames := x.extra.Frames
	if frames == 0 {
		frames = -1
		if s.samples >= 0 {
			frames = x.frames(s.samples)
		}
	}
	s.rows, s.columns = -1, x.values
	if frames >= 0 {
		s.rows = x.padded(frames)
	}
	if n := x.extra.Stack; n > 1 {
		s.columns *= n
		if s.rows >= 0 {
			s.rows /= n
		}
	}
	if s.byMel {
		s.rows, s.columns = s.columns, s.rows
	}
	s.copies = x.extra.Copies
}

// frames is how many frames are computed for n samples.
func (x *spectral) frames(n int) int {
	if x.Edge != Inside {
		n += x.FrameLength / 2 * 2
	}
	frames := 0
	if n >= x.FrameLength {
		frames = 1 + (n-x.FrameLength)/x.HopLength
	}
	if x.DropLast {
		frames--
	}
	return max(frames, 0)
}

// padded is how many frames there are in the end, of which so many are computed.
func (x *spectral) padded(frames int) int {
	if n := x.extra.Frames; n > 0 {
		frames = n
	}
	if n := x.extra.Multiple; n > 1 {
		frames = (frames + n - 1) / n * n
	}
	return frames
}

// of is the window of n values, as NumPy computes it.
func (w Window) of(n int, symmetric bool) []float64 {
	length := n + 1
	if symmetric {
		length = n
	}
	values := make([]float64, n)
	for i := range values {
		cos := math.Cos(math.Pi * float64(1-length+2*i) / float64(length-1))
		switch w {
		case Hann:
			values[i] = 0.5 + float64(0.5*cos)
		case Hamming:
			values[i] = 0.54 + float64(0.46*cos)
		case Povey:
			values[i] = math.Pow(0.5+float64(0.5*cos), 0.85)
		default:
			values[i] = 1
		}
	}
	return values
}

// mel is a frequency on the scale.
func (m Mel) mel(hertz float64) float64 {
	switch {
	case m.HTK:
		return 2595 * math.Log10(1+hertz/700)
	case m.Kaldi:
		return 1127 * math.Log(1+hertz/700)
	case hertz >= 1000:
		return 15 + float64(math.Log(hertz/1000)*(27/math.Log(6.4)))
	}
	return 3 * hertz / 200
}

// hertz is the frequency of a number on the scale.
func (m Mel) hertz(mel float64) float64 {
	switch {
	case m.HTK:
		return 700 * (math.Pow(10, mel/2595) - 1)
	case m.Kaldi:
		return 700 * (math.Exp(mel/1127) - 1)
	case mel >= 15:
		return 1000 * math.Exp(math.Log(6.4)/27*(mel-15))
	}
	return 200 * mel / 3
}

// filters are those that transformers' mel_filter_bank computes.
func (m Mel) filters(bins, rate int) *sound.Filters {
	low, high := m.mel(m.Low), m.mel(m.High)
	mels := make([]float64, m.Filters+2)
	for i := range mels {
		mels[i] = low + float64(float64(i)*((high-low)/float64(m.Filters+1)))
	}
	mels[m.Filters+1] = high
	hertz := make([]float64, len(mels))
	for i, v := range mels {
		hertz[i] = m.hertz(v)
	}
	edges, places := hertz, make([]float64, bins)
	for k := range places {
		if m.Kaldi {
			places[k] = m.mel(float64(rate) / float64((bins-1)*2) * float64(k))
		} else {
			places[k] = float64(k) * (float64(rate/2) / float64(bins-1))
		}
	}
	if m.Kaldi {
		edges = mels
	} else {
		places[bins-1] = float64(rate / 2)
	}
	all := new(sound.Filters)
	for f := range m.Filters {
		left, centre, right := edges[f], edges[f+1], edges[f+2]
		first, weights := 0, []float64(nil)
		for k, at := range places {
			weight := max(0, min((at-left)/(centre-left), (right-at)/(right-centre)))
			if m.Area {
				weight *= 2 / (hertz[f+2] - hertz[f])
			}
			if weight > 0 {
				if weights == nil {
					first = k
				}
				weights = append(weights, weight)
			}
		}
		all.Add(first, weights)
	}
	return all
}

// cosines are the rows of an orthogonal discrete cosine transform of n values.
func cosines(rows, n int) [][]float32 {
	all := make([][]float32, rows)
	for k := range all {
		scale := math.Sqrt(2 / float64(n))
		if k == 0 {
			scale = math.Sqrt(1 / float64(n))
		}
		for i := range n {
			all[k] = append(all[k], float32(scale*math.Cos(math.Pi/float64(n)*(float64(i)+0.5)*float64(k))))
		}
	}
	return all
}
