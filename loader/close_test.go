package loader_test

import (
	"context"
	"errors"
	"os"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/loader"
)

// closing is a fake whose Readers take their time to close.
func closing(n int, takes func()) *fake {
	return &fake{n: n, close: func() error { takes(); return nil }}
}

func TestCloseClosesAllReadersAtTheSameTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var closed atomic.Int32
		// Every worker places samples, so every one has a Reader.
		ds := closing(64, func() { time.Sleep(800 * time.Millisecond); closed.Add(1) })
		ds.place = func(context.Context, int, dataset.Slot) error { time.Sleep(time.Millisecond); return nil }
		l, err := loader.New(ds, loader.Workers(4), loader.BatchSize(8), loader.Timeout(time.Second))
		if err != nil {
			t.Fatal(err)
		}
		for range l.Epoch(t.Context(), 0) {
		}
		begun := time.Now()
		if err := l.Close(); err != nil || closed.Load() != 4 {
			t.Errorf("Close: %v, %d Readers are closed, want 4", err, closed.Load())
		}
		if took := time.Since(begun); took != 800*time.Millisecond {
			t.Errorf("Close took %v, want the time of one Reader", took)
		}
	})
}

func TestCloseWaitsForAReaderNoLongerThanTheTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, workers := range []int{0, 1} {
			hang, memory := make(chan struct{}), new(checked)
			l, err := loader.New(closing(8, func() { <-hang }), loader.Workers(workers), loader.Timeout(time.Second), loader.Memory(memory))
			if err != nil {
				t.Fatal(err)
			}
			for range l.Epoch(t.Context(), 0) {
			}
			begun := time.Now()
			err = l.Close()
			if !errors.Is(err, os.ErrDeadlineExceeded) || !strings.Contains(err.Error(), "worker 0: closing its Reader for 1s") {
				t.Errorf("%d workers: got %v", workers, err)
			}
			if took := time.Since(begun); took != time.Second {
				t.Errorf("%d workers: Close took %v, want the Timeout", workers, took)
			}
			if len(memory.out) != 0 {
				t.Errorf("%d workers: %d slabs are not freed", workers, len(memory.out))
			}
			close(hang) // no goroutine is left in the test's bubble
		}
	})
}

// TestALoopEndsWhileItsReadersAreStillClosing: Close of another goroutine ends the loop, whose
// body returns while a Reader has been closing for longer than the Timeout.
func TestALoopEndsWhileItsReadersAreStillClosing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, err := loader.New(closing(8, func() { time.Sleep(time.Minute) }), loader.Workers(1), loader.Timeout(time.Second))
		if err != nil {
			t.Fatal(err)
		}
		begun := time.Now()
		var last error
		for _, err := range l.Epoch(t.Context(), 0) {
			if last = err; err == nil {
				go l.Close()
				time.Sleep(10 * time.Second)
			}
		}
		if took := time.Since(begun); !errors.Is(last, loader.ErrClosed) || took != 10*time.Second {
			t.Errorf("got %v after %v, want ErrClosed when the body returns", last, took)
		}
		time.Sleep(time.Minute)
	})
}

func TestGoexitInAReadersCloseIsAnErrorOfClose(t *testing.T) {
	memory := new(checked)
	l, err := loader.New(closing(8, runtime.Goexit), loader.Workers(2), loader.Memory(memory))
	if err != nil {
		t.Fatal(err)
	}
	for range l.Epoch(t.Context(), 0) {
	}
	err = errors.New("Close did not return")
	inGoroutine(func() { err = l.Close() })
	if err == nil || !strings.Contains(err.Error(), "close dataset: runtime.Goexit was called") || len(memory.out) != 0 {
		t.Errorf("got %v, and %d slabs are not freed", err, len(memory.out))
	}
}
