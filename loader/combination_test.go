package loader_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/loader"
	"github.com/penstock-go/penstock/sampler"
)

// A combination is what decides the content of batches. Everything else that a loader can
// be told must not change it.
type combination struct {
	n, size, epochs int
	bad             map[int]bool // samples that cannot be placed
	together        bool         // whether Readers place several samples by one call
	ragged          bool
	grows           bool // whether later epochs may have larger batches
	options         []loader.Option

	placing atomic.Int64 // calls of Place that have not returned
	open    atomic.Int64 // Readers
}

func newCombination(r *rand.Rand) *combination {
	flip := func() bool { return r.IntN(2) == 0 }
	c := &combination{n: 1 + r.IntN(60), size: 1 + r.IntN(8), epochs: 1 + r.IntN(3), bad: map[int]bool{}, together: flip(), ragged: r.IntN(3) > 0}
	skip := flip()
	add := func(o ...loader.Option) { c.options = append(c.options, o...) }
	add(loader.Seed(r.Uint64()))
	if flip() {
		world := 1 + r.IntN(3)
		add(loader.Ranks(r.IntN(world), world, sampler.Mode(r.IntN(3))))
	}
	if r.IntN(3) == 0 {
		c.grows = true // for a rank that has the last batch in epoch 0
		add(loader.BatchSampler(sampler.ByLength(make([]int, c.n), r.Uint64N(5), sampler.BatchSize(c.size))))
	} else {
		add(loader.BatchSize(c.size), loader.DropLast(flip()), loader.Shuffle(flip()))
	}
	if skip {
		for range c.n / 10 {
			c.bad[r.IntN(c.n)] = true
		}
		add(loader.Skip(loader.NoLimit))
	}
	if flip() {
		add(loader.Collate(dataset.BatchFunc(func(dst, src dataset.Columns) error {
			for k := range dataset.Column[float32](dst, 1) {
				dataset.Column[float32](dst, 1)[k] += dst.Rand().Float32()
			}
			return nil
		})))
	}
	return c
}

// dataset has samples that take up to 3 ms.
func (c *combination) dataset() dataset.Dataset {
	ds := augmented(c.n)
	if !c.ragged {
		ds.spec = ds.spec[:2]
	}
	place := ds.place
	ds.place = func(ctx context.Context, i int, dst dataset.Slot) error {
		c.placing.Add(1)
		defer c.placing.Add(-1)
		select {
		case <-time.After(time.Duration(i*i%31) * 100 * us):
		case <-ctx.Done():
			return ctx.Err()
		}
		if c.bad[i] {
			return errBad
		}
		if !c.ragged {
			dataset.Set(dst, 0, int64(i))
			for k := range dataset.Row[float32](dst, 1) {
				dataset.Row[float32](dst, 1)[k] = dst.Rand().Float32()
			}
			return nil
		}
		return place(ctx, i, dst)
	}
	ds.open = func() error { c.open.Add(1); return nil }
	ds.close = func() error { c.open.Add(-1); return nil }
	if c.together {
		return gathering{ds}
	}
	return ds
}

// gathering is a fake whose Readers place several samples by one call.
type gathering struct{ *fake }

func (g gathering) Open() (dataset.Reader, error) {
	r, err := g.fake.Open()
	if err != nil {
		return nil, err
	}
	return gatherReader{r.(fakeReader), &gatherer{fake: g.fake}}, nil
}

// slab is the size of a slab in bytes, if no field is ragged.
func (c *combination) slab() int {
	align := func(n int) int { return (n + 63) / 64 * 64 }
	rows := min(c.size, c.n)
	return align(8*rows) + align(24*rows)
}

// batches is what a loader delivers from a position on, at most so many batches, and the
// position after them.
func (c *combination) batches(t *testing.T, l *loader.Loader, p loader.Position, most int) (all []string, after loader.Position) {
	t.Helper()
	for b, err := range l.From(t.Context(), p, c.epochs) {
		if err != nil {
			t.Fatal(err)
		}
		text := fmt.Sprint(b.Epoch(), b.Number(), b.Indices(), loader.Values[int64](b, "x"), loader.Values[float32](b, "noise"))
		if c.ragged {
			text = content(b)
		}
		all, p = append(all, text), b.Position()
		if most--; most == 0 {
			break
		}
		time.Sleep(time.Duration(len(all)%4) * time.Millisecond)
	}
	return all, p
}

// manner is a random manner to load the combination. What it checks while it does is
// reported by the function that it returns, which is to be called when the loader is closed.
func (c *combination) manner(t *testing.T, r *rand.Rand, unordered bool) (options []loader.Option, check func()) {
	flip := func() bool { return r.IntN(2) == 0 }
	memory, budget := &peaked{}, 0
	workers := r.IntN(10)
	options = append(slices.Clone(c.options), loader.Help(flip()), loader.Unordered(unordered), loader.Memory(memory))
	switch r.IntN(4) {
	case 0:
		options = append(options, loader.InFlight(1+r.IntN(6)))
	case 1:
		budget = (1 + r.IntN(6)) * c.slab()
		options = append(options, loader.Budget(budget))
	case 2:
		if workers > 0 {
			options = append(options, loader.InFlight(1+r.IntN(9)))
		}
	}
	if workers > 0 && flip() {
		whims := rand.New(rand.NewPCG(r.Uint64(), 1))
		options = append(options, loader.Workers(loader.Auto), loader.Restless(1+r.IntN(9), whims.IntN))
	} else {
		options = append(options, loader.Workers(workers))
	}
	if flip() {
		options = append(options, loader.Timeout(time.Hour))
	}
	hooks := &lives{}
	if flip() {
		options = append(options, loader.Observe(hooks.trace(t)))
	}
	return options, func() {
		t.Helper()
		if n := len(memory.out); n > 0 {
			t.Errorf("%d pieces of memory are not freed", n)
		}
		if !c.ragged && !c.grows && budget > 0 && memory.most > budget {
			t.Errorf("%d bytes of memory with Budget(%d)", memory.most, budget)
		}
		if n := c.open.Load(); n != 0 {
			t.Errorf("%d Readers are not closed", n)
		}
		hooks.over(t)
	}
}

// A peaked allocator knows the most bytes that were out at once.
type peaked struct {
	checked
	now, most int // checked.mu guards them
}

func (p *peaked) Alloc(n int) ([]byte, error) {
	b, err := p.checked.Alloc(n)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.now += len(b)
	p.most = max(p.most, p.now)
	return b, err
}

func (p *peaked) Free(b []byte) error {
	p.mu.Lock()
	p.now -= len(b)
	p.mu.Unlock()
	return p.checked.Free(b)
}

// lives follow batches through the hooks.
type lives struct {
	mu    sync.Mutex
	stage map[int64]string
}

func (l *lives) trace(t *testing.T) loader.Trace {
	l.stage = map[int64]string{}
	step := func(b loader.BatchInfo, to string, from ...string) {
		l.mu.Lock()
		defer l.mu.Unlock()
		if at := l.stage[b.ID]; !slices.Contains(from, at) {
			t.Errorf("batch %d is %s after %q", b.ID, to, at)
		}
		l.stage[b.ID] = to
	}
	return loader.Trace{
		BatchBegun:     func(b loader.BatchInfo) { step(b, "begun", "") },
		BatchReady:     func(b loader.BatchInfo, _ time.Duration) { step(b, "ready", "begun") },
		BatchDelivered: func(b loader.BatchInfo, _ time.Duration) { step(b, "delivered", "ready") },
		BatchEnded:     func(b loader.BatchInfo, _ time.Duration) { step(b, "ended", "delivered") },
		BatchFreed:     func(b loader.BatchInfo) { step(b, "freed", "begun", "ready", "ended", "delivered") },
		SampleDone: func(s loader.SampleInfo) {
			l.mu.Lock()
			defer l.mu.Unlock()
			if at := l.stage[s.Batch.ID]; at != "begun" {
				t.Errorf("a sample of batch %d is placed after %q", s.Batch.ID, at)
			}
		},
	}
}

// over reports batches that were begun and not freed.
func (l *lives) over(t *testing.T) {
	t.Helper()
	for id, at := range l.stage {
		if at != "freed" {
			t.Errorf("batch %d is %s in the end", id, at)
		}
	}
}
