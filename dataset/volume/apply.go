package volume

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/penstock-go/penstock/internal/steps"
)

// A Transform changes the values of volumes in its own way. All workers share it
// and call it at the same time.
type Transform interface {
	// Apply edits one patient's volumes, or one sample's, channels first. It keeps
	// their shapes and, after the cut, their dtypes and memory. r gives the draw's
	// random numbers; it is nil in a preparation, which is the same in every epoch.
	Apply(volumes []*Volume, r *rand.Rand) error
}

// Apply makes a step of a Transform of one's own. It prints as the Transform does.
func Apply(t Transform) Step { return custom{t} }

type custom struct{ t Transform }

func (c custom) String() string { return steps.Name(c.t) }

func (c custom) add(p *program) error {
	if c.t == nil {
		return errors.New("want a Transform")
	}
	return p.add(c, anywhere, false)
}

func (c custom) outline([]*Volume) error { return nil }

func (c custom) apply(vs []*Volume, w *work) error {
	var shape [4]int
	n := copy(shape[:], vs[0].Shape)
	if err := c.t.Apply(vs, w.rand); err != nil {
		return err
	}
	for _, v := range vs {
		if !slices.Equal(v.Shape[1:], shape[1:n]) || int64(len(v.Data)) != v.Bytes() {
			return fmt.Errorf("made %v with %d bytes of data: want the same shape", v, len(v.Data))
		}
	}
	return nil
}
