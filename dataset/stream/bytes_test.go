package stream_test

import (
	"context"
	"io"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/dataset/stream"
	"github.com/penstock-go/penstock/internal/loadertest"
	"github.com/penstock-go/penstock/loader"
)

// texts reads a source to its end, or to an error.
func texts(t testing.TB, source stream.Source) (all []string, err error) {
	t.Helper()
	slot := dataset.NewSlot(source.Spec()...)
	for {
		if err := source.Next(t.Context(), slot); err != nil {
			if err == io.EOF {
				err = nil
			}
			return all, err
		}
		all = append(all, string(dataset.Row[byte](slot, 0)))
	}
}

func TestLinesAreCutAtTheirEnds(t *testing.T) {
	long := strings.Repeat("long", 50_000)
	for text, want := range map[string][]string{
		"":                     nil,
		"\n":                   {""},
		"a\nb":                 {"a", "b"},
		"a\r\n\r\nb\r\n":       {"a", "", "b"},
		"a\rb\n":               {"a\rb"},
		long + "\n" + long[1:]: {long, long[1:]},
	} {
		for _, r := range []io.Reader{strings.NewReader(text), iotest.OneByteReader(strings.NewReader(text)), iotest.DataErrReader(strings.NewReader(text))} {
			if got, err := texts(t, stream.Lines(r, "text")); !slices.Equal(got, want) || err != nil {
				t.Errorf("%.10q: got %.10q, %v, want %.10q", text, got, err, want)
			}
		}
	}
}

func TestALineLongerThanMaxRecordIsAnError(t *testing.T) {
	for _, source := range []stream.Source{
		stream.Lines(strings.NewReader("short\n"+strings.Repeat("x", 300_000)), "text"),
	} {
		l := loadertest.New(t, open(t, source, t.TempDir(), stream.MaxRecordBytes(1000)))
		for range 2 {
			var last error
			for _, err := range l.Epoch(t.Context(), 0) {
				last = err
			}
			if last == nil || !strings.Contains(last.Error(), "record 1: ") || !strings.Contains(last.Error(), "more than 1000") {
				t.Errorf("got %v", last)
			}
		}
	}
}

// A file can be read again from a mark, also if it does not begin with the stream.
func TestAFileSeeksToItsMarks(t *testing.T) {
	lines := []string{"one", "", "three", "four", "five"}
	for name, source := range map[string]func(io.Reader) stream.Source{
		"header\n" + strings.Join(lines, "\r\n"): func(r io.Reader) stream.Source { return stream.Lines(r, "text") },
	} {
		path := filepath.Join(t.TempDir(), "log")
		if err := os.WriteFile(path, []byte(name), 0o600); err != nil {
			t.Fatal(err)
		}
		reopen := func() stream.Source {
			f, err := os.Open(path)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { f.Close() })
			if _, err := f.Seek(7, io.SeekStart); err != nil {
				t.Fatal(err)
			}
			return source(f)
		}
		for k := range lines {
			first := reopen()
			slot := dataset.NewSlot(first.Spec()...)
			for range k {
				if err := first.Next(t.Context(), slot); err != nil {
					t.Fatal(err)
				}
			}
			again := reopen()
			if err := again.(stream.Seeker).Seek(t.Context(), first.Mark()); err != nil {
				t.Fatal(err)
			}
			if got, err := texts(t, again); !slices.Equal(got, lines[k:]) || err != nil {
				t.Errorf("from mark %q on: got %q, %v, want %q", first.Mark(), got, err, lines[k:])
			}
		}
		if err := reopen().(stream.Seeker).Seek(t.Context(), []byte("x")); err == nil {
			t.Error("a mark of another source: no error")
		}
	}
	r, w := io.Pipe()
	defer w.Close()
	if _, ok := stream.Lines(r, "text").(stream.Seeker); ok {
		t.Error("a pipe is a Seeker")
	}
}

// Close interrupts a Read that waits, and what was read of a record is not lost.
func TestCloseInterruptsAConnection(t *testing.T) {
	near, far := net.Pipe()
	defer far.Close()
	source := stream.Lines(near, "text")
	dir := t.TempDir()
	ds, err := stream.New(source, dir)
	if err != nil {
		t.Fatal(err)
	}
	go io.WriteString(far, "one\ntw")
	if have, _, err := ds.Await(t.Context(), 1, nil); have != 1 || err != nil {
		t.Fatalf("got %d, %v", have, err)
	}
	if err := ds.Close(); err != nil {
		t.Fatal(err)
	}
	go func() {
		io.WriteString(far, "o\nthree\n")
		far.Close()
	}()
	l := loadertest.New(t, open(t, source, dir), loader.BatchSize(8))
	for b, err := range l.Epoch(t.Context(), 0) {
		if err != nil {
			t.Fatal(err)
		}
		if got := string(loader.Values[byte](b, "text")); got != "onetwothree" {
			t.Errorf("got %q", got)
		}
	}
}

func TestAChannelGivesNothingAfterItsContextIsDone(t *testing.T) {
	c := make(chan int, 1)
	c <- 1
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	source := stream.Channel(c, numbersSpec, func(int, dataset.Slot) error { return nil })
	for range 100 {
		if err := source.Next(ctx, dataset.NewSlot(numbersSpec...)); err != context.Canceled {
			t.Fatalf("got %v", err)
		}
	}
}
