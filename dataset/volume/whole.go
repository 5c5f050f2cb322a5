package volume

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/penstock-go/penstock/dataset"
)

// Whole makes a dataset with one sample per patient: the whole volumes. All
// patients must have the same shape after preparation. [PadOrCrop] gives them
// one; [Cohort.Ragged] accepts any.
func (c *Cohort) Whole() (*Cut, error) {
	if c.Len() == 0 {
		return nil, errNoPatients
	}
	first := c.patient(0)
	for i := range c.patients {
		if q := c.patient(i); !slices.Equal(q.shape, first.shape) {
			return nil, fmt.Errorf("volume: whole volumes: patient %s has the shape %v, %s has %v: "+
				"prepare them with PadOrCrop, or use Cohort.Ragged", first.name, dims(first.shape), q.name, dims(q.shape))
		}
	}
	return c.newCut(wholes{c, false}, first.shape)
}

// Ragged makes a dataset with one sample per patient, of any shape, in ragged
// fields. If all volumes have one channel and planes (y, x) of the same shape,
// an element is a plane, and a sample has the shape (z, y, x). Otherwise an
// element is one value. The field "shape", int64 of shape (3) or (2), holds the
// spatial shape of the sample.
func (c *Cohort) Ragged() (*Cut, error) {
	if c.Len() == 0 {
		return nil, errNoPatients
	}
	first := c.patient(0)
	rank := len(first.shape)
	d, err := c.newCut(wholes{c, true}, nil, dataset.Field{Name: "shape", Dtype: dataset.Int64, Shape: dataset.Shape{rank}})
	if err != nil {
		return nil, err
	}
	planes := rank == 3 && !slices.ContainsFunc(c.channels, func(n int) bool { return n != 1 })
	for i := range c.patients {
		planes = planes && slices.Equal(c.patient(i).shape[1:], first.shape[1:])
	}
	for k := range c.sources {
		d.spec[k].Ragged = true
		if planes {
			d.spec[k].Shape = dataset.Shape(slices.Clone(first.shape[1:]))
		}
	}
	return d, d.spec.Validate()
}

type wholes struct {
	cohort *Cohort
	ragged bool
}

func (w wholes) len() int          { return w.cohort.Len() }
func (w wholes) patient(i int) int { return i }
func (w wholes) name(int) string   { return "" }

func (w wholes) part(i int, _ *cacheEntry, _ *rand.Rand, b *box) error {
	*b = box{}
	copy(b.size[:], w.cohort.patient(i).shape)
	return nil
}

func (w wholes) tell(_ int, b *box, dst dataset.Slot, f int) {
	if !w.ragged {
		return
	}
	for k, row := 0, dataset.Row[int64](dst, f); k < len(row); k++ {
		row[k] = int64(b.size[k])
	}
}

func (w wholes) String() string {
	if w.ragged {
		return "Ragged()"
	}
	return "Whole()"
}
