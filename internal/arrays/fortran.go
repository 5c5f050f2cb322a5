package arrays

// orderChunk is how many bytes of an array in Fortran order are read at a time.
const orderChunk = 4 << 20

// fillFromFortran reads an array of that shape in Fortran order with fill and writes
// it to dst in C order.
func fillFromFortran(dst []byte, fill func([]byte) error, shape []int) error {
	n, inner := shape[0], 1
	for _, d := range shape[1:] {
		inner *= d
	}
	if n == 0 {
		return nil
	}
	// A stripe is the values of all samples at one inner index. It is contiguous in
	// the file.
	size := len(dst) / n / inner
	stripe := n * size
	// At least eight stripes: with fewer, every value would go to another cache line.
	stripes := min(max(orderChunk/stripe, 8), inner)
	chunk := make([]byte, stripes*stripe)
	o := newOdometer(shape[1:])
	places := make([]int, stripes)
	for done := 0; done < inner; done += stripes {
		stripes = min(stripes, inner-done)
		if err := fill(chunk[:stripes*stripe]); err != nil {
			return err
		}
		for k := range stripes {
			places[k] = o.next() * size
		}
		scatter(dst, chunk, places[:stripes], n, size)
	}
	return nil
}

// A Reorder copies arrays of one shape from Fortran order to C order.
type Reorder struct{ odometer *odometer }

// NewReorder makes a Reorder for that shape.
func NewReorder(shape []int) Reorder { return Reorder{newOdometer(shape)} }

// Copy copies src to dst, values of size bytes each.
func (r Reorder) Copy(dst, src []byte, size int) {
	r.odometer.reset()
	for at := 0; at < len(src); at += size {
		copy(dst[r.odometer.next()*size:][:size], src[at:at+size])
	}
}

// scatter writes value i of stripe k in src to places[k] of row i in dst.
func scatter(dst, src []byte, places []int, n, size int) {
	row := len(dst) / n
	for i := range n {
		out, from := dst[i*row:][:row], src[i*size:]
		switch size {
		case 1:
			for k, p := range places {
				out[p] = from[k*n]
			}
		case 2:
			for k, p := range places {
				*(*[2]byte)(out[p:]) = *(*[2]byte)(from[k*n*2:])
			}
		case 4:
			for k, p := range places {
				*(*[4]byte)(out[p:]) = *(*[4]byte)(from[k*n*4:])
			}
		case 8:
			for k, p := range places {
				*(*[8]byte)(out[p:]) = *(*[8]byte)(from[k*n*8:])
			}
		default:
			for k, p := range places {
				copy(out[p:p+size], from[k*n*size:][:size])
			}
		}
	}
}

// An odometer goes through indices in Fortran order and returns their offsets in C order.
type odometer struct {
	shape, strides, index []int
	at                    int
}

func newOdometer(shape []int) *odometer {
	o := &odometer{shape: shape, strides: make([]int, len(shape)), index: make([]int, len(shape))}
	step := 1
	for d := len(shape) - 1; d >= 0; d-- {
		o.strides[d] = step
		step *= shape[d]
	}
	return o
}

func (o *odometer) reset() {
	clear(o.index)
	o.at = 0
}

// next returns the offset of the current index and goes to the next one.
func (o *odometer) next() int {
	at := o.at
	for d := range o.index {
		o.index[d]++
		o.at += o.strides[d]
		if o.index[d] < o.shape[d] {
			break
		}
		o.at -= o.shape[d] * o.strides[d]
		o.index[d] = 0
	}
	return at
}
