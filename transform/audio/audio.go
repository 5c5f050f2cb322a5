// Package audio prepares waveforms for models of speech and sound: it mixes channels, resamples, cuts and pads, adds noise, and computes
// spectrograms and what is made of them, with the numbers of transformers' NumPy code and of torchaudio.
//
// A waveform is a slice of float32 from -1 to 1, one channel after the other. A list of [Step] values says what is done with it, and
// [Compile] prepares the list. What it makes takes single waveforms, as a server does ([Compiled.Into], [Compiled.Append]), or is the step
// of a dataset of waveforms ([Compiled.Open]). Package transform/presets reads the steps that a model's own configuration asks for. The
// values of a list are data: print it to see what it does.
//
// docs/audio.md says, for every class of torchaudio.transforms, what is its counterpart here.
package audio

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"runtime"
	"slices"
	"strings"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/transform/internal/extractor"
)

// A Step is what is done with a waveform, or with the features that an earlier step has made of it. It is one of the types of this package.
type Step interface {
	// prepare checks the step, which comes after those that have led to s, and says what comes of it.
	prepare(s *state) (plan, error)
}

// A List is several steps that count as one.
type List []Step

// state is what is known, before there are waveforms, of what a step gets.
type state struct {
	name     string
	extra    extractor.Extra // of the step that is prepared
	before   plan            // of the step before it, or nil
	wanted   int             // the rate that waveforms must have, or 0 for any
	decided  bool            // wanted is known
	rate     int             // 0 is any
	samples  int             // of a waveform; -1 varies
	features bool            // no longer a waveform, but rows×columns
	rows     int             // -1 varies
	columns  int
	byMel    bool // a row is a mel filter and not a frame; then columns may be -1
	copies   int  // 0 is one without a dimension of its own
}

// A plan is a prepared step. Several goroutines may use it at once.
type plan interface {
	// open makes what one goroutine needs.
	open() runner
}

// A runner does a step. One goroutine at a time uses it.
type runner interface{ run(w *worker) error }

// A Wave is a waveform, and what belongs to it.
type Wave struct {
	// Samples are those of all channels, one channel after the other.
	Samples []float32
	// Channels is how many they are. 0 means 1.
	Channels int
	// Rate is the number of samples of a channel per second.
	Rate int
	// Seed is that of the random steps. Equal seeds give equal random numbers.
	Seed uint64
}

// Compiled is a list of steps for waveforms. Any number of goroutines may use it at the same time.
type Compiled struct {
	steps   []Step
	plans   []plan
	result  state
	workers chan *worker // that have been made and are idle
}

// Compile checks the steps and prepares them. The error joins everything that is wrong.
func Compile(steps ...Step) (*Compiled, error) {
	c := &Compiled{steps: slices.Clone(steps), result: state{name: "waveform", samples: -1}, workers: make(chan *worker, runtime.GOMAXPROCS(0))}
	var errs []error
	for _, s := range flat(nil, steps) {
		if s == nil {
			errs = append(errs, errors.New("audio: a step is nil"))
			continue
		}
		_, c.result.extra = parts(s)
		p, err := s.prepare(&c.result)
		if err != nil {
			errs = append(errs, fmt.Errorf("audio: %s: %w", text(s, briefly), err))
			continue
		}
		if n := c.result.extra.Name; n != "" {
			c.result.name = n
		}
		c.plans = append(c.plans, p)
		c.result.before = p
	}
	if len(c.plans) == 0 && errs == nil {
		errs = append(errs, errors.New("audio: Compile: want one step or more"))
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	return c, nil
}

// flat appends the steps, those of lists one by one.
func flat(all, steps []Step) []Step {
	for _, s := range steps {
		if l, ok := s.(List); ok {
			all = flat(all, l)
		} else {
			all = append(all, s)
		}
	}
	return all
}

// parts are a step of this package, and what a feature extractor adds to it.
func parts(s Step) (Step, extractor.Extra) {
	if x, ok := s.(extractor.Step); ok {
		step, extra := x.Extra()
		return step.(Step), extra
	}
	return s, extractor.Extra{}
}

// text is a step as it prints: its type and its fields that are not 0, or the first ones of them.
func text(s Step, most int) string {
	s, extra := parts(s)
	v := reflect.Indirect(reflect.ValueOf(s))
	name, words := v.Type().Name(), []string(nil)
	if v.Kind() == reflect.Struct {
		words = fields(words, "", v)
	} else {
		words = append(words, strings.Trim(fmt.Sprint(v), "[]"))
	}
	words = fields(words, "", reflect.ValueOf(extra))
	if len(words) > most {
		words = append(words[:most:most], "…")
	}
	if words == nil {
		return name
	}
	return name + "(" + strings.Join(words, " ") + ")"
}

// briefly is how many fields errors and lists show.
const briefly = 4

// fields appends those of a struct that are not 0.
func fields(words []string, of string, v reflect.Value) []string {
	for f, x := range v.Fields() {
		name := of + f.Name
		switch {
		case x.IsZero():
		case x.Kind() == reflect.Struct:
			words = fields(words, name+".", x)
		case x.Kind() == reflect.Bool:
			words = append(words, name)
		case x.CanInterface() && x.Comparable() && names[x.Interface()] != "": // other fields are those of a program's type that embeds a step
			words = append(words, name+":"+names[x.Interface()])
		default:
			words = append(words, fmt.Sprintf("%s:%v", name, x))
		}
	}
	return words
}

// names are those of constants, but for the zero values, which do not print.
var names = map[any]string{
	Silence: "Silence", Inside: "Inside", Hamming: "Hamming", Povey: "Povey", Boxcar: "Boxcar",
	Natural: "Natural", Log10: "Log10", Decibels: "Decibels",
	extractor.Unbiased: "Unbiased", extractor.CMVN: "CMVN", extractor.NeMo: "NeMo",
}

// String has a list's steps, of each the first fields. Those of [Compiled.String] are all.
func (l List) String() string {
	texts := make([]string, len(l))
	for i, s := range l {
		texts[i] = text(s, briefly)
	}
	return strings.Join(texts, ", ")
}

func (l List) prepare(*state) (plan, error) { return nil, errors.New("want its steps one by one") }

// String has every step with its fields that are not 0, in lines of moderate length.
func (c *Compiled) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "waveform → %v\n", c.Field())
	const width = 100
	for _, s := range flat(nil, c.steps) {
		line := " "
		for word := range strings.FieldsSeq(text(s, math.MaxInt)) {
			if len(line)+len(word) >= width {
				fmt.Fprintln(&b, line)
				line = "     "
			}
			line += " " + word
		}
		fmt.Fprintln(&b, line)
	}
	return b.String()
}

// Field is that of the result: of float32, and ragged if its length depends on that of the waveform. If the rows are mel filters, their
// length must not vary for that: see [Compiled.Open].
func (c *Compiled) Field() dataset.Field {
	f := dataset.Field{Name: c.result.name, Dtype: dataset.Float32}
	switch s := c.result; {
	case !s.features && s.samples < 0:
		f.Ragged = true
	case !s.features:
		f.Shape = dataset.Shape{s.samples}
	case s.byMel && s.columns < 0:
		f.Shape, f.Ragged = dataset.Shape{s.rows}, true
	case s.rows < 0:
		f.Shape, f.Ragged = dataset.Shape{s.columns}, true
	case s.copies > 0:
		f.Shape = dataset.Shape{s.copies, s.rows, s.columns}
	default:
		f.Shape = dataset.Shape{s.rows, s.columns}
	}
	return f
}

// Rate is the number of samples per second that waveforms must have, or 0 if any will do. A list that begins with [Resample] takes any.
func (c *Compiled) Rate() int { return c.result.wanted }

// wants says what rate a step wants, or 0 for any. The first such step decides.
func (s *state) wants(rate int) {
	if !s.decided {
		s.wanted, s.decided = rate, true
	}
}

// Into applies the steps to a waveform, which stays as it is, and writes the result to dst, as many values as [Compiled.Field] has.
// After an error the content of dst is undefined.
func (c *Compiled) Into(dst []float32, from Wave) error {
	w := c.worker()
	defer c.idle(w)
	w.dst, w.appends = dst, false
	return w.apply(from)
}

// Append is Into for results of any length: it appends the values to dst. After an error the result is dst.
func (c *Compiled) Append(dst []float32, from Wave) ([]float32, error) {
	w := c.worker()
	defer c.idle(w)
	w.dst, w.appends = dst, true
	if err := w.apply(from); err != nil {
		return dst, err
	}
	return w.dst, nil
}

// Open makes what one goroutine needs to apply the steps to the waveforms of a dataset. The function that it returns writes the result
// to the first field of dst, which must be that of [Compiled.Field]. wave has the samples of all channels, one channel after the other;
// it stays as it is. The function allocates nothing in steady state.
func (c *Compiled) Open() (func(dst dataset.Slot, wave []float32, channels, rate int) error, error) {
	if s := c.result; s.byMel && s.columns < 0 {
		return nil, errors.New("audio: the number of frames varies, and a row is a mel filter: want FramesFirst, or Fit before the Spectrogram")
	}
	w, field := c.newWorker(), c.Field()
	return func(dst dataset.Slot, wave []float32, channels, rate int) error {
		w.slot, w.field, w.stored = dst, field, true
		defer func() { w.slot = dataset.Slot{} }()
		return w.run(wave, channels, rate, dst.Rand())
	}, nil
}

// worker is an idle worker, or a new one.
func (c *Compiled) worker() *worker {
	select {
	case w := <-c.workers:
		return w
	default:
		return c.newWorker()
	}
}

// idle keeps the worker for the next waveform.
func (c *Compiled) idle(w *worker) {
	w.dst, w.data = nil, nil
	select {
	case c.workers <- w:
	default: // more goroutines than processors: this one's memory goes
	}
}

func (c *Compiled) newWorker() *worker {
	w := &worker{buffers: make([][]float32, len(c.plans))}
	w.rand = rand.New(&w.pcg)
	for _, p := range c.plans {
		w.runners = append(w.runners, p.open())
	}
	return w
}

// A worker applies the steps to one waveform at a time.
type worker struct {
	runners []runner
	buffers [][]float32 // of the results of all steps but the last
	pcg     rand.PCG
	rand    *rand.Rand

	data          []float32 // what the step gets, and has made
	channels      int
	rate          int
	rows, columns int // of features, without their copies
	byMel         bool
	random        *rand.Rand
	at            int // the step

	// Where the last step writes to: a slot, or dst.
	slot    dataset.Slot
	field   dataset.Field
	stored  bool
	dst     []float32
	appends bool
}

// apply applies the steps to a waveform that is not a dataset's.
func (w *worker) apply(from Wave) error {
	w.stored = false
	w.pcg.Seed(from.Seed, 0x9e3779b97f4a7c15)
	return w.run(from.Samples, max(from.Channels, 1), from.Rate, w.rand)
}

// maxSamples is how many samples or features a step makes at most: more than four hours at 16,000 samples per second.
const maxSamples = 1 << 28

const maxChannels = 1 << 16

func (w *worker) run(wave []float32, channels, rate int, random *rand.Rand) error {
	switch {
	case channels < 1 || channels > maxChannels || len(wave)%channels != 0:
		return fmt.Errorf("audio: %d samples of %d channels: want as many of each, and 1 to %d channels", len(wave), channels, maxChannels)
	case rate < 1 || rate > maxRate:
		return fmt.Errorf("audio: %d samples per second: want 1 to %d", rate, maxRate)
	case len(wave) > maxSamples:
		return fmt.Errorf("audio: %d samples: want %d at most", len(wave), maxSamples)
	}
	w.data, w.channels, w.rate, w.random = wave, channels, rate, random
	for k, r := range w.runners {
		w.at = k
		if err := r.run(w); err != nil {
			return fmt.Errorf("audio: %w", err)
		}
	}
	return nil
}

// room is memory for the n values that the step makes. Its content is undefined.
func (w *worker) room(n int) ([]float32, error) {
	if n > maxSamples {
		return nil, fmt.Errorf("the result would have %d values: want %d at most", n, maxSamples)
	}
	if w.at < len(w.runners)-1 {
		b := slices.Grow(w.buffers[w.at][:0], n)[:n]
		w.buffers[w.at] = b
		return b, nil
	}
	switch {
	case w.stored && w.field.Ragged:
		return dataset.Grow[float32](w.slot, 0, n/w.field.Elements()), nil
	case w.stored:
		if want := w.field.Elements(); n != want {
			return nil, fmt.Errorf("the result has %d values: want %d", n, want)
		}
		return dataset.Row[float32](w.slot, 0), nil
	case w.appends:
		at := len(w.dst)
		w.dst = slices.Grow(w.dst, n)[:at+n]
		return w.dst[at:], nil
	case n != len(w.dst):
		return nil, fmt.Errorf("dst has %d values: want %d", len(w.dst), n)
	}
	return w.dst, nil
}

// pass makes the result of a step that changes nothing: what it got, or a copy where the caller wants it.
func (w *worker) pass(n int) error {
	if w.at < len(w.runners)-1 {
		w.data = w.data[:n]
		return nil
	}
	out, err := w.room(n)
	if err != nil {
		return err
	}
	copy(out, w.data[:n])
	w.data = out
	return nil
}

// waveform says that a step is for waveforms of one channel.
func (s *state) waveform() error {
	if s.features {
		return errors.New("it is for waveforms: want it before the Spectrogram")
	}
	return nil
}

// single is the waveform of one channel that a step gets.
func (w *worker) single() ([]float32, error) {
	if w.channels != 1 {
		return nil, fmt.Errorf("a waveform has %d channels: want 1, or Mono in the list of steps", w.channels)
	}
	return w.data, nil
}
