package dataset

import "context"

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

// Foresee passes f on to the other dataset, if it is a [Foreseer].
func (w Wrap) Foresee(f Future) (stop func()) { return Foresee(w.Dataset, f) }

// Await waits for samples of the other dataset, if its length is [Unknown].
func (w Wrap) Await(ctx context.Context, n int, idle <-chan struct{}) (have int, ended bool, err error) {
	return Await(ctx, w.Dataset, n, idle)
}
