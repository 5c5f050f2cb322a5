package loader

import (
	"fmt"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/internal/dense"
)

// A PadOption changes the length of [Padded] and [Mask], or where the padding is. The zero PadOption sets nothing.
type PadOption struct{ set func(*padding) }

type padding struct {
	length   int // fixed length; 0 if it is that of the longest sample
	multiple int
	left     bool
}

// PadTo sets a fixed length, for compiled models. Longer samples lose their end, as with truncation=True in Hugging
// Face's tokenizers. The default is the length of the longest sample of the batch. PadTo panics if length is below 1.
func PadTo(length int) PadOption {
	if length < 1 {
		panic(fmt.Sprintf("loader: PadTo(%d): want 1 or more", length))
	}
	return PadOption{func(p *padding) { p.length = length }}
}

// PadToMultiple rounds the length up to a multiple of n, so that batches have fewer different lengths, or suit tensor
// cores: pad_to_multiple_of in Hugging Face's tokenizers. PadToMultiple panics if n is below 1.
func PadToMultiple(n int) PadOption {
	if n < 1 {
		panic(fmt.Sprintf("loader: PadToMultiple(%d): want 1 or more", n))
	}
	return PadOption{func(p *padding) { p.multiple = n }}
}

// PadLeft puts the padding before the elements instead of after them, as generating language models need it.
func PadLeft() PadOption { return PadOption{func(p *padding) { p.left = true }} }

func newPadding(options []PadOption) padding {
	p := padding{multiple: 1}
	for _, option := range options {
		if option.set != nil {
			option.set(&p)
		}
	}
	return p
}

// of is the length of the first rows when they are padded.
func (p padding) of(ends []int, rows int) int {
	length := p.length
	if length == 0 {
		for r := range rows {
			length = max(length, ends[r+1]-ends[r])
		}
	}
	return (length + p.multiple - 1) / p.multiple * p.multiple
}

// row is where the elements of a sample are: n of them from the padded row's element at on.
func (p padding) row(ends []int, r, length int) (at, n int) {
	n = min(ends[r+1]-ends[r], length)
	if p.length > 0 {
		n = min(n, p.length)
	}
	if p.left {
		at = length - n
	}
	return at, n
}

// Padded is a ragged field as a tensor of shape (Len(), length, field's shape...). Without options, length is the
// number of elements in the longest sample of the batch. After the elements of shorter samples, the rows are filled
// with pad. [PadTo], [PadToMultiple] and [PadLeft] change that, and [Mask] says where elements are. Padded panics if
// the field is not ragged, or if T is not its dtype.
//
// The tensor has memory of its own, which stays valid after the loop body.
func Padded[T dataset.Element](b *Batch, field string, pad T, options ...PadOption) dataset.Tensor {
	i := b.ragged(field)
	f := b.job.Slab.Field(i)
	mustHold[T](f)
	joined, ends := b.job.Slab.Ragged(i)
	p := newPadding(options)
	length, size := p.of(ends, b.rows), f.Elements()
	bytes := own(b.rows * length * f.Bytes())
	values, padded := dense.Values[T](joined), dense.Values[T](bytes)
	for r := range b.rows {
		row := padded[r*length*size : (r+1)*length*size]
		at, n := p.row(ends, r, length)
		fill(row[:at*size], pad)
		copy(row[at*size:], values[ends[r]*size:(ends[r]+n)*size])
		fill(row[(at+n)*size:], pad)
	}
	return dataset.NewTensor(f.Dtype, append(dataset.Shape{b.rows, length}, f.Shape...), bytes)
}

// Mask says where [Padded] with the same options has elements of the samples: it is a tensor of shape (Len(), length)
// with true or 1 there, and false or 0 in the padding. An attention mask is Mask[int64]. Mask panics if the field is
// not ragged.
func Mask[T bool | uint8 | int32 | int64 | float32](b *Batch, field string, options ...PadOption) dataset.Tensor {
	i, p := b.ragged(field), newPadding(options)
	_, ends := b.job.Slab.Ragged(i)
	length := p.of(ends, b.rows)
	dt := dataset.DtypeOf[T]()
	bytes := own(b.rows * length * dt.Size())
	mask := dense.Values[T](bytes)
	for r := range b.rows {
		at, n := p.row(ends, r, length)
		fill(mask[r*length+at:r*length+at+n], one[T]())
	}
	return dataset.NewTensor(dt, dataset.Shape{b.rows, length}, bytes)
}

// own is n zero bytes of Go's memory.
func own(n int) []byte {
	bytes, err := Heap{}.Alloc(n)
	if err != nil {
		panic(fmt.Errorf("loader: Padded: %w", err))
	}
	return bytes
}

func fill[T any](values []T, v T) {
	for k := range values {
		values[k] = v
	}
}

// one is true or 1.
func one[T any]() (v T) {
	switch v := any(&v).(type) {
	case *bool:
		*v = true
	case *uint8:
		*v = 1
	case *int32:
		*v = 1
	case *int64:
		*v = 1
	case *float32:
		*v = 1
	}
	return v
}
