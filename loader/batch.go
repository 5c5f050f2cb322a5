package loader

import (
	"fmt"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/internal/dense"
	"github.com/penstock-go/penstock/internal/figures"
	"github.com/penstock-go/penstock/loader/internal/assemble"
	"github.com/penstock-go/penstock/loader/internal/plan"
)

// A Batch holds the samples of one batch, field by field. It is valid in the loop body that got it. After that its
// memory is reused for another batch, unless [Batch.Keep] was called.
//
// As long as a batch is valid, its values may be changed. Len, Epoch, Number, Position, Spec and String may be called at
// any time; all else panics if the batch is no longer valid, or has no field of the given name.
type Batch struct {
	l       *Loader
	job     *assemble.Job
	ref     plan.Ref
	rows    int
	at      plan.Mark    // after the batch was delivered
	holders atomic.Int32 // the loop body, and one for every Keep that is not released
}

// Len is the number of samples.
func (b *Batch) Len() int { return b.rows }

// Epoch is the epoch that the batch belongs to.
func (b *Batch) Epoch() int { return b.ref.Plan.Epoch }

// Number is the batch's number in its epoch, counted from 0.
func (b *Batch) Number() int { return b.ref.Plan.Number(b.ref.K) }

// Position is the place after the batch, where [Loader.From] continues.
func (b *Batch) Position() Position { return Position(b.at.Position()) }

// Indices are the samples' indices in the dataset, row by row. The slice is valid as long as the batch.
func (b *Batch) Indices() []int {
	b.check()
	return b.job.Slab.Indices[:b.rows:b.rows]
}

// Name is the dataset's name for the sample in a row, such as a file's path. It is "" if the dataset names
// none: see [dataset.Name].
func (b *Batch) Name(row int) string { return dataset.Name(b.l.ds, b.Indices()[row]) }

// Spec describes the batch's fields. It is shared: do not change it.
func (b *Batch) Spec() dataset.Spec { return b.l.Spec() }

// Tensor is one field of all samples, of shape (Len(), field's shape...). It uses the batch's memory, without a copy,
// and is valid as long as the batch.
//
// For a ragged field it has the elements of all samples, one sample after the other, and the shape (number of elements,
// field's shape...). [Batch.Offsets] says where each sample begins.
func (b *Batch) Tensor(field string) dataset.Tensor {
	i := b.field(field)
	f, n := b.job.Slab.Field(i), b.rows
	if f.Ragged {
		_, ends := b.job.Slab.Ragged(i)
		n = ends[b.rows]
	}
	return dataset.NewTensor(f.Dtype, append(dataset.Shape{n}, f.Shape...), b.Bytes(field))
}

// Values is the data of [Batch.Tensor] as a flat slice, without a copy. It panics if T is not the field's dtype.
func Values[T dataset.Element](b *Batch, field string) []T {
	mustHold[T](b.job.Slab.Field(b.field(field)))
	return dense.Values[T](b.Bytes(field))
}

// mustHold panics if T is not the field's dtype.
func mustHold[T dataset.Element](f dataset.Field) {
	if want := dataset.DtypeOf[T](); f.Dtype != want {
		panic(fmt.Sprintf("loader: field %q holds %v, not %v", f.Name, f.Dtype, want))
	}
}

// Offsets says where the samples of a ragged field begin and end. The result o has Len()+1 numbers: the sample in row r
// has the elements from o[r] up to, but not including, o[r+1]. It is valid as long as the batch. Offsets panics if the
// field is not ragged.
func (b *Batch) Offsets(field string) []int {
	_, ends := b.job.Slab.Ragged(b.ragged(field))
	return ends[: b.rows+1 : b.rows+1]
}

// Bytes is the memory that [Batch.Tensor] uses: one field of all samples, in the machine's byte order.
func (b *Batch) Bytes(field string) []byte {
	i := b.field(field)
	if b.job.Slab.Field(i).Ragged {
		values, _ := b.job.Slab.Ragged(i)
		return slices.Clip(values)
	}
	return b.job.Slab.Column(i, b.rows)
}

// Strings is a ragged uint8 field as text, one string per sample. The strings are copies. Strings panics if the field
// is not ragged, or not uint8.
func (b *Batch) Strings(field string) []string {
	text := Values[uint8](b, field)
	ends := b.Offsets(field)
	strings := make([]string, b.rows)
	for r := range strings {
		strings[r] = string(text[ends[r]:ends[r+1]])
	}
	return strings
}

// Keep keeps the batch valid until release is called, even after the loop has ended. Until then the loader has one slab
// fewer for other batches: see [InFlight]. Calling release again does nothing.
func (b *Batch) Keep() (release func()) {
	b.check()
	b.holders.Add(1)
	var released atomic.Bool
	return func() {
		if released.CompareAndSwap(false, true) {
			b.release()
		}
	}
}

// Copy copies the batch into Go's memory. The copy belongs to the caller and stays valid.
func (b *Batch) Copy() *Batch {
	b.check()
	own, err := b.job.Slab.Clone(b.rows)
	if err != nil {
		panic(fmt.Errorf("loader: Copy: %w", err))
	}
	c := &Batch{l: b.l, job: &assemble.Job{Slab: own}, ref: b.ref, rows: b.rows, at: b.at}
	c.holders.Store(1) // the caller, who never releases it
	return c
}

// release removes one holder. When the last one is removed, the memory goes back.
func (b *Batch) release() {
	if b.holders.Add(-1) == 0 {
		b.l.team.Release(b.job)
	}
}

func (b *Batch) check() {
	if b == nil {
		panic("loader: the batch is nil, because the loop ended with an error: look at the error before the batch")
	}
	if b.holders.Load() < 1 {
		panic(fmt.Sprintf("loader: batch %d of epoch %d is used after its loop body without Keep", b.Number(), b.Epoch()))
	}
}

// field is the column of the field of that name.
func (b *Batch) field(name string) int {
	b.check()
	spec, columns := b.l.steps.Delivered()
	i := spec.Index(name)
	if i < 0 {
		panic(fmt.Sprintf("loader: batch has no field %q, only %v", name, spec))
	}
	return columns[i]
}

// ragged is the column of the ragged field of that name.
func (b *Batch) ragged(name string) int {
	i := b.field(name)
	if f := b.job.Slab.Field(i); !f.Ragged {
		panic(fmt.Sprintf("loader: field %v is not ragged", f))
	}
	return i
}

// String describes the batch, as in "batch 3 of epoch 0: 128 samples of image float32 (3, 224, 224), label int64 ()".
func (b *Batch) String() string {
	var s strings.Builder
	fmt.Fprintf(&s, "batch %d of epoch %d: %s", b.Number(), b.Epoch(), figures.Count(b.rows, "sample", "samples"))
	if b.holders.Load() > 0 {
		fmt.Fprintf(&s, " of %v", b.Spec())
	}
	return s.String()
}
