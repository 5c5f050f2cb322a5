package transform

import (
	"errors"
	"math"

	"github.com/penstock-go/penstock/internal/steps"
)

// RandomAdjustSharpness blends the image with a smoothed one, with probability p. Factor
// 0 gives the smoothed image, 1 the image as it is, and 2 twice the sharpness. The result
// is that of PIL's ImageEnhance.Sharpness, bit for bit, and within one level that of
// torchvision's tensors. Torchvision's default for p is 0.5.
func RandomAdjustSharpness(factor, p float64) Step {
	s := sharpening{
		chance{text: steps.Call("RandomAdjustSharpness", factor, p), p: p, run: func(img *Image, s *scratch) { adjustSharpness(img, factor, s) }},
		factor,
	}
	if !(factor >= 0 && factor < math.MaxFloat32) {
		s.err = errors.New("want a finite factor, 0 or more")
	}
	return s
}

// sharpening is the step that RandomAdjustSharpness makes.
type sharpening struct {
	chance
	factor float64
}

func (s sharpening) add(p *program) error { return s.addAs(p, s) }

// adjustSharpness blends with what PIL's filter SMOOTH makes: the pixel counts five times,
// and its eight neighbours once. Pixels at the edge are not smoothed.
func adjustSharpness(img *Image, factor float64, s *scratch) {
	w, h := img.Width, img.Height
	if w < 3 || h < 3 || factor == 1 {
		return
	}
	s.spare.resize(w, h)
	stride := 4 * w
	copy(s.spare.Pix[:stride], img.Pix)
	copy(s.spare.Pix[stride*(h-1):], img.Pix[stride*(h-1):])
	f := float32(factor)
	for y := 1; y < h-1; y++ {
		smoothRow(s.spare.Pix[stride*y:][:stride], img.Pix[stride*(y-1):][:3*stride], f)
	}
	*img, s.spare = s.spare, *img
}

// smoothRow computes the middle one of three rows.
func smoothRow(dst, rows []byte, factor float32) {
	n := len(dst)
	above, row, below := rows[:n:n], rows[n:2*n:2*n], rows[2*n:3*n:3*n]
	copy(dst[:4], row)
	copy(dst[n-4:], row[n-4:])
	// Sums of the columns before, at and after the pixel, per channel.
	var left, middle [3]int
	for c := range 3 {
		left[c] = int(above[c]) + int(row[c]) + int(below[c])
		middle[c] = int(above[4+c]) + int(row[4+c]) + int(below[4+c])
	}
	for x := 4; x+8 <= n; x += 4 {
		up, on, low, out := above[x+4:x+8:x+8], row[x:x+8:x+8], below[x+4:x+8:x+8], dst[x:x+4:x+4]
		for c := range 3 {
			right := int(up[c]) + int(on[4+c]) + int(low[c])
			sum := left[c] + middle[c] + right + 4*int(on[c])
			left[c], middle[c] = middle[c], right
			// Pillow divides in float32 and adds a half. Thirteenths are never close to a half.
			smooth := (2*sum + 13) / 26
			v := float32(smooth) + float32(factor*float32(int(on[c])-smooth))
			out[c] = uint8(min(max(v, 0), 255))
		}
	}
}
