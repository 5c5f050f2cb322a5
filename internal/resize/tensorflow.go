package resize

import (
	"image"
	"math"
	"slices"
)

// TensorFlow computes tf.image.resize of 8 bits per channel with the method bilinear and without antialias, which is what
// Keras' layer Resizing does, bit for bit as TensorFlow on amd64. The result is float32. Pixels are 4 bytes, of which the fourth
// does not count. The zero value is ready for use.
//
// It takes the two nearest source pixels per axis, also where an image shrinks. All numbers are float32, and pixels are first
// interpolated along rows.
type TensorFlow struct {
	x, y    axisOfFloats
	rows    twoRows[float32] // of the channel, interpolated along themselves
	channel int

	src    []byte
	stride int
	memory int64 // the most that weights have taken
}

// Begin prepares a resize, and returns the source pixels that it needs.
func (t *TensorFlow) Begin(x, y Axis) (r image.Rectangle) {
	t.memory = t.Memory(x, y)
	r.Min.X, r.Max.X = t.x.compute(x)
	r.Min.Y, r.Max.Y = t.y.compute(y)
	return r
}

// Memory is how many bytes the weights take at most once a resize has begun.
func (t *TensorFlow) Memory(x, y Axis) int64 { return max(t.memory, x.Memory()+y.Memory()) }

// From sets the source, which has the pixels that Begin has asked for. The stride is in bytes.
func (t *TensorFlow) From(src []byte, stride int) {
	t.src, t.stride = src, stride
	t.rows.begin(len(t.x.at))
}

// Row writes channel c of row y of the positions of Begin to dst. Rows of a channel that follow each other share what they have
// in common.
func (t *TensorFlow) Row(dst []float32, c, y int) {
	if c != t.channel {
		t.channel = c
		t.rows.forget()
	}
	at, part := t.y.at[y], t.y.part[y]
	near, far := t.row(int(at[0]), int(at[1])), t.row(int(at[1]), int(at[0]))
	dst, far = dst[:len(near)], far[:len(near)]
	for x, a := range near {
		dst[x] = a + float32((far[x]-a)*part)
	}
}

// row returns a source row, and keeps another one if it is there.
func (t *TensorFlow) row(y, other int) []float32 {
	row, there := t.rows.of(y, other)
	if there {
		return row
	}
	line := t.src[y*t.stride+t.channel:]
	for x, at := range t.x.at {
		a := float32(line[4*at[0]])
		row[x] = a + float32((float32(line[4*at[1]])-a)*t.x.part[x])
	}
	return row
}

// An axisOfFloats says for every computed position which two source pixels contribute, and the part of the second one.
type axisOfFloats struct {
	twoPixels
	part []float32
}

// compute returns the bounds of the source positions. Those of the axis begin at the lower one.
func (t *axisOfFloats) compute(a Axis) (lo, hi int) {
	t.part = slices.Grow(t.part[:0], a.To-a.From)
	scale := float32(a.In) / float32(a.Out)
	return t.find(a, func(d int) (first, second int) {
		x := float32((float32(d)+0.5)*scale) - 0.5
		floor := math.Floor(float64(x))
		t.part = append(t.part, x-float32(floor))
		return int(floor), int(math.Ceil(float64(x)))
	})
}
