//go:build linux && (amd64 || arm64)

package gpu_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"unsafe"

	"github.com/penstock-go/penstock/gpu"
	driver "github.com/penstock-go/penstock/gpu/internal/fake"
	"github.com/penstock-go/penstock/loader"
	"github.com/penstock-go/penstock/sampler"
)

func shuffled(size int) []loader.Option {
	return []loader.Option{loader.BatchSize(size), loader.Workers(3), loader.Shuffle(true)}
}

// TestTenThousandBatchesAtRandomSpeedLoseRepeatAndCorruptNothing: on three devices,
// each with a third of the samples, and streams that read on behind the loop body.
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

// another is a device of a fake driver that was reset before.
func another(t testing.TB, ordinal int) *gpu.Device {
	t.Helper()
	d, err := gpu.Open(gpu.Library(fake.File), gpu.Ordinal(ordinal))
	if err != nil {
		t.Fatal(err)
	}
	closed(t, d)
	return d
}

func TestStormOfFailuresAndCancelsCorruptsAndLeavesNothing(t *testing.T) {
	needFake(t)
	rounds, least := 200, int64(10_000)
	if testing.Short() {
		rounds, least = 20, 500
	}
	var delivered atomic.Int64
	for round := range rounds {
		t.Run(fmt.Sprint(round), func(t *testing.T) {
			storm(t, rand.New(rand.NewPCG(1, uint64(round))), &delivered)
		})
	}
	if n := delivered.Load(); n < least {
		t.Errorf("%d batches were delivered, want %d at least", n, least)
	}
}

// storm is a round: some devices, a call that fails sooner or later, and loops
// that are left, or cancelled, at random.
func storm(t *testing.T, r *rand.Rand, delivered *atomic.Int64) {
	needFake(t)
	devices := 1 + r.IntN(3)
	fake.Devices(int32(devices))
	fake.Speed(0, r.Int64N(50_000), 0)
	uploading := []string{
		"cuMemHostAlloc", "cuStreamCreate", "cuEventCreate", "cuCtxSetCurrent", "cuMemAlloc_v2", "cuMemcpyHtoDAsync_v2",
		"cuEventRecord", "cuEventQuery", "cuEventSynchronize", "cuMemcpyDtoH_v2",
	}
	call := uploading[r.IntN(len(uploading))]
	var opened []*gpu.Device
	for ordinal := range devices {
		opened = append(opened, another(t, ordinal))
	}
	fake.Fail(call, 1+r.Int64N(100), osError)
	defer fake.Fail(call, 0, 0) // closing is another test's
	ds := numbers(200)
	var group sync.WaitGroup
	for rank, d := range opened {
		order := share(t, sampler.Sequential(ds.Len()), rank, devices)
		l, err := loader.New(ds, loader.Memory(pinned(t, d)), loader.BatchSize(1+r.IntN(5)), loader.Workers(r.IntN(4)), loader.Sampler(order))
		if expected(t, call, err) {
			break
		}
		closed(t, l)
		s, err := gpu.NewStage(d, l, gpu.Buffers(2+r.IntN(3)))
		if expected(t, call, err) {
			break
		}
		closed(t, s)
		c := newConsumer(t, int32(rank), 1000)
		own := rand.New(rand.NewPCG(r.Uint64(), 0))
		group.Go(func() {
			defer c.check(t)
			for range 3 {
				delivered.Add(gust(t, own, s, c, order, call))
			}
		})
	}
	group.Wait()
}

// gust is one loop of a storm. It returns how many batches came.
func gust(t *testing.T, r *rand.Rand, s *gpu.Stage, c *consumer, order sampler.Sampler, call string) (batches int64) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	stop, leave, next := r.IntN(60), r.IntN(60), 0
	for b, err := range s.Epoch(ctx, 0) {
		if errors.Is(err, context.Canceled) || expected(t, call, err) {
			break
		}
		batches++
		var want []int
		for range b.Len() {
			want = append(want, order.Epoch(0).At(next))
			next++
		}
		got := make([]byte, b.Column("x").Bytes)
		if _, err := b.Download(got, "x"); expected(t, call, err) {
			break
		}
		if !slices.Equal(got, bytesOf(repeated(want))) {
			t.Errorf("batch %d is not that of samples %v", b.Number(), want)
		}
		if r.IntN(2) == 0 && expected(t, call, c.use(b, repeated(want), r.Int64N(50_000))) {
			break
		}
		if b.Number() == stop {
			cancel()
		}
		if b.Number() == leave {
			break
		}
	}
	return batches
}

func bytesOf(values []int64) []byte {
	if len(values) == 0 {
		return nil
	}
	return unsafe.Slice((*byte)(unsafe.Pointer(&values[0])), 8*len(values))
}

// expected reports whether there was an error, which must be the one of that call.
func expected(t testing.TB, call string, err error) bool {
	t.Helper()
	return expectedCode(t, call, "CUDA_ERROR_OPERATING_SYSTEM", err)
}

func expectedCode(t testing.TB, call, code string, err error) bool {
	t.Helper()
	if err == nil {
		return false
	}
	if found := calls(err); len(found) != 1 || found[0].Call != call || found[0].Name != code {
		t.Errorf("got %v, want the failure of %s with %s", err, call, code)
	}
	return true
}

func TestUploadErrorsNameBatchFieldAndCall(t *testing.T) {
	for call, want := range map[string]string{
		"cuMemAlloc_v2":        "gpu: upload batch 0 of epoch 0: field x: cuMemAlloc_v2: CUDA_ERROR_OUT_OF_MEMORY (2): out of memory",
		"cuMemcpyHtoDAsync_v2": "gpu: upload batch 0 of epoch 0: field x: cuMemcpyHtoDAsync_v2: CUDA_ERROR_OUT_OF_MEMORY (2): out of memory",
		"cuEventSynchronize":   "gpu: upload batch 0 of epoch 0: cuEventSynchronize: CUDA_ERROR_OUT_OF_MEMORY (2): out of memory",
	} {
		t.Run(call, func(t *testing.T) {
			d := open(t)
			s := staged(t, d, pinned(t, d), numbers(80), 2, loader.BatchSize(4))
			fake.Fail(call, 1, outOfMemory)
			var last error
			for _, err := range s.Epoch(t.Context(), 0) {
				last = err
			}
			if last == nil || last.Error() != want {
				t.Errorf("got %v, want %s", last, want)
			}
			for b, err := range s.Epoch(t.Context(), 0) { // the next loop is whole
				if err != nil {
					t.Fatal(err)
				}
				check(t, b)
			}
		})
	}
}

// TestCloseGoesOnBehindFailures: what the driver would not free is all that is
// left, until Close is called again.
func TestCloseGoesOnBehindFailures(t *testing.T) {
	for call, account := range map[string]int32{
		"cuMemFree_v2": driver.DeviceBytes, "cuStreamDestroy_v2": driver.Streams, "cuEventDestroy_v2": driver.Events,
	} {
		t.Run(call, func(t *testing.T) {
			d := open(t)
			s := staged(t, d, pinned(t, d), numbers(80), 2, loader.BatchSize(4))
			for _, err := range s.Epoch(t.Context(), 0) {
				if err != nil {
					t.Fatal(err)
				}
			}
			before := fake.Live(account)
			fake.Fail(call, 1, osError)
			if !expected(t, call, s.Close()) {
				t.Error("no error")
			}
			for _, other := range []int32{driver.DeviceBytes, driver.Streams, driver.Events} {
				left := fake.Live(other)
				switch {
				case other == account && (left == 0 || left == before && other != driver.Streams):
					t.Errorf("%s: %d of %d left, want one", call, left, before)
				case other != account && left != 0:
					t.Errorf("%s: %d left of account %d, want none", call, left, other)
				}
			}
			if d.Close() == nil {
				t.Error("the device closed while something of the stage was left")
			}
			if err := s.Close(); err != nil || fake.Live(account) != 0 {
				t.Errorf("Close again: %v, %d left", err, fake.Live(account))
			}
		})
	}
}
