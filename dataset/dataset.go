// Package dataset defines what a loader loads, and holds what needs no format:
// folders of images ([ImageFolder]), tensors in memory ([Tensors]), functions
// ([Func]), the classics [CIFAR10], [CIFAR100] and [MNIST], and the ways to
// combine, change and keep datasets ([Concat], [Zip], [Subset], [RandomSplit],
// [Map], [Select], [Rename], [Cached]). Every other format has a package of its
// own below this one: npy, idx, csv, packed, volume.
//
// A [Dataset] says how many samples it has and, in its [Spec], what a sample
// consists of. Its [Reader] writes one sample at a time into a [Slot], the
// sample's own piece of a batch, so nothing is copied to collate a batch.
//
// # Adding a format
//
// [Func] is enough where a function of the index can place a sample, and [Map]
// where another dataset has what it needs. Otherwise write a package with
//
//   - an Open function that finds out, from headers alone if it can, the number
//     of samples and their [Spec], refuses what it will not be able to read, and
//     returns a [Dataset]. What a file promises is compared with its size before
//     memory is taken for it;
//   - a [Reader] per worker, which holds file handles and scratch memory. Its
//     Place begins with [CheckIndex], calls [Slot.Stage] with [StageRead] and
//     [StageDecode], and writes every element through [Row], [Set] and [Grow], or
//     reads a file straight into [Cell.Bytes]. It allocates nothing in steady
//     state, and its errors say what is wrong but not with which sample: the
//     loader and [At] add that from Name;
//   - Name ([Namer]), a file's path or a record's key, for errors;
//   - where storage is slow, ReadAhead ([ReadAheader]), which asks for samples
//     before they are placed;
//   - where many samples at once are faster than one by one, PlaceBatch
//     ([BatchReader]). It must place what Place would;
//   - a Write function over [Each], so that a test can read what it wrote.
//
// Test it with samples in random order, twice over the same slot, and with files
// that are cut short and damaged in every byte; fuzz the headers.
package dataset

import "context"

// A Dataset is a fixed collection of samples that share one Spec.
//
// It is used by several goroutines at once and must not change while a loader
// uses it. The interfaces [Namer] and [ReadAheader] extend it.
type Dataset interface {
	// Len is the number of samples. Their indices are 0 to Len()-1.
	Len() int
	// Spec describes the fields of a sample.
	Spec() Spec
	// Open makes a Reader. A loader opens one per worker, possibly at the same time.
	Open() (Reader, error)
}

// A Reader places samples. It belongs to one goroutine at a time, so its fields
// are a safe home for file handles, decoders and scratch memory.
//
// The interface [BatchReader] extends it.
type Reader interface {
	// Place writes sample i into dst: every element of every field, because dst
	// still holds an earlier batch. It must not keep dst.
	//
	// It returns soon after ctx is done. Its error need not name the sample,
	// because the loader does.
	Place(ctx context.Context, i int, dst Slot) error
	// Close frees what the Reader holds. Place is not called after it.
	Close() error
}

// A BatchReader is a Reader that can place many samples at once faster than one
// by one: by one query, by one large read, or by a gather over memory.
type BatchReader interface {
	Reader
	// PlaceBatch writes sample indices[k] into dst.At(k) for every k. It must
	// keep neither argument.
	//
	// After an error the loader places these samples again, one by one, to find
	// out which of them failed. Help and error policies so work as ever.
	PlaceBatch(ctx context.Context, indices []int, dst Slots) error
}

// Slots are the slots of consecutive rows of a batch. What At returns is valid
// until the next call of At. A slot that is asked for again holds what was
// written, and its random numbers go on.
type Slots interface {
	Len() int
	At(k int) Slot
}

// A Namer is a Dataset whose samples have names, for error messages: a file's
// path, a record's key.
type Namer interface {
	Name(i int) string
}

// Name is the name of sample i if ds is a [Namer], and "" otherwise.
func Name(ds Dataset, i int) string {
	if n, ok := ds.(Namer); ok {
		return n.Name(i)
	}
	return ""
}

// A ReadAheader is a Dataset that wants to know which samples will be placed
// soon, so that slow storage works while processors do.
type ReadAheader interface {
	// ReadAhead starts fetching the samples and returns without waiting for
	// them. It is only advice, so it reports no errors: Place will. It may be
	// called by several goroutines at once.
	ReadAhead(ctx context.Context, indices []int)
}

// ReadAhead passes the advice on if ds is a [ReadAheader]. Datasets that wrap
// another one use it.
func ReadAhead(ctx context.Context, ds Dataset, indices []int) {
	if r, ok := ds.(ReadAheader); ok {
		r.ReadAhead(ctx, indices)
	}
}
