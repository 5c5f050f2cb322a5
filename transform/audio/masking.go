package audio

import (
	"errors"
	"math"
	"math/rand/v2"
)

// SpecAugment hides parts of a spectrogram: some runs of frames, and some runs of mel filters, each of a length and at a place drawn at
// random as torchaudio's SpecAugment, TimeMasking and FrequencyMasking draw them. It comes after a [Spectrogram].
type SpecAugment struct {
	// TimeMasks is how many runs of frames are hidden, each shorter than TimeMaskParam.
	TimeMasks, TimeMaskParam int
	// FreqMasks is how many runs of filters are hidden, each shorter than FreqMaskParam.
	FreqMasks, FreqMaskParam int
	// Portion is the part of all frames that one run of them hides at most. 0 is 1.
	Portion float64
	// Value is what hidden features become.
	Value float32
	// Mean says that they become the mean of all features instead.
	Mean bool
}

func (m SpecAugment) prepare(s *state) (plan, error) {
	const most = 1 << 20
	switch {
	case !s.features:
		return nil, errors.New("it is for features: want it after the Spectrogram")
	case min(m.TimeMasks, m.TimeMaskParam, m.FreqMasks, m.FreqMaskParam) < 0, max(m.TimeMaskParam, m.FreqMaskParam) > most, max(m.TimeMasks, m.FreqMasks) > 1<<10:
		return nil, errors.New("want 0 to 1024 masks, and their lengths from 0 to 1048576")
	case !(m.Portion >= 0 && m.Portion <= 1):
		return nil, errors.New("field Portion: want 0 to 1")
	}
	if m.Portion == 0 {
		m.Portion = 1
	}
	return m, nil
}

func (m SpecAugment) open() runner { return m }

func (m SpecAugment) run(w *worker) error {
	from := w.data
	out, err := w.room(len(from))
	if err != nil {
		return err
	}
	copy(out, from)
	w.data = out
	value := m.Value
	if m.Mean {
		var sum float64
		for _, v := range out {
			sum += float64(v)
		}
		value = float32(sum / float64(len(out)))
	}
	frames, filters := w.rows, w.columns
	if w.byMel {
		frames, filters = filters, frames
	}
	hide := func(from, to int, rows bool) {
		for at := range len(out) / w.columns { // the rows of all copies
			row, r := out[at*w.columns:][:w.columns], at%w.rows
			switch {
			case !rows:
				row = row[from:to]
			case r < from || r >= to:
				continue
			}
			for i := range row {
				row[i] = value
			}
		}
	}
	for range m.TimeMasks {
		longest := m.TimeMaskParam
		if m.Portion < 1 {
			longest = min(longest, int(float64(frames)*m.Portion))
		}
		start, end := drawMask(w.random, longest, frames)
		hide(start, end, !w.byMel)
	}
	for range m.FreqMasks {
		start, end := drawMask(w.random, m.FreqMaskParam, filters)
		hide(start, end, w.byMel)
	}
	return nil
}

// drawMask draws a run of fewer than longest out of n, by torchaudio's rule.
func drawMask(r *rand.Rand, longest, n int) (from, to int) {
	length := r.Float64() * float64(min(longest, n))
	start := math.Floor(r.Float64() * (float64(n) - length))
	from = min(int(start), n)
	return from, min(from+int(length), n)
}
