package audio

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/penstock-go/penstock/internal/sound"
	"github.com/penstock-go/penstock/transform/internal/extractor"
)

const lanes = sound.Lanes

// A group computes features, as many frames at a time as there are lanes.
type group struct {
	*spectral
	source [lanes][]float32 // the samples of each frame
	edges  [lanes][]float32 // memory for those at the ends of the waveform
	frames []sound.Vec      // what is transformed
	work   []sound.Complex  // memory of the transform
	power  []sound.Vec      // of the spectrum
	mels   []sound.Vec      // of the filters
	values [][lanes]float32 // of the frames: filters or frequencies
	quiet  [][lanes]float32 // values of frames of zeros
	logs   []float32        // before the cosine transform
	column []float32        // of one filter
}

func (x *spectral) open() runner {
	g := &group{
		spectral: x,
		frames:   make([]sound.Vec, x.FFTLength),
		work:     make([]sound.Complex, x.plan.Work()),
		power:    make([]sound.Vec, x.plan.Bins()),
		mels:     make([]sound.Vec, x.Mel.Filters),
		values:   make([][lanes]float32, x.bins()),
	}
	for l := range g.edges {
		g.edges[l] = make([]float32, x.FrameLength)
		g.source[l] = g.edges[l]
	}
	g.compute()
	g.quiet = slices.Clone(g.values)
	return g
}

// bins is how many values of a frame there are before the cosine transform.
func (x *spectral) bins() int {
	if x.Mel.Filters > 0 {
		return x.Mel.Filters
	}
	return x.plan.Bins()
}

func (g *group) run(w *worker) error {
	wave, err := w.single()
	if err == nil {
		err = w.wantRate(g.Rate)
	}
	if err != nil {
		return err
	}
	frames := g.spectral.frames(len(wave))
	if len(wave) == 0 || frames == 0 {
		return fmt.Errorf("a waveform has %d samples, too few for one frame of %d", len(wave), g.FrameLength)
	}
	a := &g.extra
	if a.Frames > 0 {
		frames = min(frames, a.Frames)
	}
	all, copies := g.padded(frames), max(a.Copies, 1)
	if all > maxSamples/(g.spectral.values*copies) {
		return fmt.Errorf("%d frames of %d features: want %d features at most", all, g.spectral.values, maxSamples)
	}
	if p := a.PerFilter; (p == extractor.Unbiased || p == extractor.NeMo) && frames < 2 {
		return errors.New("one frame has no variance: want a longer waveform")
	}
	out, err := w.room(all * g.spectral.values * copies)
	if err != nil {
		return err
	}
	m := matrix{out[:all*g.spectral.values], all, g.spectral.values, g.FramesFirst}
	g.fill(m, wave, frames)
	for c := 1; c < copies; c++ {
		copy(out[c*len(m.data):], m.data)
	}
	w.data, w.byMel, w.rows, w.columns = out, !g.FramesFirst, all, g.spectral.values
	if n := a.Stack; n > 1 {
		w.rows, w.columns = w.rows/n, w.columns*n
	}
	if w.byMel {
		w.rows, w.columns = w.columns, w.rows
	}
	return nil
}

// A matrix has the features of all frames.
type matrix struct {
	data        []float32
	frames      int
	values      int // of a frame
	framesFirst bool
}

// strides are how far the next frame's value of the same filter is, and the next filter's of the same frame.
func (m matrix) strides() (frame, value int) {
	if m.framesFirst {
		return m.values, 1
	}
	return 1, m.frames
}

// clear sets what there is of frames from from to to-1 to v.
func (m matrix) clear(from, to int, v float32) {
	frame, value := m.strides()
	for t := from; t < to; t++ {
		for k := range m.values {
			m.data[t*frame+k*value] = v
		}
	}
}

// fill computes all features of a waveform, which has so many frames.
func (g *group) fill(m matrix, wave []float32, frames int) {
	a, logs, wanted := &g.extra, m, frames
	if a.Frames > 0 {
		wanted = a.Frames
	}
	if g.cosine != nil {
		g.logs = slices.Grow(g.logs[:0], wanted*len(g.values))[:wanted*len(g.values)]
		logs = matrix{g.logs, wanted, len(g.values), true}
	}
	for t := 0; t < frames; t += lanes {
		values := g.quiet
		if !g.load(wave, t, frames) {
			g.compute()
			values = g.values
		}
		logs.store(t, frames, values)
	}
	logs.clear(frames, wanted, 0)
	logs.level(wanted, &g.Spectrogram)
	if g.cosine != nil {
		g.transform(m, logs, wanted)
	}
	if a.PerFilter != extractor.AsIs {
		g.perFilter(m, frames)
	}
	m.clear(wanted, m.frames, a.Value)
}

// load finds the samples of the frames from t on, and reports whether all are 0. After the last frame it is there again.
func (g *group) load(wave []float32, t, frames int) (quiet bool) {
	n, before := g.FrameLength, 0
	if g.Edge != Inside {
		before = n / 2
	}
	quiet = true
	for l := range lanes {
		start := min(t+l, frames-1)*g.HopLength - before
		if start >= 0 && start+n <= len(wave) {
			g.source[l] = wave[start : start+n]
		} else {
			g.source[l] = g.edges[l]
			g.beyond(g.source[l], wave, start)
		}
		quiet = quiet && silent(g.source[l])
	}
	return quiet
}

func silent(x []float32) bool {
	for _, v := range x {
		if v != 0 {
			return false
		}
	}
	return true
}

// beyond gives a frame that begins at start and is not within the waveform its samples.
func (g *group) beyond(frame, wave []float32, start int) {
	n := len(wave)
	for i := range frame {
		at := start + i
		switch {
		case at >= 0 && at < n:
			frame[i] = wave[at]
		case g.Edge == Silence:
			frame[i] = 0
		case n == 1:
			frame[i] = wave[0]
		default:
			period := 2 * (n - 1)
			at = ((at % period) + period) % period
			frame[i] = wave[min(at, period-at)]
		}
	}
}

// compute makes values of the samples of the frames.
func (g *group) compute() {
	g.prepareFrames()
	g.plan.Power(g.power, g.frames, g.work)
	if g.Magnitude {
		for k := range g.power {
			for l, v := range g.power[k] {
				g.power[k][l] = math.Sqrt(v)
			}
		}
	}
	if g.filters != nil {
		g.filters.Sum(g.mels, g.power)
		g.scaled(g.mels)
	} else {
		g.scaled(g.power)
	}
}

// prepareFrames makes the frames that are transformed.
func (g *group) prepareFrames() {
	n := g.FrameLength
	frames, window := g.frames[:n], g.window
	clear(g.frames[n:]) // where the transform before left numbers
	if !g.RemoveDC && g.Preemphasis == 0 && g.Scale == 1 {
		sound.Window(frames, &g.source, window)
		return
	}
	scale := float32(g.Scale)
	for l := range lanes {
		source := g.source[l][:n]
		var mean float64
		if g.RemoveDC {
			for _, v := range source {
				mean += float64(v * scale)
			}
			mean /= float64(n)
		}
		last := float64(source[0]*scale) - mean
		before := last
		for i, v := range source {
			x := float64(v*scale) - mean
			frames[i][l] = (x - float64(g.Preemphasis*before)) * window[i]
			before = x
		}
		frames[0][l] = last * (1 - g.Preemphasis) * window[0]
	}
}

// scaled makes the values: floor, offset and logarithm.
func (g *group) scaled(from []sound.Vec) {
	least := math.Inf(-1)
	if g.Floor > 0 {
		least = g.Floor
	}
	if g.Log == 0 {
		for k := range g.values {
			for l, v := range from[k] {
				g.values[k][l] = float32(max(v, least) + g.Offset)
			}
		}
		return
	}
	factor := 1.0
	switch g.Log {
	case Log10:
		factor = 1 / math.Ln10
	case Decibels:
		factor = 10 / math.Ln10
		if g.Magnitude {
			factor = 20 / math.Ln10
		}
	}
	sound.Logs(g.values, from[:len(g.values)], least, g.Offset, factor)
}

// store writes the values of the frames from t on, up to the last frame.
func (m matrix) store(t, frames int, values [][lanes]float32) {
	n := min(lanes, frames-t)
	frame, value := m.strides()
	data := m.data[t*frame:]
	if n == lanes && !m.framesFirst {
		for k := range values {
			*(*[lanes]float32)(data[k*value:]) = values[k]
		}
		return
	}
	for k := range values {
		for l := range n {
			data[l*frame+k*value] = values[k][l]
		}
	}
}

// level does what is done with every value in the same way.
func (m matrix) level(frames int, a *Spectrogram) {
	if a.Range == 0 && a.Mean == 0 && a.Std == 1 {
		return
	}
	data := m.data
	if m.framesFirst {
		data = data[:frames*m.values]
	}
	least := float32(math.Inf(-1))
	if a.Range > 0 {
		least = sound.Greatest(data) - float32(a.Range)
	}
	sound.Level(data, least, float32(a.Mean), float32(a.Std))
}

// transform makes cepstral coefficients of the logarithms.
func (g *group) transform(to, logs matrix, frames int) {
	frame, value := to.strides()
	for t := range frames {
		row := logs.data[t*logs.values:][:logs.values]
		for k, c := range g.cosine {
			var sum float64
			for i, v := range row {
				sum += float64(float64(v) * float64(c[i]))
			}
			to.data[t*frame+k*value] = float32(sum)
		}
	}
}

// perFilter gives every filter the mean 0 and the variance 1 over the frames that there are.
func (g *group) perFilter(m matrix, frames int) {
	frame, value := m.strides()
	g.column = slices.Grow(g.column[:0], frames)[:frames]
	for k := range m.values {
		at := m.data[k*value:]
		for t := range frames {
			g.column[t] = at[t*frame]
		}
		switch g.extra.PerFilter {
		case extractor.Unbiased:
			standardize(g.column, 1)
		case extractor.CMVN:
			cmvn(g.column)
		case extractor.NeMo:
			nemo(g.column)
		}
		for t, v := range g.column {
			at[t*frame] = v
		}
	}
}

// cmvn is (x - mean)/std, with the bits of NumPy where it sums up the rows of a matrix in float32, one after the other.
func cmvn(x []float32) {
	mean := runningMean(x)
	for i := range x {
		x[i] -= mean
	}
	mean = runningMean(x)
	var sum float32
	for _, v := range x {
		d := v - mean
		sum += float32(d * d)
	}
	std := float32(math.Sqrt(float64(float32(float64(sum) / float64(len(x))))))
	for i := range x {
		x[i] /= std
	}
}

func runningMean(x []float32) float32 {
	var sum float32
	for _, v := range x {
		sum += v
	}
	return float32(float64(sum) / float64(len(x)))
}

// nemo is (x - mean)/(std + 1e-5) with the unbiased standard deviation.
func nemo(x []float32) {
	var sum, squares float64
	for _, v := range x {
		sum += float64(v)
	}
	mean := sum / float64(len(x))
	for _, v := range x {
		d := float64(v) - mean
		squares += float64(d * d)
	}
	std := math.Sqrt(squares/float64(len(x)-1)) + 1e-5
	for i, v := range x {
		x[i] = float32((float64(v) - mean) / std)
	}
}
