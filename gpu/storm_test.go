//go:build linux && (amd64 || arm64)

package gpu_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"
	"unsafe"

	"github.com/penstock-go/penstock/gpu"
	driver "github.com/penstock-go/penstock/gpu/internal/fake"
	"github.com/penstock-go/penstock/loader"
	"github.com/penstock-go/penstock/sampler"
)

var stormBatches = flag.Int64("storm", 10_000, "how many batches the storm delivers at least")

// TestStormOfFailuresAndCancelsCorruptsAndLeavesNothing: and nothing waits much longer than the
// streams of the round are made to.
func TestStormOfFailuresAndCancelsCorruptsAndLeavesNothing(t *testing.T) {
	needFake(t)
	want := *stormBatches
	if testing.Short() {
		want = min(want, 500)
	}
	var delivered atomic.Int64
	var longest time.Duration
	rounds := 0
	for ; delivered.Load() < want || int64(rounds) < want/40; rounds++ {
		t.Run(fmt.Sprint(rounds), func(t *testing.T) {
			w := &waits{}
			t.Cleanup(func() { // after everything is closed
				over := w.longest.Load() - w.injected.Load()
				if longest = max(longest, time.Duration(over)); longest > slack {
					t.Errorf("something waited for %v, %v were injected", time.Duration(w.longest.Load()), time.Duration(w.injected.Load()))
				}
			})
			soon(t, "the storm", func() { storm(t, rand.New(rand.NewPCG(1, uint64(rounds))), &delivered, w) })
		})
		if t.Failed() {
			return
		}
	}
	t.Logf("%d batches in %d rounds; the longest wait was %v longer than the injected ones", delivered.Load(), rounds, longest)
}

// slack is what a wait may take longer on a busy machine, under the race detector.
const slack = 30 * time.Second

// waits of a round, in nanoseconds: all that were injected into streams, and the longest
// one of a loop or Close.
type waits struct{ injected, longest atomic.Int64 }

func (w *waits) since(begun time.Time) {
	took := int64(time.Since(begun))
	for old := w.longest.Load(); took > old && !w.longest.CompareAndSwap(old, took); old = w.longest.Load() {
	}
}

// inject returns the delay of a stream's work: it is mostly short, and now and then longer
// than a loop takes otherwise.
func (w *waits) inject(r *rand.Rand) (ns int64) {
	ns = r.Int64N(50_000)
	if r.IntN(50) == 0 {
		ns = r.Int64N(int64(200 * time.Millisecond))
	}
	w.injected.Add(ns)
	return ns
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
	if w.code != osError { // what frees the loader's memory reports it, too
		found = slices.CompactFunc(found, func(a, b *gpu.DriverError) bool { return a.Code == b.Code })
	}
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
func storm(t *testing.T, r *rand.Rand, delivered *atomic.Int64, hangs *waits) {
	needFake(t)
	devices := 1 + r.IntN(3)
	fake.Devices(int32(devices))
	fake.Speed(r.Int64N(50_000), r.Int64N(100_000), 0)
	fake.Drains(true, r.Int64N(100_000_000))
	uploading := []string{
		"cuMemHostAlloc", "cuStreamCreate", "cuEventCreate", "cuCtxSetCurrent", "cuMemcpyHtoDAsync_v2", "cuEventRecord",
		"cuEventQuery", "cuEventSynchronize", "cuMemcpyDtoHAsync_v2", "cuMemAlloc_v2", "cuStreamSynchronize",
	}
	w := trouble{call: uploading[r.IntN(len(uploading))], code: osError}
	switch r.IntN(4) {
	case 0: // sticky
		w.code = launchFailed
	case 1: // and late
		w = trouble{code: driver.IllegalAddress}
	}
	var opened []*gpu.Device
	for ordinal := range devices {
		d, err := gpu.Open(gpu.Library(fake.File), gpu.Ordinal(ordinal))
		if err != nil {
			t.Fatal(err)
		}
		endStorm(t, w, d, hangs)
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
		endStorm(t, w, p, hangs)
		l, err := loader.New(ds, loader.Memory(p), loader.BatchSize(1+r.IntN(5)), loader.Workers(r.IntN(4)), loader.Sampler(order))
		if w.met(t, err) {
			break
		}
		endStorm(t, w, l, hangs)
		s, err := gpu.NewStage(d, l, gpu.Buffers(2+r.IntN(3)))
		if w.met(t, err) {
			break
		}
		endStorm(t, w, s, hangs)
		c := newConsumer(t, int32(rank), 1000)
		own := rand.New(rand.NewPCG(r.Uint64(), 0))
		group.Go(func() {
			for range 3 {
				if n, failed := gust(t, own, s, c, order, w, hangs); failed && w.code != osError {
					return
				} else {
					delivered.Add(n)
				}
			}
			if w.code != osError { // the last loop may end before it meets the loss
				c.checkThatRan(t)
				return
			}
			c.check(t)
		})
	}
}

// endStorm closes c at the end of the test, and once more if the context is lost.
func endStorm(t testing.TB, w trouble, c interface{ Close() error }, hangs *waits) {
	t.Cleanup(func() {
		defer hangs.since(time.Now())
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
func gust(t *testing.T, r *rand.Rand, s *gpu.Stage, c *consumer, order sampler.Sampler, w trouble, hangs *waits) (batches int64, failed bool) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	stop, leave, next := r.IntN(60), r.IntN(60), 0
	if r.IntN(4) == 0 { // cancelled at any moment
		yields := r.IntN(20_000)
		canceled := make(chan struct{})
		defer func() { <-canceled }()
		go func() {
			defer close(canceled)
			for range yields {
				runtime.Gosched()
			}
			cancel()
		}()
	}
	begun := time.Now()
	defer func() { hangs.since(begun) }() // the end of the loop, too
	for b, err := range s.Epoch(ctx, 0) {
		hangs.since(begun)
		begun = time.Now()
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
			if failed = w.met(t, c.use(b, repeated(want), hangs.inject(r))); failed {
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
