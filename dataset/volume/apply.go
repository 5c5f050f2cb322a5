package volume

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/penstock-go/penstock/internal/figures"
)

// A Transform changes the values of volumes. Implement it for steps that this
// package does not have. All workers share it and call it at the same time.
type Transform interface {
	// Apply edits the volumes of one patient (in Prepare) or one sample (in
	// Augment), channels first. It must keep their shapes; in Augment it must also
	// keep their dtypes and memory. r gives the sample's random numbers. It is nil
	// in Prepare, whose result is the same in every epoch.
	Apply(volumes []*Volume, r *rand.Rand) error
}

// Apply makes a step of a [Transform]. The step prints as the Transform does.
func Apply(t Transform) Step { return custom{t} }

type custom struct{ t Transform }

func (c custom) String() string { return figures.Name(c.t) }

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
