package transform

import (
	"errors"
	"math/rand/v2"

	"github.com/penstock-go/penstock/transform/internal/engine"
)

// JPEG makes the image what it is after coding it as JPEG and decoding it, with a random quality
// from least to greatest, each 1 to 100: torchvision's JPEG. The pixels are those of libjpeg-turbo with
// PIL images and with tensors, bit for bit.
func JPEG(least, greatest int) Step { return quality{named("JPEG", least, greatest), least, greatest} }

type quality struct {
	*call
	least, greatest int
}

func (s quality) add(p *program) error {
	if s.least < 1 || s.least > s.greatest || s.greatest > 100 {
		return errors.New("want qualities from 1 to 100, with the least first")
	}
	return p.editBytes(s)
}

func (s quality) edit(e *engine.Engine, r *rand.Rand) error {
	return e.Recode(s.least + r.IntN(s.greatest-s.least+1))
}
