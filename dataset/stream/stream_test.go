package stream_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/dataset/stream"
	"github.com/penstock-go/penstock/internal/loadertest"
	"github.com/penstock-go/penstock/internal/testenv"
	"github.com/penstock-go/penstock/loader"
	"github.com/penstock-go/penstock/sampler"
)

func TestTheDataIsTheSameForAnyNumberOfWorkers(t *testing.T) {
	testenv.Whole(t)
	for _, n := range []int{0, 1, 99, 100, 1050} {
		for _, window := range []int{1, 7, 100, 5000} {
			want := order(n, window, 3)
			for _, workers := range []int{0, 1, 3, 8} {
				ds := open(t, &numbers{n: n}, t.TempDir(), stream.Window(window), stream.Seed(3), stream.BlockSize(1<<10))
				l := loadertest.New(t, ds, loader.BatchSize(16), loader.Workers(workers))
				for range 2 { // the second time from the spool alone
					if got := flat(collect(t, l, l.Position(0), -1)); !slices.Equal(got, want) {
						t.Errorf("%d records, window %d, %d workers: got %v, want %v", n, window, workers, got, want)
					}
				}
			}
		}
	}
}

func TestResumeContinuesAfterEveryBatch(t *testing.T) {
	testenv.Whole(t)
	const n, window = 200, 30
	want := order(n, window, 9)
	options := []stream.Option{stream.Window(window), stream.Seed(9), stream.BlockSize(300)}
	for stop := 1; stop <= n/8+1; stop++ {
		for name, source := range map[string]func() stream.Source{
			"seeker": func() stream.Source { return seeking{&numbers{n: n}} },
			"other":  nil,
		} {
			dir := t.TempDir()
			log := &numbers{n: n}
			next := source
			if next == nil {
				next = func() stream.Source { return log } // goes on where it is
			}
			ds, err := stream.New(next(), dir, options...)
			if err != nil {
				t.Fatal(err)
			}
			l, err := loader.New(ds, loader.BatchSize(8), loader.Workers(stop%4))
			if err != nil {
				t.Fatal(err)
			}
			first := collect(t, l, l.Position(0), stop)
			if err := errors.Join(l.Close(), ds.Close()); err != nil {
				t.Fatal(err)
			}
			text, err := json.Marshal(first[len(first)-1].position)
			if err != nil {
				t.Fatal(err)
			}
			var position loader.Position
			if err := json.Unmarshal(text, &position); err != nil {
				t.Fatal(err)
			}
			l = loadertest.New(t, open(t, next(), dir, options...), loader.BatchSize(8), loader.Workers(2))
			if got := append(flat(first), flat(collect(t, l, position, -1))...); !slices.Equal(got, want) {
				t.Errorf("%s, after batch %d at %s: got %v, want %v", name, stop, text, got, want)
			}
		}
	}
}

// Positions of one rank of three, and of all, are places in one and the same order.
func TestRanksShareAStream(t *testing.T) {
	const n, window, world = 200, 30, 3
	want := order(n, window, 0)
	for rank := range world {
		ds := open(t, &numbers{n: n}, t.TempDir(), stream.Window(window), stream.BlockSize(500))
		l := loadertest.New(t, ds, loader.BatchSize(8), loader.Ranks(rank, world, sampler.KeepExact))
		batches := collect(t, l, l.Position(0), -1)
		var own []int64
		for k := rank; k < n; k += world {
			own = append(own, want[k])
		}
		if got := flat(batches); !slices.Equal(got, own) {
			t.Errorf("rank %d: got %v, want %v", rank, got, own)
		}
		alone := loadertest.New(t, ds, loader.BatchSize(8))
		if got := flat(collect(t, alone, batches[3].position, -1)); !slices.Equal(got, want[4*8*world:]) {
			t.Errorf("after four batches on three ranks, one goes on with %v", got)
		}
	}
}

func TestErrorsNameTheSourceAndTheRecord(t *testing.T) {
	source := &numbers{n: 40, fail: map[int]error{21: errBroken}}
	ds := open(t, source, t.TempDir())
	l := loadertest.New(t, ds, loader.BatchSize(8))
	var got []int64
	var failed error
	for b, err := range l.Epoch(t.Context(), 0) {
		if failed = err; err == nil {
			got = append(got, checked(t, b)...)
		}
	}
	if !errors.Is(failed, errBroken) || !strings.Contains(failed.Error(), "numbers: record 21: the network broke") || len(got) != 16 {
		t.Errorf("after %d records: %v", len(got), failed)
	}
	// The next loop asks again.
	if got := flat(collect(t, l, l.Position(0), -1)); !slices.Equal(got, order(40, 1, 0)) {
		t.Errorf("the next loop got %v", got)
	}
	if name := ds.Name(7); name != "numbers, record 7" {
		t.Errorf("got the name %q", name)
	}
}

func TestAPanicOfTheSourceIsAnError(t *testing.T) {
	source := stream.Channel(make(chan int), numbersSpec, func(int, dataset.Slot) error { return nil })
	l := loadertest.New(t, open(t, panicking{source}, t.TempDir()))
	for _, err := range l.Epoch(t.Context(), 0) {
		if panicked := (*dataset.PanicError)(nil); !errors.As(err, &panicked) || panicked.Value != "no network" || !strings.Contains(err.Error(), "record 0: panic: no network") {
			t.Errorf("got %v", err)
		}
	}
}

type panicking struct{ stream.Source }

func (panicking) Mark() []byte { panic("no network") }

func TestNewListsAllThatIsWrong(t *testing.T) {
	_, err := stream.New(&numbers{}, t.TempDir(), stream.Window(0), stream.MaxRecordBytes(0), stream.MaxBytes(100))
	for _, want := range []string{"Window(0)", "MaxRecordBytes(0)", "MaxBytes(100): want at least 4 times BlockSize"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
	if _, err := stream.New(nil, t.TempDir()); err == nil {
		t.Error("a nil source: no error")
	}
}

func TestASpoolBelongsToOneStreamAndOneProcess(t *testing.T) {
	dir := t.TempDir()
	ds, err := stream.New(&numbers{n: 3}, dir, stream.Window(2))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := stream.New(&numbers{n: 3}, dir, stream.Window(2)); err == nil || !strings.Contains(err.Error(), "another process") {
		t.Errorf("opened twice: %v", err)
	}
	if err := errors.Join(ds.Close(), ds.Close()); err != nil {
		t.Fatal(err)
	}
	other := stream.Channel(make(chan int), dataset.Spec{{Name: "x", Dtype: dataset.Bool}}, nil)
	for want, try := range map[string]func() (*stream.Dataset, error){
		"Window(2)":             func() (*stream.Dataset, error) { return stream.New(&numbers{n: 3}, dir, stream.Window(3)) },
		"holds records of":      func() (*stream.Dataset, error) { return stream.New(other, dir, stream.Window(2)) },
		"want an empty folder,": func() (*stream.Dataset, error) { return stream.New(other, filepath.Dir(dir)) },
	} {
		if _, err := try(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
	l := loadertest.New(t, ds)
	for _, err := range l.Epoch(t.Context(), 0) {
		if !errors.Is(err, os.ErrClosed) {
			t.Errorf("after Close: %v", err)
		}
	}
}

func TestARecordThatIsTooLargeIsAnErrorThatStays(t *testing.T) {
	ds := open(t, &numbers{n: 100}, t.TempDir(), stream.MaxRecordBytes(8+4+40))
	l := loadertest.New(t, ds, loader.BatchSize(10))
	for range 2 {
		var last error
		for _, err := range l.Epoch(t.Context(), 0) {
			last = err
		}
		if last == nil || !strings.Contains(last.Error(), "record 41: 53 bytes, more than MaxRecordBytes(52)") {
			t.Errorf("got %v", last)
		}
	}
}

// A record that is damaged on the disk is an error that names it. A block whose table is
// damaged is read again, if the source can.
func TestDamagedBlocksAreNoticed(t *testing.T) {
	const n = 60
	for _, part := range []string{"record", "table", "missing"} {
		dir := t.TempDir()
		ds, err := stream.New(&numbers{n: n}, dir, stream.BlockSize(200))
		if err != nil {
			t.Fatal(err)
		}
		l := loadertest.New(t, ds, loader.BatchSize(10))
		collect(t, l, l.Position(0), -1)
		if err := ds.Close(); err != nil {
			t.Fatal(err)
		}
		path := blocks(t, dir)[2]
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if part == "record" {
			data[40] ^= 4
		} else {
			data[len(data)-38] ^= 4 // in the table, or in a mark
		}
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		if part == "missing" {
			if err := os.Remove(path); err != nil {
				t.Fatal(err)
			}
		}
		if part == "record" {
			l := loadertest.New(t, open(t, &numbers{n: n}, dir), loader.BatchSize(10))
			var last error
			for _, err := range l.Epoch(t.Context(), 0) {
				last = err
			}
			if last == nil || !strings.Contains(last.Error(), filepath.Base(path)) || !strings.Contains(last.Error(), "checksum") {
				t.Errorf("%s: got %v", part, last)
			}
			continue
		}
		if _, err := stream.New(&numbers{n: n}, dir); err == nil || !strings.Contains(err.Error(), ".block: the block is damaged") {
			t.Errorf("%s: got %v", part, err)
		}
	}
}

func blocks(t testing.TB, dir string) []string {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(dir, "*.block"))
	if err != nil || len(paths) < 4 {
		t.Fatalf("%d blocks, %v", len(paths), err)
	}
	return paths
}

// All kinds of fields come back as they were.
func TestAllDtypesPassThroughTheSpool(t *testing.T) {
	spec := dataset.Spec{
		{Name: "b", Dtype: dataset.Bool, Shape: dataset.Shape{3}}, {Name: "f", Dtype: dataset.Float32, Shape: dataset.Shape{2, 2}},
		{Name: "c", Dtype: dataset.Complex128}, {Name: "r", Dtype: dataset.Int16, Shape: dataset.Shape{2}, Ragged: true},
	}
	c := make(chan int, 3)
	for v := range 3 {
		c <- v
	}
	close(c)
	ds := open(t, stream.Channel(c, spec, func(v int, dst dataset.Slot) error {
		dataset.Row[bool](dst, 0)[v] = true // the others are false, whatever was there before
		copy(dataset.Row[float32](dst, 1), []float32{float32(v), 1, 2, 3})
		dataset.Set(dst, 2, complex(float64(v), -1))
		if v != 1 {
			copy(dataset.Grow[int16](dst, 3, 2), []int16{-1, 2, -3, int16(v)})
		}
		return nil
	}), t.TempDir())
	l := loadertest.New(t, ds, loader.BatchSize(3))
	for b, err := range l.Epoch(t.Context(), 0) {
		if err != nil {
			t.Fatal(err)
		}
		got := fmt.Sprint(loader.Values[bool](b, "b"), loader.Values[float32](b, "f"), loader.Values[complex128](b, "c"), loader.Values[int16](b, "r"), b.Offsets("r"))
		want := "[true false false false true false false false true] [0 1 2 3 1 1 2 3 2 1 2 3] [(0-1i) (1-1i) (2-1i)] [-1 2 -3 0 -1 2 -3 2] [0 2 2 4]"
		if got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
}
