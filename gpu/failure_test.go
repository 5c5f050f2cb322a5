//go:build linux && (amd64 || arm64)

package gpu_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"testing"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/gpu"
	driver "github.com/penstock-go/penstock/gpu/internal/fake"
	"github.com/penstock-go/penstock/loader"
)

// calls are the driver's errors in err, from left to right.
func calls(err error) (found []*gpu.DriverError) {
	switch e := err.(type) {
	case *gpu.DriverError:
		return []*gpu.DriverError{e}
	case interface{ Unwrap() error }:
		return calls(e.Unwrap())
	case interface{ Unwrap() []error }:
		for _, err := range e.Unwrap() {
			found = append(found, calls(err)...)
		}
	}
	return found
}

// growing is a dataset of which later samples are longer, in a ragged field x.
func growing(n int) dataset.Dataset {
	spec := dataset.Spec{{Name: "x", Dtype: dataset.Int64, Ragged: true}, {Name: "n", Dtype: dataset.Int64}}
	return dataset.Func(n, spec, func(_ context.Context, i int, dst dataset.Slot) error {
		copy(dataset.Grow[int64](dst, 0, len(grown(i))), grown(i))
		dataset.Set(dst, 1, int64(i))
		return nil
	})
}

// grown are the values of sample i.
func grown(i int) []int64 {
	values := make([]int64, 1+i/4*3)
	for k := range values {
		values[k] = int64(1000*i + k)
	}
	return values
}

// live uses everything in the package and returns the errors on the way. If Close fails, it
// calls Close again. It compares all data. It leaves no loop early, because failures of
// batches that the loop does not reach would be lost.
func live(t *testing.T) (errs []error) {
	failed := func(err error) bool {
		if err != nil {
			errs = append(errs, err)
		}
		return err != nil
	}
	end := func(c io.Closer) {
		if failed(c.Close()) {
			if err := c.Close(); err != nil {
				t.Errorf("Close again: %v", err)
			}
		}
	}
	d, err := gpu.Open(gpu.Library(fake.File))
	if failed(err) {
		return errs
	}
	defer end(d)
	p, err := d.Pinned()
	if failed(err) {
		return errs
	}
	defer end(p)
	l, err := loader.New(growing(48), loader.Memory(p), loader.BatchSize(4), loader.Workers(2))
	if failed(err) {
		return errs
	}
	defer end(l)
	s, err := gpu.NewStage(d, l)
	if failed(err) {
		return errs
	}
	c := newConsumer(t, 0, 100)
	defer c.check(t)
	defer end(s)
	for epoch := range 2 {
		next := 0
		for b, err := range s.Epoch(t.Context(), epoch) {
			if failed(err) {
				break
			}
			var want []int64
			for _, i := range b.Indices() {
				if i != next {
					t.Errorf("sample %d in place of %d", i, next)
				}
				want = append(want, grown(i)...)
				next++
			}
			got := make([]byte, b.Column("x").Bytes)
			if _, err := b.Download(got, "x"); failed(err) {
				break
			}
			if !slices.Equal(got, bytesOf(want)) {
				t.Errorf("batch %d of epoch %d is another", b.Number(), epoch)
			}
			if failed(c.use(b, want, 50_000)) {
				break
			}
		}
	}
	return errs
}

// TestAStageThatCouldNotBeMadeIsFreedWithTheDevice: the caller has no stage to close.
func TestAStageThatCouldNotBeMadeIsFreedWithTheDevice(t *testing.T) {
	d := open(t)
	l, err := loader.New(numbers(8), loader.Memory(pinned(t, d)))
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	fake.Fail("cuEventCreate", 2, osError)
	fake.Fail("cuStreamDestroy_v2", 1, osError)
	_, err = gpu.NewStage(d, l)
	if found := calls(err); len(found) != 2 || found[0].Call != "cuEventCreate" || found[1].Call != "cuStreamDestroy_v2" {
		t.Errorf("got %v", err)
	}
	fake.Fail("cuStreamDestroy_v2", 1, osError)
	if !expected(t, "cuStreamDestroy_v2", d.Close()) || fake.Live(driver.Streams) != 1 {
		t.Errorf("no error, %d streams are left", fake.Live(driver.Streams))
	}
} // and the device's last Close leaves nothing

// TestEveryCallOfTheDriverMayFail makes every driver call of the package fail, the first
// time and later. The error names the call, the delivered data is right, and nothing is
// left.
func TestEveryCallOfTheDriverMayFail(t *testing.T) {
	needFake(t)
	unmade := map[string]bool{}
	for _, call := range gpu.Symbols() {
		unmade[call] = true
	}
	made := map[string]int64{}
	t.Run("none", func(t *testing.T) {
		needFake(t)
		if errs := live(t); len(errs) > 0 {
			t.Fatal(errs)
		}
		for _, call := range gpu.Symbols() {
			made[call] = fake.Calls(call)
		}
	})
	for call, n := range made {
		times := []int64{1, 2, n / 2, n}
		slices.Sort(times)
		for _, k := range slices.Compact(times) {
			if k < 1 || k > n {
				continue
			}
			delete(unmade, call)
			t.Run(fmt.Sprintf("%s %d of %d", call, k, n), func(t *testing.T) {
				needFake(t)
				fake.Fail(call, k, osError)
				want := gpu.DriverError{Call: call, Code: osError, Name: "CUDA_ERROR_OPERATING_SYSTEM", Message: "OS call failed or operation not supported on this OS"}
				got := calls(errors.Join(live(t)...))
				if fake.Failures() == 0 && k > 1 {
					return // the number of polls of an event differs between runs
				}
				if len(got) != 1 || *got[0] != want {
					t.Fatalf("got %v, want %v", got, want)
				}
			})
		}
	}
	for _, call := range []string{"cuGetErrorName", "cuGetErrorString"} { // these describe failures
		delete(unmade, call)
		t.Run(call, func(t *testing.T) {
			needFake(t)
			fake.Fail("cuMemcpyHtoDAsync_v2", 1, osError)
			fake.Fail(call, 1, osError)
			got := calls(errors.Join(live(t)...))
			if len(got) != 1 || got[0].Code != osError || (got[0].Name == "unknown") != (call == "cuGetErrorName") || (got[0].Message == "unknown") == (call == "cuGetErrorName") {
				t.Errorf("got %v", got)
			}
		})
	}
	for call := range unmade {
		t.Errorf("live makes no call of %s", call)
	}
}
