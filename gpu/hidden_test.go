//go:build linux && (amd64 || arm64)

package gpu_test

import (
	"runtime"
	"testing"
	"time"

	"github.com/penstock-go/penstock/loader"
)

// TestUploadsAreHiddenByLongerBodies: every loop body lasts until the next batch is on the
// device. So all uploads but the first end during another batch's body, and Early counts
// them on any machine. Most of their time is in loop bodies. The rest is the first upload
// and the time between bodies, which is longer on a busy machine.
// TestHiddenTimeIsThatOfUploadsInLoopBodies tests the arithmetic.
func TestUploadsAreHiddenByLongerBodies(t *testing.T) {
	const batches, latency = 100, 3_000_000 // ns
	d := open(t)
	fake.Speed(latency, latency/10, 0)
	s := staged(t, d, pinned(t, d), numbers(4*batches), 2, loader.BatchSize(4))
	for b, err := range s.Epoch(t.Context(), 0) {
		if err != nil {
			t.Fatal(err)
		}
		for s.Stats().Uploads < int64(min(b.Number()+2, batches)) {
			runtime.Gosched()
		}
	}
	got := s.Stats()
	if got.Batches != batches || got.Uploads != batches || got.Early < batches-1 {
		t.Errorf("got %+v, want %d batches, %d of them early", got, batches, batches-1)
	}
	if got.Upload < batches*latency || got.HiddenShare() < 0.5 {
		t.Errorf("%v of %v hidden, want half of %v or more", got.Hidden, got.Upload, time.Duration(batches*latency))
	}
}

// TestUploadsOfIdleLoopsAreNotHidden: bodies without work, on a slow bus.
func TestUploadsOfIdleLoopsAreNotHidden(t *testing.T) {
	d := open(t)
	fake.Speed(1_000_000, 0, 0)
	s := staged(t, d, pinned(t, d), numbers(80), 2, loader.BatchSize(4))
	if got := s.Stats().HiddenShare(); got != 0 {
		t.Errorf("%v hidden before the first upload", got)
	}
	for _, err := range s.Epoch(t.Context(), 0) {
		if err != nil {
			t.Fatal(err)
		}
	}
	if got := s.Stats(); got.HiddenShare() > 0.5 || got.Wait < got.Upload/2 {
		t.Errorf("%v of %v hidden, %v waited", got.Hidden, got.Upload, got.Wait)
	}
}
