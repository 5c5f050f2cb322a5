//go:build linux && (amd64 || arm64)

package gpu_test

import (
	"context"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"unsafe"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/gpu"
	driver "github.com/penstock-go/penstock/gpu/internal/fake"
	"github.com/penstock-go/penstock/loader"
)

// width is how many values a sample of numbers has.
const width = 16

// numbers is a dataset of n samples; every value of sample i is i.
func numbers(n int) dataset.Dataset {
	spec := dataset.Spec{{Name: "x", Dtype: dataset.Int64, Shape: dataset.Shape{width}}}
	return dataset.Func(n, spec, func(_ context.Context, i int, dst dataset.Slot) error {
		row := dataset.Row[int64](dst, 0)
		for k := range row {
			row[k] = int64(i)
		}
		return nil
	})
}

// staged is a stage over a loader, closed at the end of the test.
func staged(t testing.TB, d *gpu.Device, m loader.Allocator, ds dataset.Dataset, buffers int, options ...loader.Option) *gpu.Stage {
	t.Helper()
	l, err := loader.New(ds, append(options, loader.Memory(m))...)
	if err != nil {
		t.Fatal(err)
	}
	closed(t, l)
	s, err := gpu.NewStage(d, l, gpu.Buffers(buffers))
	if err != nil {
		t.Fatal(err)
	}
	closed(t, s)
	return s
}

// values is a field of a batch, copied back from the device.
func values(t testing.TB, b *gpu.Batch, field string) []int64 {
	t.Helper()
	v := make([]int64, b.Column(field).Bytes/8)
	if len(v) == 0 {
		return v
	}
	if _, err := b.Download(unsafe.Slice((*byte)(unsafe.Pointer(&v[0])), 8*len(v)), field); err != nil {
		t.Fatal(err)
	}
	return v
}

// check reports a batch of numbers that is not what its indices say.
func check(t testing.TB, b *gpu.Batch) {
	t.Helper()
	for k, v := range values(t, b, "x") {
		if v != int64(b.Indices()[k/width]) {
			t.Fatalf("batch %d, value %d: got %d, want %d", b.Number(), k, v, b.Indices()[k/width])
		}
	}
}

func TestEveryBatchArrivesOnceAndInOrder(t *testing.T) {
	d := open(t)
	s := staged(t, d, pinned(t, d), numbers(41), 2, loader.BatchSize(4), loader.Workers(3))
	for epoch := range 2 {
		next := 0
		for b, err := range s.Epoch(t.Context(), epoch) {
			if err != nil {
				t.Fatal(err)
			}
			check(t, b)
			c := b.Column("x")
			if want := (dataset.Shape{b.Len(), width}); !slices.Equal(c.Shape, want) || c.Bytes != 8*width*b.Len() || c.Dtype != dataset.Int64 {
				t.Errorf("column %+v, want shape %v", c, want)
			}
			for _, i := range b.Indices() {
				if i != next {
					t.Fatalf("sample %d, want %d", i, next)
				}
				next++
			}
		}
		if next != 41 {
			t.Errorf("epoch %d: %d samples, want 41", epoch, next)
		}
	}
}

// A journal remembers which slabs it gave out.
type journal struct {
	loader.Allocator
	mu    sync.Mutex
	slabs []uint64
}

func (j *journal) Alloc(n int) ([]byte, error) {
	slab, err := j.Allocator.Alloc(n)
	j.mu.Lock()
	defer j.mu.Unlock()
	j.slabs = append(j.slabs, uint64(uintptr(unsafe.Pointer(unsafe.SliceData(slab)))))
	return slab, err
}

func TestTheSlabItselfIsUploaded(t *testing.T) {
	d := open(t)
	memory := &journal{Allocator: pinned(t, d)}
	s := staged(t, d, memory, numbers(64), 2, loader.BatchSize(8))
	for b, err := range s.Epoch(t.Context(), 0) {
		if err != nil {
			t.Fatal(err)
		}
		var entry [3]uint64
		fake.Upload(int64(b.Number()), &entry)
		if !slices.Contains(memory.slabs, entry[0]) {
			t.Errorf("batch %d was read from %#x, which is no slab", b.Number(), entry[0])
		}
		if entry[1] != uint64(b.Column("x").Pointer) || entry[2] != 8*8*width {
			t.Errorf("batch %d: %d bytes to %#x, want %d to %#x", b.Number(), entry[2], entry[1], 8*8*width, b.Column("x").Pointer)
		}
	}
}

func TestRaggedFieldsAreUploadedWithTheirOffsets(t *testing.T) {
	d := open(t)
	spec := dataset.Spec{{Name: "x", Dtype: dataset.Int64, Ragged: true}, {Name: "n", Dtype: dataset.Int64}}
	ds := dataset.Func(40, spec, func(_ context.Context, i int, dst dataset.Slot) error {
		for k := range dataset.Grow[int64](dst, 0, i/2*10) {
			dataset.Row[int64](dst, 0)[k] = int64(1000*i + k)
		}
		dataset.Set(dst, 1, int64(i))
		return nil
	})
	s := staged(t, d, pinned(t, d), ds, 3, loader.BatchSize(2))
	for b, err := range s.Epoch(t.Context(), 0) {
		if err != nil {
			t.Fatal(err)
		}
		x, n, ends := values(t, b, "x"), values(t, b, "n"), b.Column("x").Offsets
		for r, i := range b.Indices() {
			row := x[ends[r]:ends[r+1]]
			if len(row) != i/2*10 || n[r] != int64(i) {
				t.Fatalf("sample %d has %d values and number %d", i, len(row), n[r])
			}
			for k, v := range row {
				if v != int64(1000*i+k) {
					t.Fatalf("sample %d, value %d: got %d", i, k, v)
				}
			}
		}
	}
}

// TestFullBatchesAfterAShortOneTakeTheirOwnSize: a loop that resumes at the last batch of an
// epoch begins with a short one, whose memory stays until the end. What is not ragged grows
// once, so nothing is kept in reserve.
func TestFullBatchesAfterAShortOneTakeTheirOwnSize(t *testing.T) {
	const buffers = 3
	d := open(t)
	s := staged(t, d, pinned(t, d), numbers(41), buffers, loader.BatchSize(4))
	var last loader.Position
	for b, err := range s.Epoch(t.Context(), 0) {
		if err != nil {
			t.Fatal(err)
		}
		if b.Number() == 9 {
			last = b.Position()
			break
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s = staged(t, d, pinned(t, d), numbers(41), buffers, loader.BatchSize(4))
	for b, err := range s.From(t.Context(), last, 3) {
		if err != nil {
			t.Fatal(err)
		}
		check(t, b)
	}
	if got, want := fake.Live(driver.DeviceBytes), int64(buffers*(1+4)*width*8); got != want {
		t.Errorf("%d bytes of device memory are taken, want %d", got, want)
	}
}

func TestNoMoreIsUploadedThanHasRoom(t *testing.T) {
	const buffers = 3
	d := open(t)
	s := staged(t, d, pinned(t, d), numbers(400), buffers, loader.BatchSize(4))
	for b, err := range s.Epoch(t.Context(), 0) {
		if err != nil {
			t.Fatal(err)
		}
		for fake.Uploads() < int64(min(b.Number()+buffers, 100)) {
			runtime.Gosched()
		}
		if n := fake.Calls("cuMemcpyHtoDAsync_v2"); n > int64(b.Number()+buffers) {
			t.Fatalf("batch %d: %d uploads began, there is room for %d", b.Number(), n, b.Number()+buffers)
		}
		check(t, b) // is not overwritten meanwhile
	}
}

func TestPositionResumesAfterTheDelivered(t *testing.T) {
	d := open(t)
	s := staged(t, d, pinned(t, d), numbers(40), 3, loader.BatchSize(4))
	var seen []int
	var p loader.Position
	for b, err := range s.Epoch(t.Context(), 0) {
		if err != nil {
			t.Fatal(err)
		}
		seen, p = append(seen, b.Indices()...), b.Position()
		if b.Number() == 4 {
			break
		}
	}
	for b, err := range s.From(t.Context(), p, 1) {
		if err != nil {
			t.Fatal(err)
		}
		seen = append(seen, b.Indices()...)
	}
	for k, i := range seen {
		if k != i {
			t.Fatalf("sample %d in place of %d", i, k)
		}
	}
	if len(seen) != 40 {
		t.Errorf("%d samples", len(seen))
	}
}

func TestWrongStageOptionsAreErrors(t *testing.T) {
	d := open(t)
	l, err := loader.New(numbers(8), loader.Memory(pinned(t, d)))
	if err != nil {
		t.Fatal(err)
	}
	closed(t, l)
	for _, n := range []int{-1, 0, 1, 1 << 20} {
		if _, err = gpu.NewStage(d, l, gpu.StageOption{}, gpu.Buffers(n)); err == nil || !strings.Contains(err.Error(), "Buffers: want 2 to 65536") {
			t.Errorf("%d: got %v", n, err)
		}
	}
	if n := fake.Calls("cuStreamCreate"); n != 0 {
		t.Errorf("%d streams were made", n)
	}
}

func TestEachDeviceHasItsStage(t *testing.T) {
	first := open(t)
	fake.Devices(2)
	second, err := gpu.Open(gpu.Library(fake.File), gpu.Ordinal(1))
	if err != nil {
		t.Fatal(err)
	}
	closed(t, second)
	if got := second.String(); got != "Fake 1 (device 1, CUDA 12.4)" {
		t.Errorf("got %q", got)
	}
	var group sync.WaitGroup
	for _, d := range []*gpu.Device{first, second} {
		s := staged(t, d, pinned(t, d), numbers(100), 2, loader.BatchSize(8))
		group.Go(func() {
			for b, err := range s.Epoch(t.Context(), 0) {
				if err != nil {
					t.Error(err)
					return
				}
				check(t, b)
			}
		})
	}
	group.Wait()
}
