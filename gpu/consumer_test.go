//go:build linux && (amd64 || arm64)

package gpu_test

import (
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"unsafe"

	"github.com/penstock-go/penstock/gpu"
	"github.com/penstock-go/penstock/loader"
	"github.com/penstock-go/penstock/sampler"
)

// A consumer is a stream that is not the Stage's. Its kernels sum up batches long after
// the loop body.
type consumer struct {
	stream uintptr
	sums   []uint64 // by the kernels
	want   []uint64
}

// newConsumer makes a consumer for a number of batches, with a stream in a device's primary
// context. The stream ends after the test, and after everything that the test closes later.
func newConsumer(t testing.TB, ordinal int32, batches int) *consumer {
	c := &consumer{stream: fake.Stream(fake.Primary(ordinal), false), sums: make([]uint64, batches)}
	t.Cleanup(func() { fake.EndStream(c.stream) })
	return c
}

// use makes the stream read field x of a batch, which holds these values, after a delay in
// nanoseconds. If use returns an error, the stream has done all its work.
func (c *consumer) use(b *gpu.Batch, values []int64, delay int64) error {
	col := b.Column("x")
	var want uint64
	if len(values) > 0 {
		for i, v := range unsafe.Slice((*byte)(unsafe.Pointer(&values[0])), 8*len(values)) {
			want += uint64(v) * uint64(i%251+1)
		}
	}
	k := len(c.want)
	c.want = append(c.want, want)
	fake.Sum(c.stream, col.Pointer, uintptr(col.Bytes), &c.sums[k], delay)
	err := b.UsedBy(c.stream)
	if err != nil {
		fake.Drain(c.stream)
	}
	return err
}

// check fails the test if a sum is not that of its batch.
func (c *consumer) check(t testing.TB) {
	t.Helper()
	fake.Drain(c.stream)
	if !slices.Equal(c.sums[:len(c.want)], c.want) {
		t.Error("the stream read something else than the batches")
	}
}

// checkThatRan is check for a context that may be lost: kernels that come after its loss do
// not run, and their sums stay 0.
func (c *consumer) checkThatRan(t testing.TB) {
	t.Helper()
	fake.Drain(c.stream)
	for k, want := range c.want {
		if got := c.sums[k]; got != want && got != 0 {
			t.Errorf("the stream read something else than batch %d of those it was given", k)
		}
	}
}

// repeated returns the values of a batch of numbers.
func repeated(indices []int) (values []int64) {
	for _, i := range indices {
		for range width {
			values = append(values, int64(i))
		}
	}
	return values
}

func TestBuffersThatAStreamReadsAreNotOverwritten(t *testing.T) {
	const batches = 300
	d := open(t)
	c := newConsumer(t, 0, batches)
	s := staged(t, d, pinned(t, d), numbers(batches*4), 2, shuffled(4)...)
	for b, err := range s.Epoch(t.Context(), 0) {
		if err == nil {
			err = c.use(b, repeated(b.Indices()), 200_000)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	c.check(t)
}

func contains(err error, text string) bool { return strings.Contains(err.Error(), text) }

func shuffled(size int) []loader.Option {
	return []loader.Option{loader.BatchSize(size), loader.Workers(3), loader.Shuffle(true)}
}

// TestTenThousandBatchesAtRandomSpeedLoseRepeatAndCorruptNothing: on three devices,
// each with a third of the samples, and streams that read on after the loop body.
func TestTenThousandBatchesAtRandomSpeedLoseRepeatAndCorruptNothing(t *testing.T) {
	const size, devices = 2, 3
	batches := 10_000
	if testing.Short() {
		batches = 1000
	}
	needFake(t)
	fake.Devices(devices)
	fake.Speed(0, 30_000, 1000)
	seen := make([]atomic.Int32, batches*size)
	var group sync.WaitGroup
	for rank := range devices {
		d := another(t, rank)
		order := share(t, sampler.Shuffle(batches*size, 1), rank, devices)
		s := staged(t, d, pinned(t, d), numbers(batches*size), 2+rank, loader.BatchSize(size), loader.Workers(2), loader.Sampler(order))
		c := newConsumer(t, int32(rank), batches)
		group.Go(func() {
			defer c.check(t)
			for b, err := range s.Epoch(t.Context(), 0) {
				if err == nil {
					err = c.use(b, repeated(b.Indices()), int64(b.Number()%3)*10_000)
				}
				if err != nil {
					t.Error(err)
					return
				}
				for _, i := range b.Indices() {
					seen[i].Add(1)
				}
			}
		})
	}
	group.Wait()
	for i := range seen {
		if n := seen[i].Load(); n != 1 {
			t.Fatalf("sample %d came %d times", i, n)
		}
	}
}

// share is a rank's share of s; no sample is left out or repeated.
func share(t testing.TB, s sampler.Sampler, rank, world int) sampler.Sampler {
	t.Helper()
	part, err := sampler.Shard(s, rank, world, sampler.KeepExact)
	if err != nil {
		t.Fatal(err)
	}
	return part
}
