package packed_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"testing/fstest"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/dataset/packed"
	"github.com/penstock-go/penstock/internal/allocs"
	"github.com/penstock-go/penstock/internal/datatest"
)

func TestItemsReadsWhatWriteItemsWrote(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "in", "items")
	if err := packed.WriteItems(t.Context(), dir, datatest.Pairs(t)); err != nil {
		t.Fatal(err)
	}
	ds, err := packed.Items(os.DirFS(dir), "*.raw", datatest.Pairs(t).Spec())
	if err != nil {
		t.Fatal(err)
	}
	datatest.Same(t, ds, datatest.Pairs(t))
	if got, want := dataset.Name(ds, 3), "00000003.raw"; got != want {
		t.Errorf("sample 3 is named %q, want %q", got, want)
	}
}

func TestOpenRawReadsWhatWriteRawWrote(t *testing.T) {
	var file bytes.Buffer
	if err := packed.WriteRaw(t.Context(), &file, datatest.Pairs(t)); err != nil {
		t.Fatal(err)
	}
	if got, want := file.Bytes()[:8], []byte{1, 0, 2, 0, 0xff, 0xff, 3, 0}; !bytes.Equal(got, want) {
		t.Errorf("file begins with % x, want % x", got, want)
	}
	name := filepath.Join(t.TempDir(), "pairs")
	write(t, name, file.String())
	for kind, fsys := range map[string]fs.FS{
		"a directory":     os.DirFS(filepath.Dir(name)),
		"a seekable file": datatest.SeekOnly{FS: fstest.MapFS{"pairs": {Data: file.Bytes()}}},
	} {
		ds, err := packed.OpenRaw(fsys, "pairs", datatest.Pairs(t).Spec())
		if err != nil {
			t.Fatalf("%s: %v", kind, err)
		}
		datatest.Same(t, ds, datatest.Pairs(t))
		if got, want := dataset.Name(ds, 3), "pairs, record 3"; got != want {
			t.Errorf("sample 3 is named %q, want %q", got, want)
		}
	}
}

// readOnly hides ReadAt and Seek of its files.
type readOnly struct{ fs.FS }

func (r readOnly) Open(name string) (fs.File, error) {
	f, err := r.FS.Open(name)
	return struct{ fs.File }{f}, err
}

func TestRecordsOfEverySizeArePlacedWhole(t *testing.T) {
	for _, values := range []int{1, 8191, 8192, 100_000} {
		rows := [][]uint16{make([]uint16, values), make([]uint16, values)}
		for i := range values {
			rows[0][i], rows[1][i] = uint16(i), uint16(7*i)
		}
		want := datatest.Tensors(t, dataset.Named("a", []int8{3, 4}), dataset.Named("b", rows), dataset.Named("c", []float64{5, 6}))
		var file bytes.Buffer
		if err := packed.WriteRaw(t.Context(), &file, want); err != nil {
			t.Fatal(err)
		}
		got, err := packed.OpenRaw(fstest.MapFS{"f": {Data: file.Bytes()}}, "f", want.Spec())
		if err != nil {
			t.Fatal(err)
		}
		datatest.Same(t, got, want)
	}
}

func TestRawRecordsSayWhatIsWrong(t *testing.T) {
	fsys := fstest.MapFS{"a.raw": {Data: make([]byte, 5)}, "b.raw": {Data: make([]byte, 7)}, "d": {Mode: fs.ModeDir}}
	spec := datatest.Pairs(t).Spec()
	ds, err := packed.Items(fsys, "*.raw", spec)
	if err != nil {
		t.Fatal(err)
	}
	at := func(i int) error {
		_, err := dataset.At(t.Context(), ds, i)
		return err
	}
	one := func(fsys fs.FS, name string) error {
		ds, err := packed.OpenRaw(fsys, name, spec)
		if err != nil {
			return err
		}
		_, err = ds.Open()
		return err
	}
	raw := func(pattern string, spec dataset.Spec) error {
		_, err := packed.Items(fsys, pattern, spec)
		return err
	}
	whole := fstest.MapFS{"w": {Data: make([]byte, 12)}}
	for _, c := range []struct {
		err  error
		want string
	}{
		{at(0), "dataset: sample 0 (a.raw): packed: file of 5 bytes, want 6"},
		{at(1), "dataset: sample 1 (b.raw): packed: file of 7 bytes, want 6"},
		{raw("*.npy", spec), `packed: no file matches "*.npy"`},
		{raw("[", spec), `packed: match "[": syntax error in pattern`},
		{raw("*.raw", nil), "packed: dataset: spec: no fields"},
		{raw("*.raw", dataset.Spec{{Name: "x"}}), `packed: dataset: spec: field "x" has no dtype`},
		{raw("*.raw", dataset.Spec{wordsField}), `packed: field "words" is ragged: want a fixed size`},
		{one(fsys, "b.raw"), "packed: read b.raw: file of 7 bytes, want a multiple of 6: 1 samples and 1 bytes"},
		{one(fsys, "c.raw"), "packed: read c.raw: file does not exist"},
		{one(fsys, "d"), "packed: read d: not a file"},
		{one(readOnly{whole}, "w"), "packed: read w: file offers neither ReadAt nor Seek"},
	} {
		if c.err == nil || c.err.Error() != c.want {
			t.Errorf("got error  %v\nwant       %s", c.err, c.want)
		}
	}
}

func TestPackedFileThatShrinksIsAnError(t *testing.T) {
	name := filepath.Join(t.TempDir(), "packed")
	write(t, name, "123456789012")
	ds, err := packed.OpenRaw(os.DirFS(filepath.Dir(name)), "packed", datatest.Pairs(t).Spec())
	if err != nil {
		t.Fatal(err)
	}
	r, err := ds.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if err := os.Truncate(name, 8); err != nil {
		t.Fatal(err)
	}
	slot := dataset.NewSlot(ds.Spec()...)
	if err := r.Place(t.Context(), 0, slot); err != nil {
		t.Errorf("sample that is still there: %v", err)
	}
	err = r.Place(t.Context(), 1, slot)
	if want := "packed: file ended at byte 8, but had 12 bytes when it was opened: unexpected EOF"; err == nil || err.Error() != want {
		t.Errorf("got error %v, want %s", err, want)
	}
	if !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("%v is not io.ErrUnexpectedEOF", err)
	}
}

func TestRawFileThatShrinksWhileReadIsAnError(t *testing.T) {
	fsys := datatest.Promising{FS: fstest.MapFS{"a.raw": {}}, Content: "12345", Size: 6}
	ds, err := packed.Items(fsys, "*.raw", datatest.Pairs(t).Spec())
	if err != nil {
		t.Fatal(err)
	}
	_, err = dataset.At(t.Context(), ds, 0)
	if want := "dataset: sample 0 (a.raw): packed: file ended after 5 bytes, want 6: unexpected EOF"; err == nil || err.Error() != want {
		t.Errorf("got error %v, want %s", err, want)
	}
}

func TestOpenRawPlacesWithoutAllocation(t *testing.T) {
	for _, values := range []int{100, 100_000} {
		name := filepath.Join(t.TempDir(), "packed")
		record := dataset.Spec{{Name: "x", Dtype: dataset.Uint8, Shape: dataset.Shape{values}}, labelField}
		write(t, name, string(make([]byte, 3*(values+8))))
		ds, err := packed.OpenRaw(os.DirFS(filepath.Dir(name)), "packed", record)
		if err != nil {
			t.Fatal(err)
		}
		datatest.PlacesWithoutAllocation(t, ds)
	}
}

func TestItemsAllocateOnlyToOpenTheFile(t *testing.T) {
	dir := t.TempDir()
	if err := packed.WriteItems(t.Context(), dir, datatest.Pairs(t)); err != nil {
		t.Fatal(err)
	}
	ds, err := packed.Items(os.DirFS(dir), "*.raw", datatest.Pairs(t).Spec())
	if err != nil {
		t.Fatal(err)
	}
	r, _ := ds.Open()
	slot := dataset.NewSlot(ds.Spec()...)
	ctx := t.Context()
	got := allocs.PerRun(5, 100, func() {
		if err := r.Place(ctx, 1, slot); err != nil {
			t.Fatal(err)
		}
	})
	if got > 5 { // os.Open 3, its path 1, Stat 1
		t.Errorf("%v allocations per sample, want at most 5", got)
	}
}

func TestWritersStopAtTheFirstError(t *testing.T) {
	bad := errors.New("bad sample")
	ds := dataset.Func(3, dataset.Spec{labelField}, func(_ context.Context, i int, dst dataset.Slot) error {
		if i == 1 {
			return bad
		}
		dataset.Set(dst, 0, int64(i))
		return nil
	})
	var file bytes.Buffer
	if err := packed.WriteRaw(t.Context(), &file, ds); !errors.Is(err, bad) || file.Len() != 8 {
		t.Errorf("got error %v after %d bytes, want %v after 8", err, file.Len(), bad)
	}
	ragged := dataset.Func(1, dataset.Spec{wordsField}, func(context.Context, int, dataset.Slot) error { return nil })
	if err := packed.WriteRaw(t.Context(), &file, ragged); err == nil {
		t.Error("a ragged field gives no error")
	}
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	if err := packed.WriteItems(cancelled, t.TempDir(), datatest.Pairs(t)); !errors.Is(err, context.Canceled) {
		t.Errorf("got error %v, want context.Canceled", err)
	}
	name := filepath.Join(t.TempDir(), "file")
	write(t, name, "")
	if err := packed.WriteItems(t.Context(), name, datatest.Pairs(t)); err == nil {
		t.Error("a file in the way of the folder gives no error")
	}
	r, w := io.Pipe()
	r.Close()
	if err := packed.WriteRaw(t.Context(), w, datatest.Pairs(t)); !errors.Is(err, io.ErrClosedPipe) {
		t.Errorf("got error %v, want io.ErrClosedPipe", err)
	}
}

func write(t testing.TB, name, content string) {
	t.Helper()
	if err := os.WriteFile(name, []byte(content), 0o666); err != nil {
		t.Fatal(err)
	}
}

var (
	labelField = dataset.Field{Name: "label", Dtype: dataset.Int64}
	wordsField = dataset.Field{Name: "words", Dtype: dataset.Int32, Ragged: true}
)

func TestIndexOutsideIsAnError(t *testing.T) {
	fsys := fstest.MapFS{"a": {Data: make([]byte, 6)}, "b": {Data: make([]byte, 6)}, "both": {Data: make([]byte, 12)}}
	spec := datatest.Pairs(t).Spec()
	items, err := packed.Items(fsys, "?", spec)
	if err != nil {
		t.Fatal(err)
	}
	file, err := packed.OpenRaw(fsys, "both", spec)
	if err != nil {
		t.Fatal(err)
	}
	datatest.RefusesOtherIndices(t, items)
	datatest.RefusesOtherIndices(t, file)
}
