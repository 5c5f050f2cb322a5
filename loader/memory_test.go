package loader_test

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"
	"weak"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/internal/loadertest"
	"github.com/penstock-go/penstock/loader"
)

// TestManyWorkersTakeNoMoreHeap: with the same slabs, 62 more workers take little
// more than their stacks.
func TestManyWorkersTakeNoMoreHeap(t *testing.T) {
	heap := func(workers int) int64 {
		before := live()
		ds := &fake{n: 1000, spec: dataset.Spec{{Name: "x", Dtype: dataset.Int64, Shape: dataset.Shape{1 << 12}}}, place: func(_ context.Context, i int, dst dataset.Slot) error {
			dataset.Row[int64](dst, 0)[0] = int64(i)
			return nil
		}}
		l := loadertest.New(t, ds, loader.Workers(workers), loader.BatchSize(8), loader.InFlight(3))
		if want := int64(3 * 8 << 15); l.Stats().SlabBytes != want {
			t.Errorf("%d bytes of slabs, want %d", l.Stats().SlabBytes, want)
		}
		for _, err := range l.Epoch(t.Context(), 0) {
			if err != nil {
				t.Fatal(err)
			}
		}
		taken := live() - before
		runtime.KeepAlive(l)
		return taken
	}
	const most = 512 << 10
	var few, many int64
	for range 5 { // what earlier tests have left may be freed meanwhile
		if few, many = heap(2), heap(64); many-few <= most {
			return
		}
	}
	t.Errorf("64 workers take %d bytes of heap, 2 take %d: want at most 512 KiB more", many, few)
}

func live() int64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

func TestRaggedRowsAreWholeElements(t *testing.T) {
	ds := &fake{n: 2, spec: dataset.Spec{{Name: "x", Dtype: dataset.Float32, Ragged: true}}, place: func(_ context.Context, i int, dst dataset.Slot) error {
		dst.Cell(0).Grow(4 + 2*i)
		return nil
	}}
	l := loadertest.New(t, ds, loader.Workers(1))
	var last error
	for _, err := range l.Epoch(t.Context(), 0) {
		last = err
	}
	if last == nil || !strings.Contains(last.Error(), "sample 1 (sample-1), epoch 0, batch 1: field x float32 (n) has 6 bytes, want a multiple of 4") {
		t.Errorf("got %v", last)
	}
}

// A strict allocator refuses Alloc(0).
type strict struct{ checked }

func (s *strict) Alloc(n int) ([]byte, error) {
	if n == 0 {
		return nil, errors.New("Alloc(0)")
	}
	return s.checked.Alloc(n)
}

func TestRaggedMemoryGrowsAndIsFreed(t *testing.T) {
	memory := new(strict)
	ds := &fake{n: 40, spec: dataset.Spec{{Name: "x", Dtype: dataset.Uint8, Ragged: true}}, place: func(_ context.Context, i int, dst dataset.Slot) error {
		dataset.Grow[uint8](dst, 0, i*i)
		return nil
	}}
	l, err := loader.New(ds, loader.Workers(2), loader.BatchSize(3), loader.Memory(memory))
	if err != nil {
		t.Fatal(err)
	}
	for b, err := range l.Epoch(t.Context(), 0) {
		if err != nil {
			t.Fatal(err)
		}
		i := b.Indices()[b.Len()-1]
		if ends := b.Offsets("x"); ends[b.Len()]-ends[b.Len()-1] != i*i {
			t.Errorf("sample %d has %d bytes", i, ends[b.Len()]-ends[b.Len()-1])
		}
	}
	if err := l.Close(); err != nil {
		t.Error(err)
	}
	if len(memory.out) != 0 {
		t.Errorf("%d pieces of memory are not freed", len(memory.out))
	}
}

func TestNewFreesWhatItCouldNotUse(t *testing.T) {
	for want, refuse := range map[string]func() error{
		"loader: slab of 64 bytes: no memory left": func() error { return errors.New("no memory left") },
		"loader: panic: no memory left":            func() error { panic("no memory left") },
	} {
		memory := &refusing{refuse: refuse, left: 3}
		_, err := loader.New(&fake{n: 8}, loader.Workers(2), loader.BatchSize(8), loader.Memory(memory))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
		if len(memory.out) != 0 {
			t.Errorf("%s: %d slabs are not freed", want, len(memory.out))
		}
	}
}

// A remembering allocator knows its memory without keeping it.
type remembering struct {
	mu   sync.Mutex
	made []weak.Pointer[byte]
}

func (r *remembering) Alloc(n int) ([]byte, error) {
	b := make([]byte, n)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.made = append(r.made, weak.Make(&b[0]))
	return b, nil
}

func (*remembering) Free([]byte) error { return nil }

// TestAClosedLoaderKeepsNoMemory: observers may keep the loader, as a list of its slowest samples does.
func TestAClosedLoaderKeepsNoMemory(t *testing.T) {
	memory := new(remembering)
	step := dataset.BatchFunc(func(dst, src dataset.Columns) error { return nil })
	l := loadertest.New(t, &fake{n: 40}, loader.Workers(2), loader.BatchSize(4), loader.Collate(step), loader.Memory(memory))
	for range l.Epoch(t.Context(), 0) {
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	kept := func() (n int) {
		runtime.GC()
		for _, p := range memory.made {
			if p.Value() != nil {
				n++
			}
		}
		return n
	}
	for range 100 {
		if kept() == 0 {
			break
		}
		time.Sleep(10 * time.Millisecond) // workers are leaving
	}
	if n := kept(); n > 0 || len(memory.made) < 3 {
		t.Errorf("%d of %d slabs are in use", n, len(memory.made))
	}
	runtime.KeepAlive(l)
}
