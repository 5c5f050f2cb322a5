// Package dataset defines what a loader loads, and holds the datasets that need
// no package of their own: folders of images ([ImageFolder]), tensors in
// memory ([Tensors]) and functions ([Func]). It also combines, changes and caches
// datasets: [Concat], [Zip], [Subset], [RandomSplit], [StratifiedSplit],
// [GroupedSplit], [Map], [Select], [Rename], [Cached]. Every other format has a
// package of its own in this folder: npy, idx, csv, jsonl, packed, volume; classic for
// CIFAR and MNIST; coco, voc and masks for images with boxes and masks; tokens for
// language models; audio for sound. Package objects makes file systems of objects on HTTP servers, for all of them. Package
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
//   - Name: see [Name]; a file's path or a record's key, for errors;
//   - Foresee (see [Foresee]), where storage is slow: it gets the whole order of an epoch,
//     and requests data long before it is needed. [ForeseeFiles] is enough for datasets
//     that read files;
//   - PlaceParts ([PartReader]), where a part of a large sample may be enough;
//   - PlaceBatch ([BatchReader]), where many samples at once are faster than
//     one by one. It must write what Place would;
//   - a Write function that uses [Each], so that a test can read what it wrote.
//
// Test it with samples in random order, twice over the same slot, and with
// files that are cut short or damaged at any byte. Fuzz the headers.
package dataset

import (
	"context"
	"errors"
	"fmt"
	"io"
)

// A Dataset is a fixed collection of samples that share one Spec.
//
// Several goroutines use it at once. It must not change while a loader uses it.
// Methods Name, Foresee and Await extend it: see [Name], [Foresee] and [Awaiter].
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
// continue. The memory of its cells stays where it is, until they grow again.
type Slots interface {
	Len() int
	At(k int) Slot
}

// Name is the name of sample i, for error messages: a file's path, a record's key. It is what a
// method Name of ds returns, or "" if ds has none.
func Name(ds Dataset, i int) string {
	if n, ok := ds.(interface{ Name(i int) string }); ok {
		return n.Name(i)
	}
	return ""
}

// CheckIndex returns nil if i is from 0 to n-1, and otherwise the error that a
// Reader of n samples returns for sample i.
func CheckIndex(i, n int) error {
	if i < 0 || i >= n {
		return fmt.Errorf("dataset: sample %d is out of range: there are %d", i, n)
	}
	return nil
}

// A PartReader is a [Reader] that need not read a long sample as a whole, because its user may
// need only a part: a crop of a packed photo needs only its rows. The Readers
// of Subset, Concat, Zip, Select and Rename pass this on.
type PartReader interface {
	// PlaceParts is Place, but it may leave out field f, which is ragged. Then it
	// returns the field's length n in bytes, and parts, which reads them. parts is valid
	// until the next sample is placed, and nil if the field has been placed.
	PlaceParts(ctx context.Context, i, f int, dst Slot) (n int, parts io.ReaderAt, err error)
}

// A Wrap is a Dataset that is another one in everything: it has the names of its samples, tells it
// the future, waits for its samples, and its Readers are those of the other one, with all that they
// can do ([BatchReader], [PartReader]). Embed it in a dataset of your own, and write only the
// methods that differ:
//
//	type birds struct {
//		dataset.Wrap
//		species []string
//	}
//
// A struct that embeds a Dataset alone would lose all of that. Where the samples themselves
// differ, wrap what [Map], [Select] or [Subset] makes of the other dataset: they pass on the rest,
// too. A dataset with an Open of its own has Readers that can do what it writes for them. One whose
// indices differ needs methods Name and Foresee of its own.
type Wrap struct {
	// Dataset is the other one. It must not change while a loader uses it.
	Dataset
}

// Name is the name of the sample in the other dataset, or "" if it has none.
func (w Wrap) Name(i int) string { return Name(w.Dataset, i) }

// Foresee passes f on to the other dataset, if that wants it.
func (w Wrap) Foresee(f Future) (stop func()) { return Foresee(w.Dataset, f) }

// Await waits for samples of the other dataset, if its length is [Unknown].
func (w Wrap) Await(ctx context.Context, n int, idle <-chan struct{}) (have int, ended bool, err error) {
	return Await(ctx, w.Dataset, n, idle)
}

// Unknown is the Len of a dataset whose number of samples is known only at its end, if it
// has one: PyTorch calls it an IterableDataset. Such a dataset is an [Awaiter]. Package
// stream makes one. A loader reads it, and [Map], [Select], [Rename] and
// transform.Images pass it on. What needs a length refuses it: [Concat], [Zip],
// [Subset], [Cached], splits, and functions that write datasets.
const Unknown = -1

// An Awaiter is a Dataset whose Len is [Unknown]. Its samples are numbered in the order
// in which a loader takes them.
type Awaiter interface {
	// Await waits until the samples 0 to n-1 can be placed, or until it is known that
	// there are fewer. It returns how many samples can be placed now. If ended is true,
	// there will never be more. Place of these samples does not wait for others.
	//
	// A loader that has nothing else to do closes idle while it waits: then its loop body
	// does not run. A dataset that waits for something that the loop body does, such as
	// giving memory back, returns an error then, instead of waiting for ever.
	//
	// Await returns soon after ctx is done. An error ends the loop after the batches that
	// are complete. Several goroutines may call Await at once.
	Await(ctx context.Context, n int, idle <-chan struct{}) (have int, ended bool, err error)
}

// Await asks ds if it is an [Awaiter]. Datasets that wrap another one use it. A dataset
// with a known length has ended.
func Await(ctx context.Context, ds Dataset, n int, idle <-chan struct{}) (have int, ended bool, err error) {
	switch a, ok := ds.(Awaiter); {
	case ds.Len() >= 0:
		return ds.Len(), true, nil
	case ok:
		return a.Await(ctx, n, idle)
	}
	return 0, false, fmt.Errorf("dataset: Len of %T is %d, and it is not an Awaiter", ds, ds.Len())
}

// errUnknown is the error of what needs to know the length of a dataset.
var errUnknown = errors.New("its length is unknown, because it is read from a stream")

// given reports an error if there is no dataset.
func given(what string, ds Dataset) error {
	if ds == nil {
		return fmt.Errorf("dataset: %s: the dataset is nil", what)
	}
	return nil
}

// needsLength reports an error if there is no dataset, or if its length is not known.
func needsLength(what string, ds Dataset) error {
	if err := given(what, ds); err != nil {
		return err
	}
	if ds.Len() < 0 {
		return fmt.Errorf("dataset: %s: %T: %w", what, ds, errUnknown)
	}
	return nil
}
