// Package dataset defines what a loader loads, and holds the datasets that need
// no package of their own: folders of images ([ImageFolder]), tensors in
// memory ([Tensors]) and functions ([Func]). It also combines, changes and caches
// datasets: [Concat], [Zip], [Subset], [RandomSplit], [StratifiedSplit],
// [GroupedSplit], [Map], [Select], [Rename], [Cached]. Every other format has a
// package of its own in this folder: npy, idx, csv, packed, volume; classic for
// CIFAR and MNIST; coco, voc and masks for images with boxes and masks. Package
// objects makes file systems of objects on HTTP servers, for all of them. Package
// shards reads tar files, TFRecord and MDS, which hold many samples each. Package stream
// reads channels, queues and logs, whose length is not known.
//
// A [Dataset] says how many samples it has. Its [Spec] lists the fields of a
// sample. Its [Reader] writes one sample at a time into a [Slot], which is the
// sample's own piece of a batch, so nothing is copied to collate a batch.
//
// # Adding a format
//
// Use [Func] if a function of the index can place a sample. Use [Map] if the
// fields can be computed from those of another dataset. The program examples/dataset
// in the repository has a small dataset of files. Otherwise write a package with
//
//   - an Open function that finds the number of samples and their [Spec], from
//     headers alone if it can, and returns a [Dataset]. It returns an
//     error for a file whose samples cannot be read later. It compares what a
//     header promises with the size of the file before it allocates memory;
//   - a [Reader] per worker, which holds file handles and scratch memory. Its
//     Place begins with [CheckIndex] and calls [Slot.Stage] with [StageRead]
//     and [StageDecode]. It writes every element through [Row], [Set] and
//     [Grow], or reads a file straight into [Cell.Bytes]. It allocates nothing
//     in steady state. Its errors say what is wrong. They do not name the
//     sample: the loader and [At] add its name;
//   - Name ([Namer]): a file's path or a record's key, for errors;
//   - Foresee ([Foreseer]), where storage is slow: it gets the whole order of an epoch,
//     and requests data long before it is needed. [ForeseeFiles] is enough for datasets
//     that read files;
//   - PlaceParts ([PartReader]), where a part of a large encoded file may be enough;
//   - PlaceBatch ([BatchReader]), where many samples at once are faster than
//     one by one. It must write what Place would;
//   - a Write function that uses [Each], so that a test can read what it wrote.
//
// Test it with samples in random order, twice over the same slot, and with
// files that are cut short or damaged at any byte. Fuzz the headers.
package dataset

import "context"

// A Dataset is a fixed collection of samples that share one Spec.
//
// Several goroutines use it at once. It must not change while a loader uses it.
// The interfaces [Namer], [Foreseer] and [Awaiter] extend it.
type Dataset interface {
	// Len is the number of samples. Their indices are 0 to Len()-1. It is [Unknown] for a
	// dataset that is read from a stream.
	Len() int
	// Spec describes the fields of a sample.
	Spec() Spec
	// Open makes a Reader. A loader opens one per worker, possibly at the same time.
	Open() (Reader, error)
}

// A Reader places samples: it writes them into slots. One goroutine at a time
// uses it, so its fields may hold file handles, decoders and scratch memory.
//
// The interfaces [BatchReader] and [PartReader] extend it.
type Reader interface {
	// Place writes sample i into dst. It writes every element of every field,
	// because dst still holds an earlier batch. It must not keep dst.
	//
	// It returns soon after ctx is done. Its error need not name the sample:
	// the loader adds the name.
	Place(ctx context.Context, i int, dst Slot) error
	// Close frees what the Reader holds. Place is not called after it.
	Close() error
}

// A BatchReader is a Reader that can place many samples at once faster than one
// by one: by one query, one large read, or a gather from memory.
type BatchReader interface {
	Reader
	// PlaceBatch writes sample indices[k] into dst.At(k) for every k. It must
	// keep neither argument.
	//
	// After an error the loader places these samples again, one by one, to find
	// out which of them failed. So error policies apply to single samples.
	PlaceBatch(ctx context.Context, indices []int, dst Slots) error
}

// Slots are the slots of consecutive rows of a batch. What At returns is valid
// until the next call of At. A second call of At with the same k returns the
// same slot: it holds what was written into it, and its random numbers
// continue.
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
