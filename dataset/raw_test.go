package dataset_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"testing/fstest"

	"gorgonia.org/tensor"

	"github.com/penstock-go/penstock/dataset"
)

// pairs has five samples of two fields, 6 bytes together.
func pairs(t testing.TB) dataset.Dataset {
	return tensors(t,
		dataset.Named("pair", [][2]uint16{{1, 2}, {3, 4}, {5, 6}, {7, 8}, {9, 10}}),
		dataset.Named("label", []int16{-1, -2, -3, -4, -5}))
}

func sameSamples(t *testing.T, got, want dataset.Dataset) {
	t.Helper()
	if got.Len() != want.Len() {
		t.Fatalf("%d samples, want %d", got.Len(), want.Len())
	}
	for i := range want.Len() {
		g, w := sample(t, got, i), sample(t, want, i)
		for _, f := range want.Spec() {
			if g, w := fmt.Sprint(g[f.Name].Data()), fmt.Sprint(w[f.Name].Data()); g != w {
				t.Errorf("sample %d, field %s: %s, want %s", i, f.Name, g, w)
			}
		}
	}
}

func TestRawTensorsReadsWhatWriteItemsWrote(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "in", "items")
	if err := dataset.WriteItems(t.Context(), dir, pairs(t)); err != nil {
		t.Fatal(err)
	}
	ds, err := dataset.RawTensors(os.DirFS(dir), "*.raw", pairs(t).Spec())
	if err != nil {
		t.Fatal(err)
	}
	sameSamples(t, ds, pairs(t))
	if got, want := dataset.Name(ds, 3), "00000003.raw"; got != want {
		t.Errorf("sample 3 is named %q, want %q", got, want)
	}
	dataset.ReadAhead(t.Context(), ds, []int{0, 4})
}

func TestPackedTensorsReadsWhatWritePackedWrote(t *testing.T) {
	var packed bytes.Buffer
	if err := dataset.WritePacked(t.Context(), &packed, pairs(t)); err != nil {
		t.Fatal(err)
	}
	if got, want := packed.Bytes()[:8], []byte{1, 0, 2, 0, 0xff, 0xff, 3, 0}; !bytes.Equal(got, want) {
		t.Errorf("file begins with % x, want % x", got, want)
	}
	name := filepath.Join(t.TempDir(), "pairs")
	write(t, name, packed.String())
	for kind, fsys := range map[string]fs.FS{
		"a directory":     os.DirFS(filepath.Dir(name)),
		"a seekable file": seekOnly{fstest.MapFS{"pairs": {Data: packed.Bytes()}}},
	} {
		ds, err := dataset.PackedTensors(fsys, "pairs", pairs(t).Spec(), dataset.Count(5))
		if err != nil {
			t.Fatalf("%s: %v", kind, err)
		}
		sameSamples(t, ds, pairs(t))
		if got, want := dataset.Name(ds, 3), "pairs, record 3"; got != want {
			t.Errorf("sample 3 is named %q, want %q", got, want)
		}
		dataset.ReadAhead(t.Context(), ds, []int{0, 4})
	}
}

// seekOnly hides that its files can be read at any place.
type seekOnly struct{ fs.FS }

func (s seekOnly) Open(name string) (fs.File, error) {
	f, err := s.FS.Open(name)
	return struct {
		fs.File
		io.Seeker
	}{f, f.(io.Seeker)}, err
}

// readOnly hides that its files can be read at any place or wound to it.
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
		want := tensors(t, dataset.Named("a", []int8{3, 4}), dataset.Named("b", rows), dataset.Named("c", []float64{5, 6}))
		var packed bytes.Buffer
		if err := dataset.WritePacked(t.Context(), &packed, want); err != nil {
			t.Fatal(err)
		}
		got, err := dataset.PackedTensors(fstest.MapFS{"f": {Data: packed.Bytes()}}, "f", want.Spec())
		if err != nil {
			t.Fatal(err)
		}
		sameSamples(t, got, want)
	}
}

func TestRawTensorsSaysWhatIsWrong(t *testing.T) {
	fsys := fstest.MapFS{"a.raw": {Data: make([]byte, 5)}, "b.raw": {Data: make([]byte, 7)}, "d": {Mode: fs.ModeDir}}
	spec := pairs(t).Spec()
	ds, err := dataset.RawTensors(fsys, "*.raw", spec)
	if err != nil {
		t.Fatal(err)
	}
	at := func(i int) error {
		_, err := dataset.At(t.Context(), ds, i)
		return err
	}
	packed := func(fsys fs.FS, name string, options ...dataset.PackedOption) error {
		ds, err := dataset.PackedTensors(fsys, name, spec, options...)
		if err != nil {
			return err
		}
		_, err = ds.Open()
		return err
	}
	raw := func(pattern string, spec dataset.Spec) error {
		_, err := dataset.RawTensors(fsys, pattern, spec)
		return err
	}
	whole := fstest.MapFS{"w": {Data: make([]byte, 12)}}
	for _, c := range []struct {
		err  error
		want string
	}{
		{at(0), "dataset: read a.raw: file of 5 bytes, want 6"},
		{at(1), "dataset: read b.raw: file of 7 bytes, want 6"},
		{raw("*.npy", spec), `dataset: no file matches "*.npy"`},
		{raw("[", spec), `dataset: match "[": syntax error in pattern`},
		{raw("*.raw", nil), "dataset: spec: no fields"},
		{raw("*.raw", dataset.Spec{{Name: "x"}}), `dataset: spec: field "x": kind <nil> has no fixed size`},
		{raw("*.raw", dataset.Spec{wordsField}), `dataset: field "words" is ragged: want a fixed size, so that a sample's place in a file is known`},
		{packed(fsys, "b.raw"), "dataset: read b.raw: file of 7 bytes, want a multiple of 6: 1 samples and 1 bytes"},
		{packed(fsys, "b.raw", dataset.Count(1)), "dataset: read b.raw: file of 7 bytes, want 1 samples of 6 bytes each"},
		{packed(whole, "w", dataset.Count(3)), "dataset: read w: file of 12 bytes, want 3 samples of 6 bytes each"},
		{packed(fsys, "c.raw"), "dataset: read c.raw: file does not exist"},
		{packed(fsys, "d"), "dataset: read d: not a file"},
		{packed(readOnly{whole}, "w"), "dataset: read w: file offers neither ReadAt nor Seek"},
	} {
		if c.err == nil || c.err.Error() != c.want {
			t.Errorf("got error  %v\nwant       %s", c.err, c.want)
		}
	}
}

func TestPackedFileThatShrinksIsAnError(t *testing.T) {
	name := filepath.Join(t.TempDir(), "packed")
	write(t, name, "123456789012")
	ds, err := dataset.PackedTensors(os.DirFS(filepath.Dir(name)), "packed", pairs(t).Spec())
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
	slot := newSlot(ds.Spec()...)
	if err := r.Place(t.Context(), 0, slot); err != nil {
		t.Errorf("sample that is still there: %v", err)
	}
	err = r.Place(t.Context(), 1, slot)
	if want := "dataset: read packed: file ended at byte 8, but had 12 when it was opened: unexpected EOF"; err == nil || err.Error() != want {
		t.Errorf("got error %v, want %s", err, want)
	}
	if !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("%v is not io.ErrUnexpectedEOF", err)
	}
}

func TestRawFileThatShrinksWhileReadIsAnError(t *testing.T) {
	fsys := promising{fstest.MapFS{"a.raw": {}}, "12345", 6}
	ds, err := dataset.RawTensors(fsys, "*.raw", pairs(t).Spec())
	if err != nil {
		t.Fatal(err)
	}
	_, err = dataset.At(t.Context(), ds, 0)
	if want := "dataset: read a.raw: file ended after 5 bytes, want 6: unexpected EOF"; err == nil || err.Error() != want {
		t.Errorf("got error %v, want %s", err, want)
	}
}

func TestPackedTensorsPlacesWithoutAllocation(t *testing.T) {
	for _, values := range []int{100, 100_000} {
		name := filepath.Join(t.TempDir(), "packed")
		record := dataset.Spec{{Name: "x", Dtype: tensor.Uint8, Shape: tensor.Shape{values}}, labelField}
		write(t, name, string(make([]byte, 3*(values+8))))
		ds, err := dataset.PackedTensors(os.DirFS(filepath.Dir(name)), "packed", record)
		if err != nil {
			t.Fatal(err)
		}
		placeWithoutAllocation(t, ds)
	}
}

func TestRawTensorsAllocatesOnlyToOpenTheFile(t *testing.T) {
	dir := t.TempDir()
	if err := dataset.WriteItems(t.Context(), dir, pairs(t)); err != nil {
		t.Fatal(err)
	}
	ds, err := dataset.RawTensors(os.DirFS(dir), "*.raw", pairs(t).Spec())
	if err != nil {
		t.Fatal(err)
	}
	r, _ := ds.Open()
	slot := newSlot(ds.Spec()...)
	ctx := t.Context()
	allocs := testing.AllocsPerRun(100, func() {
		if err := r.Place(ctx, 1, slot); err != nil {
			t.Fatal(err)
		}
	})
	if allocs > 5 { // os.Open 3, its path 1, Stat 1
		t.Errorf("%v allocations per sample, want at most 5", allocs)
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
	var packed bytes.Buffer
	if err := dataset.WritePacked(t.Context(), &packed, ds); !errors.Is(err, bad) || packed.Len() != 8 {
		t.Errorf("got error %v after %d bytes, want %v after 8", err, packed.Len(), bad)
	}
	ragged := dataset.Func(1, dataset.Spec{wordsField}, nil)
	if err := dataset.WritePacked(t.Context(), &packed, ragged); err == nil {
		t.Error("a ragged field gives no error")
	}
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	if err := dataset.WriteItems(cancelled, t.TempDir(), pairs(t)); !errors.Is(err, context.Canceled) {
		t.Errorf("got error %v, want context.Canceled", err)
	}
	name := filepath.Join(t.TempDir(), "file")
	write(t, name, "")
	if err := dataset.WriteItems(t.Context(), name, pairs(t)); err == nil {
		t.Error("a file in the way of the folder gives no error")
	}
	r, w := io.Pipe()
	r.Close()
	if err := dataset.WritePacked(t.Context(), w, pairs(t)); !errors.Is(err, io.ErrClosedPipe) {
		t.Errorf("got error %v, want io.ErrClosedPipe", err)
	}
}
