package dataset

import (
	"io/fs"
	"runtime/debug"
	"sync"
	"time"

	"github.com/penstock-go/penstock/internal/files"
)

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

// Foresee tells ds the batches of an epoch if it has a method Foresee: so it can fetch what
// samples need in the order in which it is needed, and knows when it is no longer needed. The
// method returns soon, and starts what fetches. A loader calls it for an epoch before its first
// batch is begun, which may be while the epoch before is being loaded.
//
// The loader calls stop once, when all batches are complete or the loop ends. When stop
// returns, which should be soon, all goroutines that the method has started have ended, and
// f is not used any more. A nil stop says that the dataset does not use f at all. Datasets
// that wrap another one pass f on with this function.
func Foresee(ds Dataset, f Future) (stop func()) {
	if ds, ok := ds.(interface{ Foresee(f Future) func() }); ok {
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

// FileBlocks says which parts of files each sample of a dataset is read from. Several
// goroutines call its functions at once.
type FileBlocks struct {
	// Len is the number of blocks.
	Len int
	// Of is the number of the block that a sample is read from, or -1 if there is none. If Of
	// is nil, sample i is in block i.
	Of func(sample int) int
	// At appends the parts of files that a block consists of to dst. There are none if it
	// will not be read, because it is in memory.
	At func(block int, dst []FilePart) []FilePart
	// Once says that the dataset keeps a block in memory for all of its samples. Otherwise it
	// reads it for every sample.
	Once bool
}

// A FilePart is a part of a file that is read by one ReadAt.
type FilePart struct {
	Path string // as the file is opened
	Off  int64
	Len  int64 // in bytes, or -1 for the whole file
}

// ForeseeFiles passes f on to fsys if it has a method ForeseeFiles of this kind, as the file system of
// package objects has if its store fetches ahead. Datasets that read files use it in their method
// [Foresee].
//
// Of any other file system it begins to open the files. If they are files of the operating
// system, it asks it to read their parts ahead (Linux and macOS), as far as the next batch and 16
// MiB. Of parts that are all in memory it looks at one per batch.
//
// Such a file system finds a part again by its path, offset and length alone. So a Reader must read
// it by one ReadAt of exactly these bytes.
func ForeseeFiles(fsys fs.FS, f Future, b FileBlocks) (stop func()) {
	if s, ok := fsys.(fetcher); ok {
		return s.ForeseeFiles(f, b)
	}
	return advise(fsys, f, b)
}

// A fetcher is a file system that itself begins to fetch what [ForeseeFiles] says.
type fetcher interface {
	ForeseeFiles(f Future, b FileBlocks) func()
}

const (
	// adviceAhead is how many bytes the operating system is asked for before their batches are
	// begun: enough for a disk to be busy while a batch is computed, and little of any memory.
	adviceAhead = 16 << 20
	// adviceEvery is the time between two looks at how far the loader is. In that time a
	// loader does not place as many bytes as lie ahead.
	adviceEvery = 5 * time.Millisecond
	// adviceSure is how many parts in a row are in memory before all others are taken to be
	// there, too. From then on only the first part of every batch is looked at, until one is not
	// in memory. To look at all of them takes a third of the time to read them from memory.
	adviceSure = 32
)

// An advice asks the operating system to read local files before they are read, batch by batch.
type advice struct {
	future Future
	blocks FileBlocks
	files  files.Advisor
	quit   chan struct{}
	known  []uint64 // a bit per block, with Once: whether it was asked for

	ahead int64   // bytes of the batches that were asked for and are not begun
	sizes []int64 // of each of them

	indices []int
	parts   []FilePart
}

// advise starts the goroutine of an advice. stop ends it, and passes on a panic of fsys.
func advise(fsys fs.FS, f Future, b FileBlocks) (stop func()) {
	if !files.TakesAdvice {
		return nil
	}
	a := &advice{future: f, blocks: b, files: files.Advisor{FS: fsys}, quit: make(chan struct{})}
	if b.Once {
		a.known = make([]uint64, (max(b.Len, 0)+63)/64)
	}
	var group sync.WaitGroup
	var panicked *PanicError
	group.Go(func() {
		defer func() {
			if v := recover(); v != nil {
				panicked = &PanicError{Value: v, Stack: debug.Stack()}
			}
		}()
		a.run()
	})
	return func() {
		close(a.quit)
		group.Wait()
		if panicked != nil {
			panic(panicked)
		}
	}
}

func (a *advice) run() {
	defer a.files.Close()
	tick := time.NewTicker(adviceEvery)
	defer tick.Stop()
	for batch := range a.future.Len() {
		for !a.due(batch) {
			select {
			case <-a.quit:
				return
			case <-tick.C:
			}
		}
		if !a.ask(batch) {
			return
		}
	}
}

// due reports whether it is time for a batch: it is the next that will be begun, or there is
// room for more bytes ahead.
func (a *advice) due(batch int) bool {
	begun := a.future.Begun()
	for len(a.sizes) > 0 && batch-len(a.sizes) < begun {
		a.ahead -= a.sizes[0]
		a.sizes = a.sizes[1:]
	}
	return batch <= begun || a.ahead < adviceAhead
}

// ask asks for the files of a batch. It reports false if there is nothing more to ask for.
func (a *advice) ask(batch int) (more bool) {
	size := int64(0)
	a.indices = a.future.At(batch, a.indices[:0])
	for k, i := range a.indices {
		select {
		case <-a.quit:
			return false
		default:
		}
		a.parts = a.of(i, a.parts[:0])
		for _, p := range a.parts {
			n, local := a.files.Advise(p.Path, p.Off, p.Len)
			if !local {
				return false
			}
			size += n
		}
		if a.files.InMemory >= adviceSure {
			size = size / int64(k+1) * int64(len(a.indices)) // with the others, roughly
			break
		}
	}
	a.sizes = append(a.sizes, size)
	a.ahead += size
	return true
}

// of appends the parts of files that a sample is read from and that were not asked for.
func (a *advice) of(sample int, dst []FilePart) []FilePart {
	b := &a.blocks
	k := sample
	if b.Of != nil {
		k = b.Of(sample)
	}
	if k < 0 || k >= b.Len {
		return dst
	}
	if b.Once {
		if a.known[k/64]&(1<<(k%64)) != 0 {
			return dst
		}
		a.known[k/64] |= 1 << (k % 64)
	}
	return b.At(k, dst)
}
