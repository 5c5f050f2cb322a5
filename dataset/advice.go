package dataset

import (
	"io/fs"
	"runtime/debug"
	"sync"
	"time"

	"github.com/penstock-go/penstock/internal/files"
)

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
