package loader

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync/atomic"

	"gorgonia.org/tensor"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/internal/dense"
	"github.com/penstock-go/penstock/internal/figures"
)

// A Batch is some samples, field by field. It belongs to the loop body that
// got it: afterwards its memory holds another batch, unless [Batch.Keep] was
// called. Methods panic when the batch is no longer valid, or when it has no
// field of the name.
type Batch struct {
	l       *Loader
	job     *job
	plan    *plan
	k       int
	rows    int
	at      mark         // after it was delivered
	own     bool         // its memory is not the loader's
	holders atomic.Int32 // the loop body and those who keep it
}

// Len is the number of samples: the batch size, or less in the last batch of an
// epoch and where samples were skipped.
func (b *Batch) Len() int { return b.rows }

// Epoch is the epoch that the batch belongs to.
func (b *Batch) Epoch() int { return b.plan.epoch }

// Number is the batch's place in its epoch, from 0.
func (b *Batch) Number() int { return b.plan.number(b.k) }

// Position is the place after the batch, from which [Loader.From] goes on. It is
// made when it is asked for, and may be asked for at any time.
func (b *Batch) Position() Position { return b.at.position(b.l.cfg.seed) }

// Indices are the samples in the dataset, row by row. They are valid as long as
// the batch.
func (b *Batch) Indices() []int {
	b.check()
	return b.job.indices[:b.rows:b.rows]
}

// Name is the dataset's name of the sample in a row, such as a file's path, or
// "" if the dataset has none (see [dataset.Namer]).
func (b *Batch) Name(row int) string { return dataset.Name(b.l.ds, b.Indices()[row]) }

// Spec describes the batch's fields. It is shared: do not change it.
func (b *Batch) Spec() dataset.Spec { return b.l.spec }

// Tensor is a field of all samples, with the shape (Len(), field's shape...),
// over the batch's memory, without a copy. Of a ragged field it is all samples'
// elements, one after the other; [Batch.Offsets] tells them apart.
func (b *Batch) Tensor(field string) *tensor.Dense {
	i := b.field(field)
	f, n := b.job.slab.spec[i], b.rows
	if f.Ragged {
		n = b.job.slab.ragged[i].ends[b.rows]
	}
	return dense.Tensor(f.Dtype, shape(f, n), b.Bytes(field))
}

func shape(f dataset.Field, n int) tensor.Shape {
	return append(tensor.Shape{n}, f.Shape...)
}

// Values is what [Batch.Tensor] holds as a flat slice of its dtype, which must be
// T's.
func Values[T dataset.Element](b *Batch, field string) []T {
	i := b.field(field)
	f := b.job.slab.spec[i]
	mustHold[T](f)
	return dense.Cast[T](f.Dtype, b.Bytes(field))
}

// mustHold panics if the field's dtype is not T's.
func mustHold[T dataset.Element](f dataset.Field) {
	if want := reflect.TypeFor[T](); f.Dtype.Type != want {
		panic(fmt.Sprintf("loader: field %q holds %v, not %v", f.Name, f.Dtype, want))
	}
}

// Offsets says where the samples of a ragged field begin: sample r has the
// elements from Offsets()[r] up to Offsets()[r+1]. There are Len()+1 of them.
func (b *Batch) Offsets(field string) []int {
	return b.ragged(field).ends[: b.rows+1 : b.rows+1]
}

// Padded is a ragged field as a rectangle: of shape (Len(), longest sample's
// number of elements, field's shape...), with pad after shorter samples. The
// memory belongs to the batch and is reused by another call for the same field.
func Padded[T dataset.Element](b *Batch, field string, pad T) *tensor.Dense {
	i := b.field(field)
	c := b.ragged(field)
	f := b.job.slab.spec[i]
	mustHold[T](f)
	longest := 0
	for r := range b.rows {
		longest = max(longest, c.ends[r+1]-c.ends[r])
	}
	values := dense.Cast[T](f.Dtype, c.values)
	size := f.Elements()
	bytes := b.job.slab.pad(c, b.rows*longest*f.Bytes())
	padded := dense.Cast[T](f.Dtype, bytes)
	for r := range b.rows {
		row := padded[r*longest*size : (r+1)*longest*size]
		n := copy(row, values[c.ends[r]*size:c.ends[r+1]*size])
		for k := range row[n:] {
			row[n+k] = pad
		}
	}
	shape := append(tensor.Shape{b.rows, longest}, f.Shape...)
	return dense.Tensor(f.Dtype, shape, bytes)
}

// Bytes is the memory of a field of all samples, in the machine's byte order: what
// [Batch.Tensor] lies over.
func (b *Batch) Bytes(field string) []byte {
	i := b.field(field)
	if b.job.slab.spec[i].Ragged {
		return slices.Clip(b.job.slab.ragged[i].values)
	}
	return b.job.slab.column(i, b.rows)
}

// Strings is a ragged uint8 field as text, one string per sample. They are copies.
func (b *Batch) Strings(field string) []string {
	text := Values[uint8](b, field)
	ends := b.Offsets(field)
	strings := make([]string, b.rows)
	for r := range strings {
		strings[r] = string(text[ends[r]:ends[r+1]])
	}
	return strings
}

// Keep makes the batch valid until release is called, even after the loop body
// or the loop. Until then one slab fewer is in use: the loop waits for ever, or
// until [Timeout], when all of them are kept; with Workers(0) there is only one.
// Calling release again does nothing.
func (b *Batch) Keep() (release func()) {
	b.check()
	b.holders.Add(1)
	var released atomic.Bool
	return func() {
		if released.CompareAndSwap(false, true) {
			b.giveUp()
		}
	}
}

// giveUp is release by those who have no use for its error, which Close reports.
func (b *Batch) giveUp() {
	if err := b.release(); err != nil {
		b.l.fails(err)
	}
}

// release is the end of one holder. The last one gives the memory back.
func (b *Batch) release() error {
	switch left := b.holders.Add(-1); {
	case left > 0:
		return nil
	case b.own:
		b.job.spoil()
		return b.job.slab.free()
	}
	b.l.release(b.job)
	return nil
}

func (b *Batch) check() {
	if b.holders.Load() < 1 {
		panic(fmt.Sprintf("loader: batch %d of epoch %d is used after its loop body without Keep", b.Number(), b.Epoch()))
	}
}

// field is the position of the field of that name.
func (b *Batch) field(name string) int {
	b.check()
	spec := b.job.slab.spec
	i := spec.Index(name)
	if i < 0 {
		panic(fmt.Sprintf("loader: batch has no field %q, only %v", name, spec))
	}
	return i
}

func (b *Batch) ragged(name string) *raggedColumn {
	i := b.field(name)
	if f := b.job.slab.spec[i]; !f.Ragged {
		panic(fmt.Sprintf("loader: field %v is not ragged", f))
	}
	return &b.job.slab.ragged[i]
}

// String describes the batch, as "batch 3 of epoch 0: 128 samples of image float32 (3, 224, 224), label int64 ()".
func (b *Batch) String() string {
	var s strings.Builder
	fmt.Fprintf(&s, "batch %d of epoch %d: %s", b.Number(), b.Epoch(), figures.Count(b.rows, "sample", "samples"))
	if b.holders.Load() > 0 {
		fmt.Fprintf(&s, " of %v", b.job.slab.spec)
	}
	return s.String()
}
