package video

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/penstock-go/penstock/internal/datatest"
)

// samplers holds what torchcodec's samplers take, which testdata/samplers.py wrote.
type samplers struct {
	Indices []struct {
		N, Clips, Frames, Between int
		Start, End                *float64
		Policy                    string
		Error                     bool
		Want                      []int
	}
	Times []struct {
		Pts            []float64
		End            float64
		Every, Between *float64
		Frames         int
		Start, Stop    *float64
		Policy         string
		Error          bool
		Want           []int
	}
}

func option(start, end *float64) ClipOption {
	of := func(x *float64) float64 {
		if x == nil {
			return math.NaN()
		}
		return *x
	}
	return SamplingRange(of(start), of(end))
}

func policy(name string) ClipOption {
	return map[string]ClipOption{"wrap": Wrap(), "error": Error()}[name]
}

// all are the frames of all clips.
func all(s Sampling, t *timeline) (frames []int, err error) {
	if err := s.mistakes(); err != nil {
		return nil, err
	}
	n, err := s.count(t)
	for k := 0; k < n && err == nil; k++ {
		frames, err = s.pick(t, k, func() *rand.Rand { panic("regular clips draw") }, frames)
	}
	return frames, err
}

func TestRegularClipsAreTorchcodecs(t *testing.T) {
	var g samplers
	datatest.JSON(t, "testdata/samplers.json", &g)
	if len(g.Indices) < 500 || len(g.Times) < 300 {
		t.Fatalf("%d and %d samplers", len(g.Indices), len(g.Times))
	}
	for _, c := range g.Indices {
		s := ClipsAtRegularIndices(c.Clips, c.Frames, NumIndicesBetweenFrames(c.Between), option(c.Start, c.End), policy(c.Policy))
		if got, err := all(s, &timeline{n: c.N}); (err != nil) != c.Error || !c.Error && !slices.Equal(got, c.Want) {
			t.Fatalf("%+v: got %v, %v", c, got, err)
		}
	}
	for _, c := range g.Times {
		options := []ClipOption{option(c.Start, c.Stop), policy(c.Policy)}
		if c.Between != nil {
			options = append(options, SecondsBetweenFrames(*c.Between))
		}
		line := &timeline{n: len(c.Pts), seconds: func(i int) float64 { return c.Pts[i] }, end: c.End}
		if got, err := all(ClipsAtRegularTimestamps(*c.Every, c.Frames, options...), line); (err != nil) != c.Error || !c.Error && !slices.Equal(got, c.Want) {
			t.Fatalf("%+v: got %v, %v", c, got, err)
		}
	}
}

func TestRandomClipsBeginAnywhereInTheirRange(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	begins := map[int]int{}
	s := ClipsAtRandomIndices(1, 3, NumIndicesBetweenFrames(2), SamplingRange(-8, math.NaN()))
	for range 4000 {
		frames, err := s.pick(&timeline{n: 12}, 0, func() *rand.Rand { return r }, nil)
		if err != nil || len(frames) != 3 || frames[1] != frames[0]+2 || frames[2] != frames[0]+4 {
			t.Fatal(frames, err)
		}
		begins[frames[0]]++
	}
	for i := 4; i < 8; i++ {
		if begins[i] < 800 || begins[i] > 1200 {
			t.Errorf("%d of 4000 clips begin at frame %d, want about 1000", begins[i], i)
		}
	}
	if len(begins) != 4 {
		t.Errorf("clips begin at %v", begins)
	}
	line := &timeline{n: 100, seconds: func(i int) float64 { return 5 + float64(i)/25 }, end: 9}
	s = ClipsAtRandomTimestamps(1, 4, SecondsBetweenFrames(0.5))
	least, most := 100, 0
	for range 4000 {
		frames, err := s.pick(line, 0, func() *rand.Rand { return r }, nil)
		if err != nil || len(frames) != 4 {
			t.Fatal(frames, err)
		}
		least, most = min(least, frames[0]), max(most, frames[0])
		if d := frames[3] - frames[0]; d < 37 || d > 38 {
			t.Fatalf("frames %v are not 1.5 s apart", frames)
		}
	}
	if least != 0 || most != 62 {
		t.Errorf("clips begin at frames %d to %d, want 0 to 62", least, most)
	}
}

// TestFramesThatAreFarApart: an int of 32 bits does not hold where the last of them would be.
func TestFramesThatAreFarApart(t *testing.T) {
	far := NumIndicesBetweenFrames(math.MaxInt32)
	for _, c := range []struct {
		sampling Sampling
		want     int
	}{
		{ClipsAtRegularIndices(2, 3, far), 0},
		{ClipsAtRegularIndices(2, 3, far, SamplingRange(5, 6)), 5},
	} {
		got, err := c.sampling.pick(&timeline{n: 10}, 1, nil, nil)
		if want := []int{c.want, c.want, c.want}; err != nil || !slices.Equal(got, want) {
			t.Errorf("frames %v, %v, want %v", got, err, want)
		}
	}
}

func TestMistakesOfSamplingsAreErrors(t *testing.T) {
	nan := math.NaN()
	for want, s := range map[string]Sampling{
		"want a Sampling":                      {},
		"want 1 to 16777216 clips":             ClipsAtRandomIndices(0, 1),
		"want 1 to 65536 frames":               ClipsAtRegularIndices(1, 0),
		"want a number of seconds above 0":     ClipsAtRegularTimestamps(nan, 1),
		"NumIndicesBetweenFrames(0)":           ClipsAtRandomIndices(1, 1, NumIndicesBetweenFrames(0)),
		"SecondsBetweenFrames(-1)":             ClipsAtRandomTimestamps(1, 1, SecondsBetweenFrames(-1)),
		"want SecondsBetweenFrames for clips":  ClipsAtRandomTimestamps(1, 1, NumIndicesBetweenFrames(2)),
		"want NumIndicesBetweenFrames for":     ClipsAtRandomIndices(1, 1, SecondsBetweenFrames(2)),
		"want whole numbers":                   ClipsAtRandomIndices(1, 1, SamplingRange(0.5, nan)),
		"want finite numbers":                  ClipsAtRandomTimestamps(1, 1, SamplingRange(0, math.Inf(1))),
		"no clip begins at 9 or later":         ClipsAtRandomIndices(1, 1, SamplingRange(9, 9)),
		"no clip begins at -3 or later":        ClipsAtRandomIndices(1, 1, SamplingRange(-13, nan)),
		"no clip begins at 0 or later and bef": ClipsAtRandomIndices(1, 1, SamplingRange(nan, -10)),
		"have no times":                        ClipsAtRandomTimestamps(1, 1),
		"the clip has 10 frames before":        ClipsAtRegularIndices(1, 11, Error()),
	} {
		if _, err := all(s, &timeline{n: 10}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
	}
	line := &timeline{n: 10, seconds: func(i int) float64 { return float64(i) }, end: 10}
	for want, s := range map[string]Sampling{
		"the video has 1e+09 clips":        ClipsAtRegularTimestamps(1e-8, 1),
		"no clip begins at 10 or later":    ClipsAtRegularTimestamps(1, 1, SamplingRange(10, nan)),
		"no clip begins at -1 or later":    ClipsAtRegularTimestamps(1, 1, SamplingRange(-1, nan)),
		"no clip begins at 0 or later and": ClipsAtRegularTimestamps(1, 12),
	} {
		if _, err := all(s, line); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
	}
	if got := fmt.Sprint(line.fps()); got != "1" {
		t.Errorf("%s frames per second", got)
	}
}
