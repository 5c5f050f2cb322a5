package transform

import "github.com/penstock-go/penstock/dataset"

// isDirect reports whether the images are planes, such as CIFAR's, that only have
// to be normalised.
func (x *Pipeline) isDirect() bool {
	return x.raw.pixel == 1 && len(x.ops) == 0 && x.output.norm != nil
}

// storeDirect normalises the planes in the image's cell.
func (r *reader) storeDirect(dst dataset.Slot) {
	dst.Stage(dataset.StageStore)
	pix, out := r.input.Bytes(), dataset.Row[float32](dst, r.field)
	n := r.raw.w * r.raw.h
	for c, from := range [3]int{0, r.raw.green, r.raw.blue} {
		r.output.norm.StorePlane(out[c*n:][:n], pix[from:], c)
	}
	r.output.erase(out, dst.Rand())
}
