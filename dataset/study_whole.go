package dataset

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"gorgonia.org/tensor"
)

// Whole makes a dataset of a sample per patient: the volumes as they are. All
// patients must have one shape once prepared, which volume.PadOrCrop of package
// transform/volume sees to; [Study.Ragged] takes any.
func (s *Study) Whole() (*Cut, error) {
	if s.Len() == 0 {
		return nil, errNoPatients
	}
	first := &s.all[s.patients[0]]
	for _, p := range s.patients {
		if q := &s.all[p]; !slices.Equal(q.shape, first.shape) {
			return nil, fmt.Errorf("dataset: whole volumes: patient %s has the shape %v, %s has %v: "+
				"prepare them with volume.PadOrCrop, or take them Ragged", first.name, dims(first.shape), q.name, dims(q.shape))
		}
	}
	return s.newCut(wholes{s, false}, first.shape)
}

// Ragged makes a dataset of a sample per patient, of any shape, in ragged
// fields. An element is a plane (y, x) where all have the same and one channel,
// so that a sample is (z, y, x), and otherwise one value. The shape of each
// sample's volumes is in the field "shape", int64 (3), or (2) of pictures.
func (s *Study) Ragged() (*Cut, error) {
	if s.Len() == 0 {
		return nil, errNoPatients
	}
	first := &s.all[s.patients[0]]
	rank := len(first.shape)
	c, err := s.newCut(wholes{s, true}, nil, Field{Name: "shape", Dtype: tensor.Int64, Shape: tensor.Shape{rank}})
	if err != nil {
		return nil, err
	}
	planes := rank == 3 && !slices.ContainsFunc(s.channels, func(n int) bool { return n != 1 })
	for _, p := range s.patients {
		planes = planes && slices.Equal(s.all[p].shape[1:], first.shape[1:])
	}
	for k := range s.sources {
		c.spec[k].Ragged = true
		if planes {
			c.spec[k].Shape = tensor.Shape(slices.Clone(first.shape[1:]))
		}
	}
	return c, c.spec.Validate()
}

type wholes struct {
	study  *Study
	ragged bool
}

func (w wholes) len() int          { return w.study.Len() }
func (w wholes) patient(i int) int { return i }
func (w wholes) name(int) string   { return "" }

func (w wholes) part(i int, _ *cacheEntry, _ *rand.Rand, b *box) error {
	*b = box{}
	copy(b.size[:], w.study.all[w.study.patients[i]].shape)
	return nil
}

func (w wholes) tell(_ int, b *box, dst Slot, f int) {
	if !w.ragged {
		return
	}
	for k, row := 0, Row[int64](dst, f); k < len(row); k++ {
		row[k] = int64(b.size[k])
	}
}

func (w wholes) String() string {
	if w.ragged {
		return "Ragged()"
	}
	return "Whole()"
}
