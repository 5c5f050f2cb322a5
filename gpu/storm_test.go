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
	rounds, least := 250, int64(10_000)
	if testing.Short() {
		rounds, least = 25, 500
	}
	var delivered atomic.Int64
	for round := range rounds {
		t.Run(fmt.Sprint(round), func(t *testing.T) {
			soon(t, "the storm", func() { storm(t, rand.New(rand.NewPCG(1, uint64(round))), &delivered) })
		})
	}
	if n := delivered.Load(); n < least {
		t.Errorf("%d batches were delivered, want %d at least", n, least)
	}
}

// A trouble is what goes wrong in a round of the storm, once.
type trouble struct {
	call string // that fails with the code; none if a copy or kernel does, which calls learn of later
	code int32
}

// met reports whether there was an error, which must be the trouble's. After one that
// loses the context every call of the device may report it.
func (w trouble) met(t testing.TB, err error) bool {
	t.Helper()
	if err == nil {
		return false
	}
	found := calls(err)
	switch {
	case len(found) != 1 || int32(found[0].Code) != w.code:
		t.Errorf("got %v, want one error of code %d", err, w.code)
	case w.code == osError && found[0].Call != w.call:
		t.Errorf("got %v, want the failure of %s", err, w.call)
	}
	return true
}

// storm is one round: some devices on a bus of slow and varying speed, whose driver waits for
// all streams when memory is allocated or freed and blocks other calls meanwhile, one trouble,
// and loops that are left or cancelled at random.
func storm(t *testing.T, r *rand.Rand, delivered *atomic.Int64) {
	needFake(t)
	devices := 1 + r.IntN(3)
	fake.Devices(int32(devices))
	fake.Pools(r.IntN(2) == 0)
	fake.Speed(r.Int64N(50_000), r.Int64N(100_000), 0)
	fake.Drains(true, r.Int64N(100_000_000))
	uploading := []string{
		"cuMemHostAlloc", "cuStreamCreate", "cuEventCreate", "cuCtxSetCurrent", "cuMemcpyHtoDAsync_v2", "cuEventRecord",
		"cuEventQuery", "cuEventSynchronize", "cuMemcpyDtoHAsync_v2", "cuMemAlloc_v2", "cuMemAllocFromPoolAsync", "cuStreamSynchronize",
	}
	w := trouble{call: uploading[r.IntN(len(uploading))], code: osError}
	switch r.IntN(4) {
	case 0: // sticky
		w.code = launchFailed
	case 1: // and late
		w = trouble{code: driver.IllegalAddress}
	}
	if w.code != osError {
		t.Cleanup(fake.Abandon) // after everything is closed
	}
	var opened []*gpu.Device
	for ordinal := range devices {
		d, err := gpu.Open(gpu.Library(fake.File), gpu.Ordinal(ordinal))
		if err != nil {
			t.Fatal(err)
		}
		endStorm(t, w, d)
		opened = append(opened, d)
	}
	if w.call == "" {
		fake.Poison(w.code, 1+r.Int64N(300))
	} else {
		fake.Fail(w.call, 1+r.Int64N(100), w.code)
	}
	ds := numbers(200)
	var group sync.WaitGroup
	defer func() {
		group.Wait()
		if w.code == osError {
			fake.Fail(w.call, 0, 0) // closing is another test's
		}
	}()
	for rank, d := range opened {
		order := share(t, sampler.Sequential(ds.Len()), rank, devices)
		p, err := d.Pinned()
		if err != nil {
			t.Fatal(err)
		}
		endStorm(t, w, p)
		l, err := loader.New(ds, loader.Memory(p), loader.BatchSize(1+r.IntN(5)), loader.Workers(r.IntN(4)), loader.Sampler(order))
		if w.met(t, err) {
			break
		}
		endStorm(t, w, l)
		s, err := gpu.NewStage(d, l, gpu.Buffers(2+r.IntN(3)))
		if w.met(t, err) {
			break
		}
		endStorm(t, w, s)
		c := newConsumer(t, int32(rank), 1000)
		own := rand.New(rand.NewPCG(r.Uint64(), 0))
		group.Go(func() {
			for range 3 {
				if n, failed := gust(t, own, s, c, order, w); failed && w.code != osError {
					return
				} else {
					delivered.Add(n)
				}
			}
			c.check(t)
		})
	}
}

// endStorm closes c at the end of the test, and once more if the context is lost.
func endStorm(t testing.TB, w trouble, c interface{ Close() error }) {
	t.Cleanup(func() {
		err := c.Close()
		if w.code != osError && errors.Is(err, gpu.ErrLost) {
			err = c.Close()
		}
		if err != nil {
			t.Errorf("%T: Close: %v", c, err)
		}
	})
}

// gust is one loop of a storm. It returns how many batches came, and whether it met
// the trouble.
func gust(t *testing.T, r *rand.Rand, s *gpu.Stage, c *consumer, order sampler.Sampler, w trouble) (batches int64, failed bool) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	stop, leave, next := r.IntN(60), r.IntN(60), 0
	for b, err := range s.Epoch(ctx, 0) {
		if errors.Is(err, context.Canceled) {
			break
		}
		if failed = w.met(t, err); failed {
			break
		}
		batches++
		var want []int
		for range b.Len() {
			want = append(want, order.Epoch(0).At(next))
			next++
		}
		got := make([]byte, b.Column("x").Bytes)
		_, err := b.Download(got, "x")
		if failed = w.met(t, err); failed {
			break
		}
		if !slices.Equal(got, bytesOf(repeated(want))) {
			t.Errorf("batch %d is not that of samples %v", b.Number(), want)
		}
		if r.IntN(2) == 0 {
			if failed = w.met(t, c.use(b, repeated(want), r.Int64N(50_000))); failed {
				break
			}
		}
		if b.Number() == stop {
			cancel()
		}
		if b.Number() == leave {
			break
		}
	}
	return batches, failed
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
		"cuMemAllocFromPoolAsync": "gpu: upload batch 0 of epoch 0: field x: cuMemAllocFromPoolAsync: CUDA_ERROR_OUT_OF_MEMORY (2): out of memory",
		"cuMemcpyHtoDAsync_v2":    "gpu: upload batch 0 of epoch 0: field x: cuMemcpyHtoDAsync_v2: CUDA_ERROR_OUT_OF_MEMORY (2): out of memory",
		"cuEventSynchronize":      "gpu: upload batch 0 of epoch 0: cuEventSynchronize: CUDA_ERROR_OUT_OF_MEMORY (2): out of memory",
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

// TestCloseGoesOnAfterFailures: what the driver would not free is all that is
// left, until Close is called again.
func TestCloseGoesOnAfterFailures(t *testing.T) {
	for call, left := range map[string]map[int32]int64{ // in the accounts where anything is
		"cuMemFreeAsync":     {driver.DeviceBytes: 4 * 8 * width, driver.Streams: 1, driver.Pools: 1},
		"cuMemPoolDestroy":   {driver.Pools: 1},
		"cuStreamDestroy_v2": {driver.Streams: 1},
		"cuEventDestroy_v2":  {driver.Events: 1},
	} {
		t.Run(call, func(t *testing.T) {
			d := open(t)
			s := staged(t, d, pinned(t, d), numbers(80), 2, loader.BatchSize(4))
			for _, err := range s.Epoch(t.Context(), 0) {
				if err != nil {
					t.Fatal(err)
				}
			}
			fake.Fail(call, 1, osError)
			if !expected(t, call, s.Close()) {
				t.Error("no error")
			}
			for _, account := range []int32{driver.DeviceBytes, driver.Streams, driver.Events, driver.Pools} {
				if got := fake.Live(account); got != left[account] {
					t.Errorf("%d left in account %d, want %d", got, account, left[account])
				}
			}
			if d.Close() == nil {
				t.Error("the device closed while something of the stage was left")
			}
			if err := s.Close(); err != nil {
				t.Errorf("Close again: %v", err)
			}
			for account := range left {
				if n := fake.Live(account); n != 0 {
					t.Errorf("after Close: %d left in account %d", n, account)
				}
			}
		})
	}
}
