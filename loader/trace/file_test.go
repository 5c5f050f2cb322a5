package trace_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/internal/datatest"
	"github.com/penstock-go/penstock/loader"
	"github.com/penstock-go/penstock/loader/trace"
)

func TestFileShowsWhoDidWhatAndWhen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		wait := dataset.BatchFunc(func(dst, src dataset.Columns) error { time.Sleep(2 * time.Millisecond); return nil })
		file := record(t, photos(6), 1, func(*loader.Batch) bool { time.Sleep(100 * time.Millisecond); return true },
			loader.Workers(1), loader.BatchSize(2), loader.InFlight(2), loader.Collate(wait))
		line := read(t, file)
		sample := func(i, from int) []string {
			return []string{fmt.Sprintf("%d.jpg %d-%d", i, from, from+8), fmt.Sprintf("read %d-%d", from, from+3), fmt.Sprintf("decode %d-%d", from+3, from+8)}
		}
		want := slices.Concat(
			[]string{"draw 0-0", "batch 0 0-16"}, sample(0, 0), sample(1, 8), []string{"finish 16-18"},
			[]string{"draw 18-18", "batch 1 18-34"}, sample(2, 18), sample(3, 26), []string{"finish 34-36"},
			[]string{"draw 118-118", "batch 2 118-134"}, sample(4, 118), sample(5, 126), []string{"finish 134-136"},
		)
		if got := line.lines("worker 0"); !slices.Equal(got, want) {
			t.Errorf("worker: got %q\nwant %q", got, want)
		}
		want = []string{"wait 0-18", "body of batch 0 18-118", "wait 118-118", "body of batch 1 118-218", "wait 218-218", "body of batch 2 218-318"}
		if got := line.lines("loop"); !slices.Equal(got, want) {
			t.Errorf("loop: got %q\nwant %q", got, want)
		}
		if got, want := line.counters["slabs in use"], []int64{1, 2, 1, 2, 1, 0}; !slices.Equal(got, want) {
			t.Errorf("slabs in use: got %v, want %v", got, want)
		}
		if got, want := line.counters["ready batches"], []int64{1, 0, 1, 0, 1, 0}; !slices.Equal(got, want) {
			t.Errorf("ready: got %v, want %v", got, want)
		}
		if len(line.instants) != 1 || line.instants[0].Name != "epoch 0" {
			t.Errorf("instants %v", line.instants)
		}
	})
}

func TestFileShowsHelpAndFailures(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ds := samples(8, func(i int, dst dataset.Slot) error {
			time.Sleep(time.Millisecond)
			if i == 5 {
				return errors.New("no such luck")
			}
			return nil
		})
		file := record(t, ds, 1, func(*loader.Batch) bool { return true }, loader.Workers(2), loader.BatchSize(8), loader.Skip(1))
		line := read(t, file)
		got := strings.Join(append(line.lines("worker 0"), line.lines("worker 1")...), "\n")
		for _, want := range []string{"batch 0 0-4", "help batch 0 0-4", "finish"} {
			if !strings.Contains(got, want) {
				t.Errorf("no slice %q in\n%s", want, got)
			}
		}
		i := slices.IndexFunc(line.slices, func(e *event) bool { return e.Name == "5.jpg" })
		if got := fmt.Sprint(line.slices[i].Args["error"]); got != "no such luck" {
			t.Errorf("the error is %q", got)
		}
	})
}

// TestViewersAcceptTheFile: there are many workers, errors, kept batches and a break.
func TestViewersAcceptTheFile(t *testing.T) {
	ds := samples(1000, func(i int, dst dataset.Slot) error {
		for range i % 3 {
			dst.Stage(dataset.StageRead)
			for begun := time.Now(); time.Since(begun) < time.Duration(i%40)*time.Microsecond; {
			}
			dst.Stage(dataset.StageDecode)
		}
		switch {
		case i%50 == 7:
			return errors.New("bad")
		case i%50 == 8:
			panic("broken")
		}
		return nil
	})
	var releases []func()
	n := 0
	file := record(t, ds, 3, func(b *loader.Batch) bool {
		n++
		if n%7 == 0 && len(releases) < 3 {
			releases = append(releases, b.Keep())
		}
		if n == 80 {
			for _, release := range releases {
				release()
			}
		}
		return n < 90
	}, loader.Workers(8), loader.BatchSize(32), loader.Skip(loader.NoLimit), loader.Shuffle(true), loader.Unordered(true))
	line := read(t, file)
	bodies := 0
	for _, e := range line.slices {
		if strings.HasPrefix(e.Name, "body") {
			bodies++
		}
	}
	if bodies != 90 || len(line.tracks) != 9 {
		t.Errorf("%d bodies, want 90; tracks %v", bodies, line.tracks)
	}
	for name, values := range line.counters {
		if last := values[len(values)-1]; last != 0 {
			t.Errorf("%s ends with %d", name, last)
		}
	}
}

func TestShortSamplesAreNotDrawn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ds := samples(4, func(i int, dst dataset.Slot) error { time.Sleep(time.Duration(i) * 400); return nil })
		line := read(t, record(t, ds, 1, func(*loader.Batch) bool { return true }, loader.Workers(1), loader.BatchSize(4)))
		names := map[string]any{}
		for _, e := range line.slices {
			names[e.Name] = e.Args["samples"]
		}
		if _, drawn := names["2.jpg"]; drawn || names["batch 0"] != 4.0 {
			t.Errorf("got %v", names)
		}
		if _, drawn := names["3.jpg"]; !drawn {
			t.Errorf("3.jpg is missing: %v", names)
		}
	})
}

func TestFileIsForOneLoader(t *testing.T) {
	var file bytes.Buffer
	hooks := trace.File(&file)
	l, err := loader.New(photosWithoutTime(4), loader.Observe(hooks))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := loader.New(photosWithoutTime(4), loader.Observe(hooks)); err == nil || !strings.Contains(err.Error(), "loader: hook LoaderMade: trace: File: it already belongs to a loader") {
		t.Errorf("got %v", err)
	}
	for range l.Epoch(t.Context(), 0) {
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	if got := len(read(t, file.Bytes()).lines("loop")); got != 8 {
		t.Errorf("%d slices of the loop, want 8", got)
	}
	// The file has ended.
	if _, err := loader.New(photosWithoutTime(4), loader.Observe(hooks)); err == nil {
		t.Error("a closed loader's File is taken again")
	}
}

func TestFileOfNoLoopIsJSON(t *testing.T) {
	var file bytes.Buffer
	l, err := loader.New(photosWithoutTime(4), loader.Observe(trace.File(&file)))
	if err != nil {
		t.Fatal(err)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	if !bytes.HasSuffix(file.Bytes(), []byte("\n]\n")) || len(parse(t, file.Bytes())) == 0 {
		t.Errorf("got %s", file.Bytes())
	}
}

func TestNamesBecomeText(t *testing.T) {
	for name, want := range map[string]string{`a "b" \c`: `a "b" \c`, "\xff\x00": "\ufffd\x00", "</script>": "</script>", strings.Repeat("x", 2000): strings.Repeat("x", 1000) + "…",
		"x" + strings.Repeat("ä", 1000): "x" + strings.Repeat("ä", 499) + "…"} {
		synctest.Test(t, func(t *testing.T) {
			ds := samples(1, func(int, dataset.Slot) error { time.Sleep(time.Millisecond); return nil })
			line := read(t, record(t, datatest.Named(ds, func(int) string { return name }), 1, func(*loader.Batch) bool { return true }, loader.Workers(1)))
			if !slices.ContainsFunc(line.slices, func(e *event) bool { return e.Name == want }) {
				t.Errorf("%q: got %q", name, line.lines("worker 0"))
			}
		})
	}
}

// pieces keeps what a file has after every Write.
type pieces struct {
	bytes.Buffer
	ends []int
}

func (p *pieces) Write(b []byte) (int, error) {
	defer func() { p.ends = append(p.ends, p.Len()) }()
	return p.Buffer.Write(b)
}

// TestFileIsReadableAfterASecond: what was written until then ends with a whole event.
func TestFileIsReadableAfterASecond(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		file := new(pieces)
		l, err := loader.New(photos(400), loader.Workers(1), loader.BatchSize(8), loader.Observe(trace.File(file)))
		if err != nil {
			t.Fatal(err)
		}
		for range l.Epoch(t.Context(), 0) {
		}
		synctest.Wait() // for the writer
		if len(file.ends) < 3 {
			t.Errorf("the file was written %d times in 3.2 seconds", len(file.ends))
		}
		for _, end := range file.ends {
			parse(t, file.Bytes()[:end])
		}
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
	})
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
		ds := samples(12_000, func(int, dataset.Slot) error { time.Sleep(time.Microsecond); return nil })
		ds = datatest.Named(ds, func(i int) string { return strings.Repeat("x", 900) })
		l, err := loader.New(ds, loader.Workers(2), loader.BatchSize(100), loader.Observe(trace.File(file)))
		if err != nil {
			t.Fatal(err)
		}
		for range l.Epoch(t.Context(), 0) {
		}
		close(file.open)
		synctest.Wait()
		if n := file.Len(); n < 7<<20 || n > 9<<20 {
			t.Errorf("%d bytes waited", n)
		}
		for range l.Epoch(t.Context(), 1) {
		}
		if err := l.Close(); err != nil {
			t.Fatal(err)
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
		l, err := loader.New(photosWithoutTime(1000), loader.Observe(trace.File(w)))
		if err != nil {
			t.Fatal(err)
		}
		for _, err := range l.Epoch(t.Context(), 0) {
			if err != nil {
				t.Fatal(err)
			}
		}
		if err := l.Close(); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}

func TestFileNeedsAWriter(t *testing.T) {
	if _, err := loader.New(photosWithoutTime(4), loader.Observe(trace.File(nil))); err == nil || !strings.Contains(err.Error(), "trace: File: the writer is nil") {
		t.Errorf("got %v", err)
	}
}
