//go:build linux && (amd64 || arm64)

package gpu_test

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"unsafe"

	"github.com/penstock-go/penstock/gpu"
	"github.com/penstock-go/penstock/loader"
)

func TestTenThousandBatchesAtRandomSpeedLoseRepeatAndCorruptNothing(t *testing.T) {
	const batches, size = 10_000, 2
	d := open(t)
	fake.Speed(0, 30_000, 1000)
	s := staged(t, d, pinned(t, d), numbers(batches*size), 3, loader.BatchSize(size), loader.Workers(3), loader.Shuffle(true))
	seen := make([]int, batches*size)
	for b, err := range s.Epoch(t.Context(), 0) {
		if err != nil {
			t.Fatal(err)
		}
		check(t, b)
		for _, i := range b.Indices() {
			seen[i]++
		}
	}
	for i, n := range seen {
		if n != 1 {
			t.Fatalf("sample %d came %d times", i, n)
		}
	}
}

// A consumer is a stream of its own that reads batches long after the loop body.
type consumer struct {
	device *gpu.Device
	stream uintptr
	sums   []uint64
	want   []uint64
}

// use has the stream read a batch.
func (c *consumer) use(t testing.TB, b *gpu.Batch, delay int64) {
	t.Helper()
	col := b.Column("x")
	bytes := make([]byte, col.Bytes)
	for k := range col.Bytes / 8 {
		binary.NativeEndian.PutUint64(bytes[8*k:], uint64(b.Indices()[k/width]))
	}
	var want uint64
	for i, v := range bytes {
		want += uint64(v) * uint64(i%251+1)
	}
	k := len(c.want)
	c.want = append(c.want, want)
	fake.Sum(c.stream, col.Pointer, uintptr(col.Bytes), &c.sums[k], delay)
	if err := b.UsedBy(c.stream); err != nil {
		t.Fatal(err)
	}
}

func TestBuffersThatAStreamReadsAreNotOverwritten(t *testing.T) {
	const batches = 300
	d := open(t)
	c := &consumer{device: d, stream: fake.Stream(), sums: make([]uint64, batches)}
	defer fake.EndStream(c.stream)
	s := staged(t, d, pinned(t, d), numbers(batches*4), 2, loader.BatchSize(4), loader.Shuffle(true))
	for b, err := range s.Epoch(t.Context(), 0) {
		if err != nil {
			t.Fatal(err)
		}
		c.use(t, b, 200_000)
	}
	if err := s.Close(); err != nil { // waits for the stream
		t.Error(err)
	}
	if !slices.Equal(c.sums, c.want) {
		t.Error("the stream read something else than the batches")
	}
}

// uploading are the calls of a loop and of making a stage.
var uploading = []string{
	"cuStreamCreate", "cuEventCreate", "cuMemAlloc_v2", "cuMemcpyHtoDAsync_v2",
	"cuEventRecord", "cuEventSynchronize", "cuCtxSetCurrent", "cuMemcpyDtoH_v2",
	"cuMemHostAlloc",
}

func TestStormOfFailuresAndCancelsCorruptsAndLeavesNothing(t *testing.T) {
	for round := range 400 {
		t.Run(fmt.Sprint(round), func(t *testing.T) { storm(t, rand.New(rand.NewPCG(1, uint64(round)))) })
	}
}

func storm(t *testing.T, r *rand.Rand) {
	d := open(t)
	fake.Speed(0, r.Int64N(50_000), 0)
	p := pinned(t, d)
	call := uploading[r.IntN(len(uploading))]
	fake.Fail(call, 1+r.Int64N(60), launchFailed)
	defer fake.Fail(call, 0, 0) // closing is another test's
	ds := numbers(200)
	l, err := loader.New(ds, loader.Memory(p), loader.BatchSize(1+r.IntN(9)), loader.Workers(r.IntN(4)))
	if expected(t, call, err) {
		return
	}
	closed(t, l)
	s, err := gpu.NewStage(d, l, ds.Spec(), gpu.Buffers(2+r.IntN(3)))
	if expected(t, call, err) {
		return
	}
	closed(t, s)
	for range 3 {
		ctx, cancel := context.WithCancel(t.Context())
		stop, leave := r.IntN(60), r.IntN(60)
		next := 0
		for b, err := range s.Epoch(ctx, 0) {
			if errors.Is(err, context.Canceled) || expected(t, call, err) {
				break
			}
			v := make([]int64, b.Column("x").Bytes/8)
			if _, err := b.Download(unsafe.Slice((*byte)(unsafe.Pointer(&v[0])), 8*len(v)), "x"); expected(t, call, err) {
				break
			}
			for k, v := range v {
				if want := int64(next + k/width); v != want {
					t.Fatalf("batch %d, value %d: got %d, want %d", b.Number(), k, v, want)
				}
			}
			next += b.Len()
			if b.Number() == stop {
				cancel()
			}
			if b.Number() == leave {
				break
			}
		}
		cancel()
	}
}

// expected reports whether there was an error, which must be the one of that call.
func expected(t *testing.T, call string, err error) bool {
	t.Helper()
	var cause *gpu.DriverError
	if err == nil {
		return false
	}
	if !errors.As(err, &cause) || cause.Call != call || cause.Name != "CUDA_ERROR_LAUNCH_FAILED" {
		t.Errorf("got %v, want the failure of %s", err, call)
	}
	return true
}

func TestUploadErrorsNameBatchFieldAndCall(t *testing.T) {
	for call, want := range map[string]string{
		"cuMemAlloc_v2":        "gpu: upload batch 0 of epoch 0, field x: cuMemAlloc_v2: CUDA_ERROR_OUT_OF_MEMORY (2): out of memory",
		"cuMemcpyHtoDAsync_v2": "gpu: upload batch 0 of epoch 0, field x: cuMemcpyHtoDAsync_v2: CUDA_ERROR_OUT_OF_MEMORY (2): out of memory",
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

// TestCloseGoesOnBehindFailures: what the driver would not free is all that is left.
func TestCloseGoesOnBehindFailures(t *testing.T) {
	for call, account := range map[string]int32{"cuMemFree_v2": 1, "cuStreamDestroy_v2": 2, "cuEventDestroy_v2": 3} {
		t.Run(call, func(t *testing.T) {
			d := open(t)
			s := staged(t, d, pinned(t, d), numbers(80), 2, loader.BatchSize(4))
			for _, err := range s.Epoch(t.Context(), 0) {
				if err != nil {
					t.Fatal(err)
				}
			}
			before := [4]int64{1: fake.Live(1), 2: fake.Live(2), 3: fake.Live(3)}
			fake.Fail(call, 1, launchFailed)
			if !expected(t, call, s.Close()) {
				t.Error("no error")
			}
			for i := range int32(4) {
				left := fake.Live(i)
				switch {
				case i == 0:
				case i == account && (left == 0 || left == before[i] && i != 2):
					t.Errorf("%s: %d of %d left, want one", accounts[i], left, before[i])
				case i != account && left != 0:
					t.Errorf("%s: %d left, want none", accounts[i], left)
				}
			}
			fake.Forget(account)
		})
	}
}
