package gif

import (
	"errors"
	"fmt"
	"image"
)

// An Animation composes the frames of a file, one after the other, to the pixels of Pillow's seek(k) and convert("RGB"). The zero value
// is ready for use by one goroutine at a time.
//
// A frame is drawn over what the one before it has left: all (disposal 0 or 1), the colour that is transparent or the background in its
// place (2), or what was there before (3). Transparent pixels leave what is below them. All frames have the size of the first one: a
// later frame that reaches beyond is an error, where Pillow's image grows.
type Animation struct {
	// Limit is how many pixels all frames of a file may have together; 0 is none.
	Limit int64

	Decoder
	begins   []int // where the descriptor and the extensions of each frame are in data
	data     []byte
	global   [256][3]uint8
	globals  int
	screen   uint8 // the index of the background in the global palette, or 0
	size     image.Point
	wanted   int
	composed int // the frame that the canvas shows; -1 is none
	canvas   []byte
	saved    []byte // what was below the frame, if its disposal restores that
	left     disposal
	grey0    int // the transparent colour of the first frame of a file without a palette, or -1
}

// A disposal is what has to be done before the next frame.
type disposal struct {
	in     image.Rectangle
	colour [3]uint8
	saved  bool
}

var errGrows = errors.New("gif: header: a frame reaches beyond the first one's canvas")

// Header reads the size of the frames in data, a whole file, and finds them all. The Animation keeps data until the next call.
func (a *Animation) Header(data []byte) (w, h int, err error) {
	a.data, a.begins, a.composed, a.wanted = nil, a.begins[:0], -1, 0
	if w, h, err = a.Decoder.Header(data); err != nil {
		return 0, 0, err
	}
	a.size, a.screen = image.Pt(w, h), 0
	flags, rest := data[10], data[13:]
	a.grey()
	if rest, err = a.palette(flags, rest); err != nil {
		return 0, 0, err
	}
	if flags&0x80 != 0 {
		a.screen = data[11]
	}
	a.global, a.globals = a.colours, a.colour
	all := int64(0)
	for {
		descriptor, err := a.find(rest)
		if err != nil { // no further frame
			if len(a.begins) == 0 {
				return 0, 0, err
			}
			break
		}
		at := len(data) - len(rest)
		a.w, a.h = w, h
		if err := a.describe(descriptor); err != nil {
			return 0, 0, fmt.Errorf("frame %d: %w", len(a.begins), err)
		}
		if a.w != w || a.h != h {
			return 0, 0, fmt.Errorf("frame %d: %w", len(a.begins), errGrows)
		}
		all += int64(a.frame.Dx()) * int64(a.frame.Dy())
		if a.Limit > 0 && all > a.Limit {
			return 0, 0, fmt.Errorf("gif: header: the frames up to number %d have %d pixels, more than the limit of %d", len(a.begins), all, a.Limit)
		}
		a.begins = append(a.begins, at)
		rest = a.code
		for block := []byte(nil); ; {
			if block, rest = next(rest); block == nil {
				break
			}
		}
	}
	a.data, a.code = data, nil
	return w, h, nil
}

// Len is the number of frames.
func (a *Animation) Len() int { return len(a.begins) }

// Seek says that Decode is to write frame k.
func (a *Animation) Seek(k int) { a.wanted = k }

// Memory is how many bytes decoding a window takes, beside tables and the window.
func (a *Animation) Memory(image.Rectangle) int64 {
	n := 4 * int64(a.size.X) * int64(a.size.Y)
	return 2*(n+64) + int64(a.size.X)
}

// Decode writes a window of the frame to dst, 4 bytes per pixel and stride bytes per row. Frames before the one that it wrote last are
// composed anew.
func (a *Animation) Decode(dst []byte, stride int, window image.Rectangle) error {
	switch {
	case a.data == nil:
		return errNoHeader
	case window.Empty():
		return nil
	case !window.In(image.Rectangle{Max: a.size}):
		return fmt.Errorf("gif: decode: window %v exceeds the image's %d×%d", window, a.size.X, a.size.Y)
	case stride < 4*window.Dx() || len(dst) < (window.Dy()-1)*stride+4*window.Dx():
		return errRoom
	}
	if a.wanted < a.composed {
		a.composed = -1
	}
	for a.composed < a.wanted {
		if err := a.compose(a.composed + 1); err != nil {
			a.composed = -1
			return err
		}
	}
	for y := range window.Dy() {
		copy(dst[y*stride:][:4*window.Dx()], a.pixels(window.Min.X, window.Min.Y+y))
	}
	return nil
}

// pixels are those of row y of the canvas from column x on.
func (a *Animation) pixels(x, y int) []byte { return a.canvas[4*(y*a.size.X+x) : 4*(y+1)*a.size.X] }

// compose draws frame k, which follows the one that the canvas shows.
func (a *Animation) compose(k int) error {
	if k == 0 {
		if n := 4 * a.size.X * a.size.Y; cap(a.canvas) < n {
			a.canvas = make([]byte, n)
		} else {
			a.canvas = a.canvas[:n]
		}
		a.left, a.control = disposal{}, control{}
	}
	a.dispose()
	a.colours, a.colour = a.global, a.globals
	if k > 0 && a.localGrey(a.begins[k]) {
		a.grey()
	}
	descriptor, err := a.find(a.data[a.begins[k]:])
	if err == nil {
		err = a.describe(descriptor)
	}
	if err != nil {
		return err
	}
	clear := -1 // the index that leaves what is below
	if k == 0 {
		a.grey0 = -1
		if a.colour == 0 && a.control.transparent {
			a.grey0 = int(a.background)
		}
		a.fill(image.Rectangle{Max: a.size}, a.colours[a.background])
	} else if a.control.transparent {
		clear = int(a.background)
	}
	a.foresee(k)
	err = a.rows(func(y int, row []uint8) {
		out := a.pixels(a.frame.Min.X, a.frame.Min.Y+y)
		for x, v := range row {
			if int(v) != clear {
				c := a.colours[v]
				out[4*x], out[4*x+1], out[4*x+2], out[4*x+3] = c[0], c[1], c[2], 255
			}
		}
	})
	if err != nil {
		return fmt.Errorf("frame %d: %w", k, err)
	}
	a.composed = k
	return nil
}

// localGrey reports whether the frame at an offset has a palette of its own that is the greys in order, which Pillow takes for none.
func (a *Animation) localGrey(at int) bool {
	descriptor, err := a.find(a.data[at:])
	if err != nil || len(descriptor) < 9 || descriptor[8]&0x80 == 0 {
		return false
	}
	table := descriptor[9:]
	n := 2 << (descriptor[8] & 7)
	for i := range min(n, len(table)/3) {
		if [3]uint8(table[3*i:]) != [3]uint8{uint8(i), uint8(i), uint8(i)} {
			return false
		}
	}
	return true
}

// foresee notes what has to be done after frame k, which has been described but not drawn.
func (a *Animation) foresee(k int) {
	a.left = disposal{in: a.frame}
	index := a.background
	switch how := a.control.disposal; {
	case how < 2, how > 2 && k == 0 && !a.control.transparent:
		a.left.in = image.Rectangle{}
		return
	case how > 2 && k > 0:
		a.left.saved = true
		n := 4 * a.frame.Dx()
		a.saved = a.saved[:0]
		for y := a.frame.Min.Y; y < a.frame.Max.Y; y++ {
			a.saved = append(a.saved, a.pixels(a.frame.Min.X, y)[:n]...)
		}
		return
	case a.grey0 >= 0: // Pillow takes that of the first frame for all
		index = uint8(a.grey0)
	case !a.control.transparent:
		index = a.screen
	}
	if a.colour > 0 && int(index) >= a.colour && k > 0 {
		index = 0
	}
	a.left.colour = a.colours[index]
}

// dispose does what the frame before has left to do.
func (a *Animation) dispose() {
	r := a.left.in
	if !a.left.saved {
		a.fill(r, a.left.colour)
		return
	}
	n := 4 * r.Dx()
	for y := range r.Dy() {
		copy(a.pixels(r.Min.X, r.Min.Y+y)[:n], a.saved[y*n:])
	}
}

func (a *Animation) fill(r image.Rectangle, c [3]uint8) {
	for y := r.Min.Y; y < r.Max.Y; y++ {
		row := a.pixels(r.Min.X, y)[:4*r.Dx()]
		for x := 0; x < len(row); x += 4 {
			row[x], row[x+1], row[x+2], row[x+3] = c[0], c[1], c[2], 255
		}
	}
}
