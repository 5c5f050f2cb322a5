package audio_test

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/internal/allocs"
	"github.com/penstock-go/penstock/internal/datatest"
	"github.com/penstock-go/penstock/transform/audio"
	"github.com/penstock-go/penstock/transform/internal/extractor"
)

// extended is a step with what package presets may add to it.
type extended struct {
	audio.Step
	extra extractor.Extra
}

func (e extended) Extra() (any, extractor.Extra) { return e.Step, e.extra }

// only makes waveforms of other rates an error.
func only(rate int) audio.Step { return extended{audio.Resample(rate), extractor.Extra{Only: true}} }

func compile(t testing.TB, steps ...audio.Step) *audio.Compiled {
	t.Helper()
	c, err := audio.Compile(steps...)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func appended(t testing.TB, c *audio.Compiled, w audio.Wave) []float32 {
	t.Helper()
	values, err := c.Append(nil, w)
	if err != nil {
		t.Fatal(err)
	}
	return values
}

// logMel is a step with features of few frames.
var logMel = audio.Spectrogram{
	Rate: 16000, FrameLength: 400, HopLength: 160, Mel: audio.Mel{Filters: 20}, Floor: 1e-10, Log: audio.Log10, FramesFirst: true,
}

// all are steps of every kind, whose result has a fixed shape.
var all = []audio.Step{
	audio.Mono{}, audio.Resample(16000), audio.Speed{0.9, 1, 1.1}, audio.Gain{-6, 6}, audio.Noise{10, 30},
	audio.RandomCrop(9000), audio.Fit(8000), only(16000), audio.Standardize{},
	audio.List{logMel, audio.SpecAugment{TimeMasks: 2, TimeMaskParam: 10, FreqMasks: 1, FreqMaskParam: 5}},
}

func TestFieldSaysWhatComesOut(t *testing.T) {
	byMel := logMel
	byMel.FramesFirst = false
	fused := extended{logMel, extractor.Extra{Copies: 4}}
	stacked := extended{logMel, extractor.Extra{Multiple: 4, Stack: 2}}
	for _, c := range []struct {
		steps []audio.Step
		want  string
	}{
		{[]audio.Step{audio.Mono{}}, `"waveform" float32 (n) ragged`},
		{[]audio.Step{audio.Fit(800)}, `"waveform" float32 (800)`},
		{[]audio.Step{audio.Fit(800), audio.Resample(8000)}, `"waveform" float32 (n) ragged`},
		{[]audio.Step{only(16000), audio.Fit(800), audio.Resample(8000)}, `"waveform" float32 (400)`},
		{[]audio.Step{logMel}, `"input_features" float32 (n, 20) ragged`},
		{[]audio.Step{audio.Fit(1600), logMel}, `"input_features" float32 (11, 20)`},
		{[]audio.Step{audio.Fit(1600), extended{byMel, extractor.Extra{Name: "mel"}}}, `"mel" float32 (20, 11)`},
		{[]audio.Step{audio.Fit(1600), fused}, `"input_features" float32 (4, 11, 20)`},
		{[]audio.Step{audio.Fit(1600), stacked}, `"input_features" float32 (6, 40)`},
		{all, `"input_features" float32 (51, 20)`},
	} {
		p := compile(t, c.steps...)
		f := p.Field()
		shape := []string{}
		if f.Ragged {
			shape = append(shape, "n")
		}
		for _, n := range f.Shape {
			shape = append(shape, fmt.Sprint(n))
		}
		got := fmt.Sprintf("%q %v (%s)", f.Name, f.Dtype, strings.Join(shape, ", "))
		if f.Ragged {
			got += " ragged"
		}
		if got != c.want {
			t.Errorf("%v: %s, want %s", p, got, c.want)
		}
		values := appended(t, p, audio.Wave{Samples: datatest.Wave(1600, 1), Rate: 16000})
		if !f.Ragged && len(values) != f.Elements() || f.Ragged && len(values)%f.Elements() != 0 {
			t.Errorf("%v: %d values for %v", p, len(values), f)
		}
	}
}

func TestStepsPrintWithoutTheFieldsThatAreZero(t *testing.T) {
	mel := extended{audio.Spectrogram{
		Rate: 16000, FrameLength: 400, HopLength: 160, Window: audio.Povey, Mel: audio.Mel{Filters: 80, Area: true}, DropLast: true, FramesFirst: true,
	}, extractor.Extra{PerFilter: extractor.CMVN}}
	list := audio.List{audio.Mono{}, audio.Preemphasis(0.5), audio.Speed{0.9, 1.1}, mel, audio.SpecAugment{TimeMasks: 1}}
	const first = "Mono, Preemphasis(0.5), Speed(0.9 1.1), Spectrogram(Rate:16000 FrameLength:400 HopLength:160 Window:Povey …), SpecAugment(TimeMasks:1)"
	if got := list.String(); got != first {
		t.Errorf("%s\nwant %s", got, first)
	}
	const all = `waveform → input_features float32 (n, 80)
  Mono
  Preemphasis(0.5)
  Speed(0.9 1.1)
  Spectrogram(Rate:16000 FrameLength:400 HopLength:160 Window:Povey Mel.Filters:80 Mel.Area DropLast
      FramesFirst PerFilter:CMVN)
  SpecAugment(TimeMasks:1)
`
	if got := compile(t, list).String(); got != all {
		t.Errorf("%s\nwant %s", got, all)
	}
}

func TestCompileSaysEverythingThatIsWrong(t *testing.T) {
	_, err := audio.Compile(audio.Resample(0), nil, audio.Fit(-1), audio.SpecAugment{}, audio.Gain{3, 1},
		audio.Spectrogram{Rate: 16000, FrameLength: 1, HopLength: 0, Log: 9}, audio.Speed{}, only(0), audio.RandomCrop(0))
	for _, want := range []string{"Resample(0): want 1", "a step is nil", "Fit(-1): want 1", "SpecAugment: it is for features", "Gain(3 1): want two",
		"field FrameLength: want 2", "field HopLength: want 1", "field Log: want 0", "Speed()", "Resample(0 Only): want 1", "RandomCrop(0)"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v\nwant %q", err, want)
		}
	}
	for _, steps := range [][]audio.Step{nil, {logMel, logMel}, {logMel, audio.Mono{}}, {only(8000), logMel},
		{audio.Spectrogram{Rate: 16000, FrameLength: 131, HopLength: 10}}, {logMel, audio.Fit(4)}, {audio.List{}},
		{audio.Gain{0, math.NaN()}}, {audio.Speed{0}}} {
		if c, err := audio.Compile(steps...); err == nil {
			t.Errorf("%v: no error", c)
		}
	}
}

// TestTypesThatEmbedAStepPrint: such a type is a step, and its fields may be of any type and unexported.
func TestTypesThatEmbedAStepPrint(t *testing.T) {
	type named struct {
		audio.Speed
		name string
	}
	_, err := audio.Compile(named{audio.Speed{0}, "slow"})
	if want := "audio: named(Speed:[0] name:slow): a factor is 0"; err == nil || !strings.HasPrefix(err.Error(), want) {
		t.Errorf("%v, want %s", err, want)
	}
}

func TestErrorsSayWhatAWaveformMustBe(t *testing.T) {
	x := datatest.Wave(1000, 1)
	for _, c := range []struct {
		step audio.Step
		wave audio.Wave
		want string
	}{
		{logMel, audio.Wave{Samples: x, Rate: 8000}, "has 8000 samples per second: want 16000"},
		{logMel, audio.Wave{Samples: x, Rate: 16000, Channels: 2}, "has 2 channels: want 1, or Mono"},
		{logMel, audio.Wave{Samples: nil, Rate: 16000}, "too few"},
		{logMel, audio.Wave{Samples: x, Rate: 0}, "0 samples per second: want 1"},
		{audio.Mono{}, audio.Wave{Samples: x, Rate: 16000, Channels: 3}, "1000 samples of 3 channels: want as many"},
		{audio.Mono{}, audio.Wave{Samples: x, Rate: 16000, Channels: -2}, ""},
		{extended{audio.Fit(10), extractor.Extra{Whole: true}}, audio.Wave{Samples: x, Rate: 16000}, "has 1000 samples: want 10 at most"},
		{audio.Resample(16000), audio.Wave{Samples: x, Rate: 166}, "a waveform of 166 samples per second: want at least 167 to make 16000 of them"},
		{audio.Resample(16000), audio.Wave{Samples: x, Rate: 167}, ""},
		{audio.Resample(767999), audio.Wave{Samples: x, Rate: 768000}, "too large a filter"},
		{only(16000), audio.Wave{Samples: x, Rate: 48000}, "want 16000"},
		{audio.Speed{0.1}, audio.Wave{Samples: x, Rate: 3}, "would be one of 0"},
	} {
		_, err := compile(t, c.step).Append(nil, c.wave)
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%v of %d: error %v, want %q", c.step, len(c.wave.Samples), err, c.want)
		}
	}
	if err := compile(t, audio.Mono{}).Into(make([]float32, 3), audio.Wave{Samples: x, Rate: 1}); err == nil || !strings.Contains(err.Error(), "dst has 3 values: want 1000") {
		t.Errorf("dst of another length: %v", err)
	}
}

// TestResultsDependOnNothingElse: the same wave and seed give the same values from Into, Append and Open, from many goroutines at once and
// after waves of other lengths and rates.
func TestResultsDependOnNothingElse(t *testing.T) {
	c := compile(t, all...)
	waves := []audio.Wave{
		{Samples: datatest.Wave(30000, 1), Rate: 16000, Seed: 1}, {Samples: datatest.Wave(44100, 2), Rate: 44100, Channels: 2, Seed: 2},
		{Samples: datatest.Wave(90000, 3), Rate: 48000, Channels: 3, Seed: 3}, {Samples: datatest.Wave(4000, 4), Rate: 8000, Seed: 4},
	}
	var want [][]float32
	for _, w := range waves {
		want = append(want, appended(t, compile(t, all...), w))
	}
	var group sync.WaitGroup
	for g := range 8 {
		group.Go(func() {
			dst := make([]float32, c.Field().Elements())
			for k := range 3 * len(waves) {
				i := (g + k) % len(waves)
				before := slices.Clone(waves[i].Samples)
				if err := c.Into(dst, waves[i]); err != nil || !slices.Equal(dst, want[i]) {
					t.Errorf("wave %d: other values, %v", i, err)
				}
				if !slices.Equal(waves[i].Samples, before) {
					t.Errorf("wave %d has changed", i)
				}
			}
		})
	}
	group.Wait()
	if a := appended(t, c, waves[0]); slices.Equal(a, appended(t, c, audio.Wave{Samples: waves[0].Samples, Rate: 16000, Seed: 9})) {
		t.Error("another seed gives the same values")
	}
}

// TestOpenWritesIntoSlots: what a dataset gets is what Append makes, and nothing is allocated.
func TestOpenWritesIntoSlots(t *testing.T) {
	x := datatest.Wave(8000, 1)
	for _, c := range []*audio.Compiled{compile(t, audio.Mono{}, audio.Fit(4000)), compile(t, audio.Mono{}, logMel), compile(t, audio.Mono{})} {
		do, err := c.Open()
		if err != nil {
			t.Fatal(err)
		}
		slot := dataset.NewSlot(c.Field())
		place := func() {
			if err := do(slot, x, 2, 16000); err != nil {
				t.Fatal(err)
			}
		}
		place()
		if got, want := dataset.Row[float32](slot, 0), appended(t, c, audio.Wave{Samples: x, Channels: 2, Rate: 16000}); !slices.Equal(got, want) {
			t.Errorf("%v: other values", c)
		}
		if n := allocs.PerRun(0, 10, place); n != 0 {
			t.Errorf("%v: %v allocations", c, n)
		}
	}
	byMel := logMel
	byMel.FramesFirst = false
	if _, err := compile(t, byMel).Open(); err == nil || !strings.Contains(err.Error(), "FramesFirst") {
		t.Errorf("frames in columns, and their number varies: %v", err)
	}
}

func TestFitAndCrop(t *testing.T) {
	x := []float32{1, 2, 3}
	for _, c := range []struct {
		step audio.Step
		want string
	}{
		{audio.Fit(2), "[1 2]"},
		{extended{audio.Fit(5), extractor.Extra{Value: 9}}, "[1 2 3 9 9]"},
		{extended{audio.Fit(8), extractor.Extra{Repeat: true}}, "[1 2 3 1 2 3 0 0]"},
		{audio.RandomCrop(4), "[1 2 3 0]"},
		{audio.RandomCrop(3), "[1 2 3]"},
		{audio.Gain{20, 20}, "[10 20 30]"},
	} {
		if got := fmt.Sprint(appended(t, compile(t, c.step), audio.Wave{Samples: x, Rate: 1})); got != c.want {
			t.Errorf("%v: %s, want %s", c.step, got, c.want)
		}
	}
	seen := map[float32]int{}
	crop := compile(t, audio.RandomCrop(1))
	for seed := range uint64(300) {
		seen[appended(t, crop, audio.Wave{Samples: x, Rate: 1, Seed: seed})[0]]++
	}
	for v := range x {
		if n := seen[x[v]]; n < 60 || n > 140 {
			t.Errorf("a crop begins at %v %d times of 300", x[v], n)
		}
	}
}

// TestResampledPartsAreThoseOfTheWhole: a step that takes a part has the samples that it takes of the whole result, and no more are computed.
func TestResampledPartsAreThoseOfTheWhole(t *testing.T) {
	for _, first := range []audio.Step{audio.Resample(16000), audio.Speed{0.9, 1, 1.1}} {
		for _, part := range []audio.Step{audio.Fit(2000), audio.Fit(9000), audio.RandomCrop(700), audio.RandomCrop(9000)} {
			for _, rate := range []int{8000, 16000, 44100} {
				for seed := range uint64(5) {
					wave := audio.Wave{Samples: datatest.Wave(7000, 1), Rate: rate, Seed: seed}
					// A step between them that changes nothing lets the first one do the whole.
					want := appended(t, compile(t, first, audio.Preemphasis(0), part), wave)
					if got := appended(t, compile(t, first, part), wave); !slices.Equal(got, want) {
						t.Fatalf("%v and %v of %d samples per second, seed %d: other values", first, part, rate, seed)
					}
				}
			}
		}
	}
	wave := audio.Wave{Samples: datatest.Wave(400000, 1), Rate: 8000}
	for _, part := range []audio.Step{audio.Fit(100), audio.RandomCrop(100)} {
		if n := allocs.Bytes(20000, func() { appended(t, compile(t, audio.Resample(16000), part), wave) }); n > 20000 {
			t.Errorf("%v takes %d bytes", part, n)
		}
	}
	if _, err := compile(t, audio.Resample(16000), audio.Fit(100)).Append(nil, audio.Wave{Samples: wave.Samples, Channels: 2, Rate: 8000}); err == nil {
		t.Error("two channels for Fit: no error")
	}
}

func TestMonoIsTheMeanOfChannels(t *testing.T) {
	got := appended(t, compile(t, audio.Mono{}), audio.Wave{Samples: []float32{1, 2, 3, 4, 8, 9}, Channels: 3, Rate: 1})
	if !slices.Equal(got, []float32{4, 5}) {
		t.Errorf("%v, want [4 5]", got)
	}
}

// TestNoiseHasItsPower: at 20 decibels below a wave it has a hundredth of its power.
func TestNoiseHasItsPower(t *testing.T) {
	x := datatest.Wave(100000, 1)
	y := appended(t, compile(t, audio.Noise{20, 20}), audio.Wave{Samples: x, Rate: 1})
	var signal, noise, mean float64
	for i := range x {
		d := float64(y[i]) - float64(x[i])
		signal, noise, mean = signal+float64(x[i])*float64(x[i]), noise+d*d, mean+d
	}
	if r := noise / signal * 100; r < 0.98 || r > 1.02 || math.Abs(mean)/math.Sqrt(noise*float64(len(x))) > 0.02 {
		t.Errorf("the noise has %.3f of its power, and the mean %v", r, mean)
	}
	if y := appended(t, compile(t, audio.Noise{20, 20}), audio.Wave{Samples: make([]float32, 10), Rate: 1}); !slices.Equal(y, make([]float32, 10)) {
		t.Errorf("noise on silence: %v", y)
	}
}

func TestSpecAugmentHidesRuns(t *testing.T) {
	s := logMel
	for _, framesFirst := range []bool{true, false} {
		s.FramesFirst = framesFirst
		wave := audio.Wave{Samples: datatest.Wave(16000, 1), Rate: 16000}
		plain := appended(t, compile(t, s), wave)
		frames, filters := len(plain)/20, 20
		masked := compile(t, s, audio.SpecAugment{TimeMasks: 1, TimeMaskParam: 30, FreqMasks: 1, FreqMaskParam: 8, Value: -99})
		longest := [2]int{}
		for seed := range uint64(200) {
			wave.Seed = seed
			got := appended(t, masked, wave)
			hidden := func(frame, filter int) bool {
				i := frame*filters + filter
				if !framesFirst {
					i = filter*frames + frame
				}
				if got[i] != -99 && got[i] != plain[i] {
					t.Fatalf("value %d is %v, and was %v", i, got[i], plain[i])
				}
				return got[i] == -99
			}
			var rows, columns []int // hidden as a whole
			for f := range frames {
				if !slices.ContainsFunc(numbers(filters), func(k int) bool { return !hidden(f, k) }) {
					rows = append(rows, f)
				}
			}
			for k := range filters {
				if !slices.ContainsFunc(numbers(frames), func(f int) bool { return !hidden(f, k) }) {
					columns = append(columns, k)
				}
			}
			count := 0
			for _, v := range got {
				if v == -99 {
					count++
				}
			}
			if count != len(rows)*filters+len(columns)*frames-len(rows)*len(columns) {
				t.Fatalf("%d values are hidden, with %d frames and %d filters", count, len(rows), len(columns))
			}
			for _, run := range [][]int{rows, columns} {
				if len(run) > 0 && run[len(run)-1]-run[0] != len(run)-1 {
					t.Fatalf("hidden: %v", run)
				}
			}
			longest = [2]int{max(longest[0], len(rows)), max(longest[1], len(columns))}
		}
		if longest[0] < 25 || longest[0] > 29 || longest[1] < 6 || longest[1] > 7 {
			t.Errorf("the longest runs have %v frames and filters, want up to 29 and 7", longest)
		}
	}
}

// TestSpecAugmentHidesTheSameInAllCopies: a model of fused features gets equal ones.
func TestSpecAugmentHidesTheSameInAllCopies(t *testing.T) {
	s := logMel
	for _, framesFirst := range []bool{true, false} {
		s.FramesFirst = framesFirst
		c := compile(t, audio.Fit(16000), extended{s, extractor.Extra{Copies: 3}}, audio.SpecAugment{TimeMasks: 1, TimeMaskParam: 30, FreqMasks: 1, FreqMaskParam: 8, Value: -99})
		got := appended(t, c, audio.Wave{Samples: datatest.Wave(16000, 1), Rate: 16000, Seed: 1})
		n := len(got) / 3
		if !slices.Contains(got[:n], -99) {
			t.Fatal("nothing is hidden")
		}
		for k := 1; k < 3; k++ {
			if !slices.Equal(got[k*n:][:n], got[:n]) {
				t.Errorf("FramesFirst %v: copy %d differs from the first one", framesFirst, k)
			}
		}
	}
}

func numbers(n int) (all []int) {
	for i := range n {
		all = append(all, i)
	}
	return all
}

func TestWindowsCoverARecording(t *testing.T) {
	for _, c := range []struct {
		n, length, step int
		want            string
	}{
		{0, 30, 30, "0-0"}, {10, 30, 30, "0-10"}, {30, 30, 30, "0-30"}, {31, 30, 30, "0-30 30-31"}, {60, 30, 30, "0-30 30-60"},
		{100, 30, 25, "0-30 25-55 50-80 75-100"}, {50, 10, 20, "0-10 20-30 40-50"}, {5, math.MaxInt, math.MaxInt, "0-5"}, {5, 2, math.MaxInt, "0-2"},
	} {
		var got []string
		for from, to := range audio.Windows(c.n, c.length, c.step) {
			got = append(got, fmt.Sprintf("%d-%d", from, to))
		}
		if s := strings.Join(got, " "); s != c.want {
			t.Errorf("%v: %s, want %s", c, s, c.want)
		}
	}
}

// TestHostileWavesEnd: not-a-numbers, infinities and any length and rate give values or errors, and no panic.
func TestHostileWavesEnd(t *testing.T) {
	inf := float32(math.Inf(1))
	for _, c := range []*audio.Compiled{compile(t, all...), compile(t, audio.Mono{}, audio.Resample(16000), logMel), compile(t, audio.Standardize{})} {
		for _, x := range [][]float32{nil, {}, {1}, {inf}, {inf, -inf, float32(math.NaN()), 1e-45, math.MaxFloat32}, make([]float32, 3)} {
			for _, rate := range []int{-1, 0, 1, 7, 16000, 44100, 768000, math.MaxInt32} {
				for _, channels := range []int{-1, 0, 1, 2, 3, math.MaxInt32} {
					_, _ = c.Append(nil, audio.Wave{Samples: x, Rate: rate, Channels: channels})
				}
			}
		}
	}
}

func ExampleCompile() {
	c, err := audio.Compile(
		audio.Mono{},
		audio.Resample(16000),
		audio.Fit(16000),
		audio.Spectrogram{Rate: 16000, FrameLength: 400, HopLength: 160, Mel: audio.Mel{Filters: 80}, Floor: 1e-10, Log: audio.Log10},
		audio.SpecAugment{TimeMasks: 2, TimeMaskParam: 20, FreqMasks: 2, FreqMaskParam: 10},
	)
	if err != nil {
		fmt.Println(err)
		return
	}
	stereo := make([]float32, 2*44100) // one second
	features := make([]float32, c.Field().Elements())
	err = c.Into(features, audio.Wave{Samples: stereo, Channels: 2, Rate: 44100})
	fmt.Println(c.Field(), err)
	// Output:
	// input_features float32 (80, 101) <nil>
}

func ExampleWindows() {
	const rate = 16000
	recording := make([]float32, 70*rate)
	for from, to := range audio.Windows(len(recording), 30*rate, 30*rate) {
		fmt.Println(from/rate, "to", to/rate, "seconds")
	}
	// Output:
	// 0 to 30 seconds
	// 30 to 60 seconds
	// 60 to 70 seconds
}

func ExampleCompiled_Open() {
	c, err := audio.Compile(audio.Mono{}, audio.Gain{-6, 6}, audio.Noise{10, 30}, audio.RandomCrop(4))
	if err != nil {
		fmt.Println(err)
		return
	}
	do, err := c.Open() // once per worker
	if err != nil {
		fmt.Println(err)
		return
	}
	ds := dataset.Func(1, dataset.Spec{c.Field()}, func(_ context.Context, i int, dst dataset.Slot) error {
		return do(dst, []float32{0, 0, 0, 0, 0, 0}, 1, 16000)
	})
	s, err := dataset.At(context.Background(), ds, 0)
	fmt.Println(s["waveform"].Data(), err)
	// Output:
	// [0 0 0 0] <nil>
}
