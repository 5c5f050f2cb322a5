package transform

import (
	"errors"
)

// Parallel lets up to n goroutines work on one large JPEG image in [Compile], for a
// shorter latency where processors are idle. The results are the same bit for bit, and
// so are the errors. All goroutines have ended when the call returns. An image takes
// only as many as there are further images that could begin at the same time, so in a
// busy server each image has one.
//
// In a sequential file one goroutine reads the entropy code, and the others compute
// pixels and resample them. In a progressive file all compute pixels after its last
// scan. A second goroutine gains more than further ones: with two, a photo of 12
// megapixels takes about 0.6 times as long if both have a core of their own, and 0.85
// to 1.05 times if they slow each other down. For images of less than two megapixels, where it
// does not always pay, and for other formats Parallel changes nothing. In [Images] it is
// an error.
func Parallel(n int) Option {
	return setting(named("Parallel", n), func(p *program) error {
		if n < 1 {
			return errors.New("want 1 or more goroutines")
		}
		p.Hands = n
		return nil
	})
}
