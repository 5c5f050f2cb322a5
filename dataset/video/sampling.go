package video

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"sort"
)

// A Sampling says which frames of a video are its clips. The functions ClipsAt… make one, with the rules of torchcodec's samplers of these
// names. Random clips follow from the loader's seed, the epoch and the sample's place in the order, and from nothing else.
type Sampling struct {
	name          string
	random, times bool
	clips         int     // of a video; 0 where every says it
	every         float64 // seconds from the beginning of a clip to that of the next one
	frames        int     // of a clip
	between       int     // indices
	seconds       float64 // between frames; 0: the average
	start, end    float64 // of the range in which clips begin; NaN is the usual one
	beyond        beyond
	errs          []error
}

// A beyond is what becomes of a clip that reaches beyond the end of the video.
type beyond uint8

const (
	repeatLast beyond = iota
	wrap
	fail
)

// A ClipOption is an option of the functions that make a [Sampling].
type ClipOption struct{ set func(*Sampling) }

// NumIndicesBetweenFrames is how many frames further on the next frame of a clip is: num_indices_between_frames. The default is 1. It is for
// clips at indices.
func NumIndicesBetweenFrames(n int) ClipOption {
	return ClipOption{func(s *Sampling) {
		s.between = n
		s.check(n >= 1 && n <= math.MaxInt32, "NumIndicesBetweenFrames(%d): want 1 or more", n)
		s.check(!s.times, "NumIndicesBetweenFrames: want SecondsBetweenFrames for clips at times")
	}}
}

// SecondsBetweenFrames is the time from a frame of a clip to the next one: seconds_between_frames. The default is the average of the video. It
// is for clips at times.
func SecondsBetweenFrames(seconds float64) ClipOption {
	return ClipOption{func(s *Sampling) {
		s.seconds = seconds
		s.check(seconds > 0 && !math.IsInf(seconds, 1), "SecondsBetweenFrames(%v): want a number above 0", seconds)
		s.check(s.times, "SecondsBetweenFrames: want NumIndicesBetweenFrames for clips at indices")
	}}
}

// SamplingRange is where clips may begin, from start to before end: sampling_range_start and sampling_range_end, which are indices or seconds.
// Negative indices count from the number of frames. NaN is what torchcodec has without the argument: the beginning of the video, and the last
// place from which a clip does not reach beyond its end.
func SamplingRange(start, end float64) ClipOption {
	return ClipOption{func(s *Sampling) {
		s.start, s.end = start, end
		for _, x := range []float64{start, end} {
			s.check(!math.IsInf(x, 0) && math.Abs(x) != math.MaxFloat64, "SamplingRange(%v, %v): want finite numbers", start, end)
			s.check(s.times || x != x || x == math.Trunc(x) && math.Abs(x) < 1<<31, "SamplingRange(%v, %v): want whole numbers for clips at indices", start, end)
		}
	}}
}

// Wrap begins a clip anew when it reaches beyond the end of the video: policy="wrap". Without it the last frame that it has is repeated.
func Wrap() ClipOption { return ClipOption{func(s *Sampling) { s.beyond = wrap }} }

// Error makes a clip that reaches beyond the end of the video an error of the sample: policy="error".
func Error() ClipOption { return ClipOption{func(s *Sampling) { s.beyond = fail }} }

// ClipsAtRandomIndices makes clips of a number of frames each, which begin at random frames: torchcodec's clips_at_random_indices. Every video
// has so many of them in an epoch.
func ClipsAtRandomIndices(clips, frames int, options ...ClipOption) Sampling {
	return sampling("ClipsAtRandomIndices", true, false, clips, 0, frames, options)
}

// ClipsAtRegularIndices makes clips that begin at frames with equal distances: torchcodec's clips_at_regular_indices.
func ClipsAtRegularIndices(clips, frames int, options ...ClipOption) Sampling {
	return sampling("ClipsAtRegularIndices", false, false, clips, 0, frames, options)
}

// ClipsAtRandomTimestamps makes clips that begin at random times, whose frames are those shown at equal distances of time: torchcodec's
// clips_at_random_timestamps.
func ClipsAtRandomTimestamps(clips, frames int, options ...ClipOption) Sampling {
	return sampling("ClipsAtRandomTimestamps", true, true, clips, 0, frames, options)
}

// ClipsAtRegularTimestamps makes clips that begin every so many seconds: torchcodec's clips_at_regular_timestamps. How many a video has depends on
// how long it is.
func ClipsAtRegularTimestamps(secondsBetweenClipStarts float64, frames int, options ...ClipOption) Sampling {
	return sampling("ClipsAtRegularTimestamps", false, true, 0, secondsBetweenClipStarts, frames, options)
}

func sampling(name string, random, times bool, clips int, every float64, frames int, options []ClipOption) Sampling {
	s := Sampling{name: name, random: random, times: times, clips: clips, every: every, frames: frames, between: 1, start: math.NaN(), end: math.NaN()}
	s.check(frames >= 1 && frames <= maxFrames, "want 1 to %d frames", maxFrames)
	if times && !random {
		s.check(every > 0 && !math.IsInf(every, 1), "want a number of seconds above 0")
	} else {
		s.check(clips >= 1 && clips <= maxClips, "want 1 to %d clips", maxClips)
	}
	for _, o := range options {
		if o.set != nil {
			o.set(&s)
		}
	}
	return s
}

const (
	maxFrames = 1 << 16 // of a clip
	maxClips  = 1 << 24 // of a video
)

func (s *Sampling) check(ok bool, format string, args ...any) {
	if !ok {
		s.errs = append(s.errs, fmt.Errorf(format, args...))
	}
}

// mistakes are what is wrong with the arguments.
func (s *Sampling) mistakes() error {
	if s.name == "" {
		return errors.New("want a Sampling, such as ClipsAtRandomIndices(1, 16)")
	}
	if err := errors.Join(s.errs...); err != nil {
		return fmt.Errorf("%s: %w", s.name, err)
	}
	return nil
}

// A timeline is the frames of a video in the order in which they are shown.
type timeline struct {
	n       int
	seconds func(i int) float64 // when frame i is shown; nil if frames have no times
	end     float64             // of the last frame
}

func (t *timeline) fps() float64 { return float64(t.n) / (t.end - t.seconds(0)) }

// at is the frame that is shown at that time: the last one that has begun, or the first.
func (t *timeline) at(seconds float64) int {
	return max(0, sort.Search(t.n, func(i int) bool { return t.seconds(i) > seconds })-1)
}

// indices are the first frames at which clips may begin: from low to before high.
func (s *Sampling) indices(n int) (low, high int, err error) {
	span := int64(s.between)*int64(s.frames-1) + 1
	high = int(max(int64(n)-span+1, 1))
	if s.start == s.start {
		low = int(s.start)
	}
	if s.end == s.end {
		if high = int(s.end); high < 0 {
			high += n
		}
		high = min(high, n)
	}
	if low < 0 {
		low += n
	}
	if low < 0 || low >= high {
		return 0, 0, fmt.Errorf("the video has %d frames: no clip begins at %d or later and before %d", n, low, high)
	}
	return low, high, nil
}

// span is where clips may begin in time, from low to before high, and the time between their frames.
func (s *Sampling) span(t *timeline) (low, high, between float64, err error) {
	if t.seconds == nil {
		return 0, 0, 0, errors.New("the frames have no times: want clips at indices")
	}
	begin := t.seconds(0)
	if between = s.seconds; between == 0 {
		between = 1 / t.fps()
	}
	low, high = begin, t.end-float64(s.frames-1)*between
	if s.start == s.start {
		low = s.start
	}
	if s.end == s.end {
		high = min(s.end, t.end)
	}
	if low < begin || low >= high {
		return 0, 0, 0, fmt.Errorf("the video has the seconds %v to %v: no clip begins at %v or later and before %v", begin, t.end, low, high)
	}
	return low, high, between, nil
}

// count is how many clips a video has.
func (s *Sampling) count(t *timeline) (int, error) {
	if t.n < 1 {
		return 0, errors.New("the video has no frames")
	}
	if !s.times {
		_, _, err := s.indices(t.n)
		return s.clips, err
	}
	low, high, _, err := s.span(t)
	if err != nil || s.random {
		return s.clips, err
	}
	clips := math.Ceil((high - low) / s.every)
	if clips > maxClips {
		return 0, fmt.Errorf("the video has %v clips: want %d at most", clips, maxClips)
	}
	n := int(clips)
	for n > 1 && s.begin(low, n-1) >= high {
		n--
	}
	return n, nil
}

// begin is when a regular clip begins, if the first one does at low.
func (s *Sampling) begin(low float64, clip int) float64 { return low + float64(s.every*float64(clip)) }

// pick appends the frames of a clip. Random gives the random numbers of the sample.
func (s *Sampling) pick(t *timeline, clip int, random func() *rand.Rand, frames []int) ([]int, error) {
	before := len(frames)
	if s.times {
		low, high, between, err := s.span(t)
		if err != nil {
			return frames, err
		}
		begin := s.begin(low, clip)
		if s.random {
			begin = float64(random().Float64()*(high-low)) + low
		}
		for i := range s.frames {
			at := begin + float64(float64(i)*between)
			if i > 0 && at >= t.end {
				break
			}
			frames = append(frames, t.at(at))
		}
	} else {
		low, high, err := s.indices(t.n)
		if err != nil {
			return frames, err
		}
		begin := linspace(low, high-1, s.clips, clip)
		if s.random {
			begin = low + random().IntN(high-low)
		}
		for i, at := 0, int64(begin); i < s.frames && at < int64(t.n); i, at = i+1, at+int64(s.between) {
			frames = append(frames, int(at))
		}
	}
	has := len(frames) - before
	if has < s.frames && s.beyond == fail {
		return frames, fmt.Errorf("the clip has %d frames before the end of the video, want %d", has, s.frames)
	}
	for i := has; i < s.frames; i++ {
		from := has - 1
		if s.beyond == wrap {
			from = i % has
		}
		frames = append(frames, frames[before+from])
	}
	return frames, nil
}

// linspace is element k of torch.linspace(first, last, n, dtype=torch.int), which truncates doubles and counts the second half from the end.
func linspace(first, last, n, k int) int {
	if n == 1 {
		return first
	}
	step := float64(last-first) / float64(n-1)
	if k < n/2 {
		return int(float64(first) + float64(step*float64(k)))
	}
	return int(float64(last) - float64(step*float64(n-1-k)))
}
