package dataset

// A Future is the batches that a loader will place in one epoch, exactly. Several
// goroutines may use it at once.
type Future interface {
	// Len is the number of batches. Where a loop resumes in the middle of an epoch, they
	// are the batches from there on.
	Len() int
	// At appends the indices of a batch's samples to dst. Batches are numbered from 0 to
	// Len()-1. The indices may be out of range, or none, if the sampler fails.
	At(batch int, dst []int) []int
	// Begun is the number of batches that have been begun. They are begun in order.
	Begun() int
	// Done is a number of batches: all before it are complete, so their samples are not
	// placed again. It is Begun at most.
	Done() int
}

// A Foreseer is a Dataset that wants to know the future: so it can fetch what samples need
// in the order in which it is needed, and knows when it is no longer needed.
type Foreseer interface {
	// Foresee tells the batches of an epoch. It returns soon, and starts what fetches. A
	// loader calls it for an epoch before its first batch is begun, which may be while the
	// epoch before is being loaded.
	//
	// The loader calls stop once, when all batches are complete or the loop ends. When stop
	// returns, which should be soon, all goroutines that Foresee has started have ended, and
	// f is not used any more. A nil stop says that the dataset does not use f at all.
	Foresee(f Future) (stop func())
}

// Foresee passes f to ds if it is a [Foreseer], and returns nil otherwise. Datasets that
// wrap another one use it.
func Foresee(ds Dataset, f Future) (stop func()) {
	if ds, ok := ds.(Foreseer); ok {
		return ds.Foresee(f)
	}
	return nil
}

// A translated Future is that of an underlying dataset.
type translated struct {
	Future
	// translate turns indices into those of the underlying dataset, in place. It may leave
	// some out.
	translate func(indices []int) []int
}

func (t translated) At(batch int, dst []int) []int {
	n := len(dst)
	dst = t.Future.At(batch, dst)
	return dst[:n+len(t.translate(dst[n:]))]
}

// Underlying is the Future of which this one is a part. A store finds out with it which of
// its futures belong to one loop.
func (t translated) Underlying() Future { return t.Future }

// foreseeAll passes to every child its future, and joins what they return.
func foreseeAll(children []Dataset, of func(child int) Future) (stop func()) {
	var stops []func()
	for k, ds := range children {
		if stop := Foresee(ds, of(k)); stop != nil {
			stops = append(stops, stop)
		}
	}
	if stops == nil {
		return nil
	}
	return func() {
		for _, stop := range stops {
			defer stop() // all of them, even if one panics
		}
	}
}
