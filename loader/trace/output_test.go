package trace_test

import (
	"bytes"
	"errors"
	"io"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/internal/datatest"
	"github.com/penstock-go/penstock/loader"
	"github.com/penstock-go/penstock/loader/trace"
)

// A recorder of pieces keeps what a file has after every Write.
type pieces struct {
	bytes.Buffer
	ends  []int
	count atomic.Int64 // of the ends
}

func (p *pieces) Write(b []byte) (int, error) {
	defer func() {
		p.ends = append(p.ends, p.Len())
		p.count.Add(1)
	}()
	return p.Buffer.Write(b)
}

func TestFileIsReadableWhereverItEnds(t *testing.T) {
	file := new(pieces)
	l, err := loader.New(photosWithoutTime(400), loader.Workers(2), loader.BatchSize(8), loader.Observe(trace.File(file, trace.Shortest(0))))
	if err != nil {
		t.Fatal(err)
	}
	for epoch := range 5 {
		written := file.count.Load()
		for range l.Epoch(t.Context(), epoch) {
		}
		for file.count.Load() == written { // an epoch has more than a piece must have
			runtime.Gosched()
		}
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	if len(file.ends) < 5 {
		t.Fatalf("the file was written in %d pieces", len(file.ends))
	}
	for _, end := range file.ends {
		parse(t, file.Bytes()[:end])
	}
}

// A gate is a writer that waits.
type gate struct {
	bytes.Buffer
	open chan struct{}
}

func (g *gate) Write(b []byte) (int, error) {
	<-g.open
	return g.Buffer.Write(b)
}

func TestSlowWriterDoesNotHoldUpTheLoader(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		file := &gate{open: make(chan struct{})}
		ds := samples(20_000, func(int, dataset.Slot) error { time.Sleep(time.Microsecond); return nil })
		ds = datatest.Named(ds, func(i int) string { return strings.Repeat("x", 900) })
		l, err := loader.New(ds, loader.Workers(2), loader.BatchSize(100), loader.Observe(trace.File(file, trace.Shortest(0))))
		if err != nil {
			t.Fatal(err)
		}
		for range l.Epoch(t.Context(), 0) {
		}
		close(file.open)
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
		if n := file.Len(); n > 10<<20 {
			t.Errorf("%d bytes waited", n)
		}
		line := read(t, file.Bytes())
		if i := slices.IndexFunc(line.instants, func(e *event) bool { return e.Name == "events are missing" }); i < 0 {
			t.Error("nothing says that events are missing")
		}
	})
}

type failingWriter func() error

func (f failingWriter) Write([]byte) (int, error) { return 0, f() }

func TestErrorsOfTheWriterAreForClose(t *testing.T) {
	for want, w := range map[string]io.Writer{
		"trace: write the file: no space":                  failingWriter(func() error { return errors.New("no space") }),
		"trace: write the file: panic: broken":             failingWriter(func() error { panic("broken") }),
		"trace: write the file: runtime.Goexit was called": failingWriter(func() error { runtime.Goexit(); return nil }),
	} {
		l, err := loader.New(photosWithoutTime(100), loader.Observe(trace.File(w)))
		if err != nil {
			t.Fatal(err)
		}
		for _, err := range l.Epoch(t.Context(), 0) {
			if err != nil {
				t.Fatal(err)
			}
		}
		if err := l.Close(); err == nil || err.Error() != want {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}

func TestFileNeedsAWriter(t *testing.T) {
	if _, err := loader.New(photosWithoutTime(4), loader.Observe(trace.File(nil))); err == nil || !strings.Contains(err.Error(), "trace: File: the writer is nil") {
		t.Errorf("got %v", err)
	}
}
