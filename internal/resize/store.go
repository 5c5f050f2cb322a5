package resize

// A Norm stores pixels as normalised floats.
type Norm struct {
	mean, std, inverse [3]float32
	table              [3][256]float32
	kernel             bool // the kernel gives the same values as the table
}

// NewNorm makes a Norm that computes (x/255 - mean)/std in float32, rounded after
// every operation as in torch. No std may be 0.
func NewNorm(mean, std [3]float32) *Norm {
	n := &Norm{mean: mean, std: std}
	var all [4 * 256]byte
	for c := range 3 {
		n.inverse[c] = 1 / std[c]
		for x := range 256 {
			n.table[c][x] = float32(float32(x)/255-mean[c]) / std[c]
			all[4*x+c] = byte(x)
		}
	}
	var planes [3][256]float32
	done := storeKernel(planes[0][:], planes[1][:], planes[2][:], all[:], n)
	n.kernel = done == 256 && planes == n.table
	return n
}

// Store writes a row of pixels to a row of each plane. All rows have the same number
// of pixels.
func (n *Norm) Store(red, green, blue []float32, row []byte) {
	done := 0
	if n.kernel {
		done = storeKernel(red, green, blue, row, n)
	}
	red, row = red[done:], row[4*done:]
	green, blue = green[done:][:len(red)], blue[done:][:len(red)]
	for x := range red {
		p := row[4*x : 4*x+4]
		red[x] = n.table[0][p[0]]
		green[x] = n.table[1][p[1]]
		blue[x] = n.table[2][p[2]]
	}
}

// StorePlane writes len(dst) samples of channel c.
func (n *Norm) StorePlane(dst []float32, src []byte, c int) {
	src = src[:len(dst)]
	done := 0
	if n.kernel {
		done = storePlaneKernel(dst, src, n, c)
	}
	for i, x := range src[done:] {
		dst[done+i] = n.table[c][x]
	}
}
