package transform

import (
	"fmt"
	"slices"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/internal/dense"
)

// NewMask gives the masks of field k of s.Fields the size of an image of w×h pixels, for a
// [SampleTransform] that changes the size. It returns their numbers, to be written: as many
// planes as before, one after the other, with undefined content, in memory of the worker. They
// take the place of those in Fields when ApplySample returns. Another call for the same field in
// the same step reuses the memory.
//
// It panics if Fields has no field k, if that is not one of [Mask] or [Masks], if T is not its
// dtype, if w or h is below 1, or if the masks would have more pixels than [MaxPixels] allows. In a
// step, a panic is an error of the sample.
func NewMask[T uint8 | uint16 | int32 | int64](s *Sample, k, w, h int) []T {
	if k < 0 || k >= len(s.step.masks) {
		panic(fmt.Sprintf("transform: NewMask: got field %d, want the index of one of the fields that Apply names: %q", k, s.step.fields))
	}
	m := s.step.masks[k]
	if m < 0 {
		panic(fmt.Sprintf("transform: NewMask: got field %d, which is %q, want a field of Mask or Masks", k, s.step.fields[k]))
	}
	a := s.engine.annotations
	if got, want := dataset.DtypeOf[T](), a.layout.masks[m].dtype; got != want {
		panic(fmt.Sprintf("transform: NewMask: got NewMask[%v] for mask %q, want NewMask[%v], as the result has", got, s.step.fields[k], want))
	}
	s.mustHold("NewMask", w, h)
	mask := &a.masks[m]
	if err := a.checkPlanes(mask.n, w*h); err != nil {
		panic(err)
	}
	mask.made = true
	return dataset.Grow[T](s.Fields.With(mask.own[1:]), 0, mask.n*w*h)
}

// settle makes all masks as they are now, in the dtype of the results and in memory of their own.
func (a *annotations) settle() error {
	a.moved.indices(a.w, a.h)
	for k := range a.masks {
		s, at := &a.masks[k], &a.layout.masks[k]
		if s.own[0] == (dataset.Cell{}) {
			f := dataset.Field{Name: at.name, Dtype: at.dtype, Ragged: true}
			s.own = [2]dataset.Cell{dataset.NewCell(f), dataset.NewCell(f)}
		}
		n, err := s.storeIn(s.own[1], a, at)
		if err != nil {
			return fmt.Errorf("transform: mask %q: %w", at.name, err)
		}
		s.swap(n, a.w, a.h, at.dtype.Size())
	}
	for k := range a.kept {
		a.kept[k] = int32(k)
	}
	a.moved.Begin()
	return nil
}

// swap makes the second of the own cells the masks: n planes of w×h numbers.
func (s *maskSource) swap(n, w, h, size int) {
	s.own[0], s.own[1] = s.own[1], s.own[0]
	s.pix, s.n, s.w, s.h, s.size = s.own[0].Bytes(), n, w, h, size
	s.coded, s.made = false, false
}

// finishMasks checks the masks that the step has seen, and takes those that NewMask has made. The
// image has w×h pixels.
func (s *sampling) finishMasks(a *annotations, w, h int) error {
	for _, m := range s.masks {
		if m < 0 {
			continue
		}
		mask, at := &a.masks[m], &a.layout.masks[m]
		if mask.made {
			mask.swap(mask.n, w, h, mask.size)
		}
		mask.pix, mask.w, mask.h = mask.own[0].Bytes(), w, h
		if n := len(mask.pix) / mask.size; n != mask.n*w*h {
			return fmt.Errorf("left mask %q with %d numbers, want %d: %d×%d×%d (masks×height×width). A step that changes the size makes its masks with NewMask",
				at.name, n, mask.n*w*h, mask.n, h, w)
		}
		if err := mask.checkNumbers(); err != nil {
			return fmt.Errorf("mask %q: %w", at.name, err)
		}
	}
	return nil
}

// checkNumbers is the error of numbers that later steps could not move.
func (s *maskSource) checkNumbers() error {
	switch s.size {
	case 4:
		return checkRange(dense.Values[int32](s.pix))
	case 8:
		return checkRange(dense.Values[int64](s.pix))
	}
	return nil
}

func checkRange[T int32 | int64](numbers []T) error {
	if len(numbers) == 0 {
		return nil
	}
	if least, most := slices.Min(numbers), slices.Max(numbers); least < 0 || most > maxNumber {
		return fmt.Errorf("numbers from %d to %d, want 0 to %d", least, most, maxNumber)
	}
	return nil
}

// maxNumber is the greatest number of a mask: 24 bits.
const maxNumber = 1<<24 - 1
