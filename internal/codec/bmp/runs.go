package bmp

import (
	"fmt"
	"image"
	"io"
)

// A run is n pixels from pixel p on. Pixels are counted row by row in the order of the
// file.
type run struct {
	p, n    int
	literal []byte // the pixels, or nil for a repeated one
	pair    byte   // the repeated pixel of 8 bits, or two of 4 bits
}

// A runReader reads literal runs, repeated pixels, ends of rows and jumps as Pillow
// does. Repeated pixels beyond the end of a row are dropped. Pixels that are left out
// have index 0. The runs must reach the end of the image.
type runReader struct {
	data []byte
	at   int
	w    int
	four bool
	p, x int
}

// next returns the next run, and whether there is one before the end of the bitmap or
// file.
func (r *runReader) next() (run, bool, error) {
	for r.at+2 <= len(r.data) {
		n, v := int(r.data[r.at]), r.data[r.at+1]
		r.at += 2
		switch {
		case n > 0:
			n = min(n, max(0, r.w-r.x))
			r.x += n
			r.p += n
			return run{p: r.p - n, n: n, pair: v}, true, nil
		case v == 0: // end of row
			r.p = (r.p + r.w - 1) / r.w * r.w
			r.x = 0
		case v == 1: // end of bitmap
			return run{}, false, nil
		case v == 2: // jump
			if r.at+2 > len(r.data) {
				return run{}, false, nil
			}
			p := int64(r.p) + int64(r.data[r.at]) + int64(r.data[r.at+1])*int64(r.w)
			r.p = int(min(p, mostRuns)) // beyond the image all places are alike
			r.x = r.p % r.w
			r.at += 2
		default:
			return r.literals(int(v))
		}
	}
	return run{}, false, nil
}

// literals returns a run of n literal pixels. Its end is padded to an even offset in
// the file.
func (r *runReader) literals(n int) (run, bool, error) {
	size := n
	if r.four {
		if n%2 == 1 {
			return run{}, false, unsupported("an odd number of literal pixels in RLE4 (Pillow drops the last one)")
		}
		size = n / 2
	}
	if r.at+size > len(r.data) {
		return run{}, false, nil
	}
	out := run{p: r.p, n: n, literal: r.data[r.at : r.at+size]}
	r.p += n
	r.x += n
	r.at += size
	r.at += r.at % 2
	return out, true, nil
}

func (d *Decoder) reader(data []byte) runReader {
	return runReader{data: data, at: d.at, w: d.w, four: d.four}
}

// mostRuns is the limit of pixels of an image in runs.
const mostRuns = 1 << 30

// checkRuns checks that the runs are valid and fill the image.
func (d *Decoder) checkRuns(data []byte) error {
	if d.w > mostRuns/d.h {
		return fmt.Errorf("runs of %d×%d pixels", d.w, d.h)
	}
	r := d.reader(data)
	for more := true; more && r.p < d.w*d.h; {
		var err error
		if _, more, err = r.next(); err != nil {
			return err
		}
	}
	if r.p < d.w*d.h {
		return fmt.Errorf("%w: the runs end after %d of %d×%d pixels", io.ErrUnexpectedEOF, r.p, d.w, d.h)
	}
	return nil
}

// decodeRuns reads runs that have been checked.
func (d *Decoder) decodeRuns(dst []byte, stride int, window image.Rectangle) {
	for y := range window.Dy() {
		row := dst[y*stride:][:4*window.Dx()]
		for i := 0; i < len(row); i += 4 {
			put(row[i:], d.palette[0])
		}
	}
	r := d.reader(d.data)
	for r.p < d.w*d.h {
		run, more, err := r.next()
		if !more || err != nil {
			return
		}
		for i := range min(run.n, d.w*d.h-run.p) {
			x, y := (run.p+i)%d.w, (run.p+i)/d.w
			if !d.topDown {
				y = d.h - 1 - y
			}
			if (image.Point{X: x, Y: y}).In(window) {
				put(dst[(y-window.Min.Y)*stride+4*(x-window.Min.X):], d.palette[run.pixel(i, d.four)])
			}
		}
	}
}

// pixel is the index of the i-th pixel's colour.
func (r *run) pixel(i int, four bool) uint8 {
	v := r.pair
	switch {
	case r.literal == nil:
	case four:
		v = r.literal[i/2]
	default:
		v = r.literal[i]
	}
	if !four {
		return v
	}
	return v >> (4 - i%2*4) & 15
}
