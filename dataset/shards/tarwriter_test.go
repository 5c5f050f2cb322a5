package shards_test

import (
	"archive/tar"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/dataset/objects"
	"github.com/penstock-go/penstock/dataset/shards"
	"github.com/penstock-go/penstock/internal/datatest"
	"github.com/penstock-go/penstock/loader"
)

// photosLike has n samples with an encoded image of varying size, numbers and arrays. The
// noise is random.
func photosLike(n int) dataset.Dataset {
	spec := dataset.Spec{
		{Name: "image", Dtype: dataset.Uint8, Ragged: true},
		{Name: "label", Dtype: dataset.Int64},
		{Name: "score", Dtype: dataset.Float32},
		{Name: "box", Dtype: dataset.Float32, Shape: dataset.Shape{2, 2}},
		{Name: "tokens", Dtype: dataset.Int32, Ragged: true},
		{Name: "noise", Dtype: dataset.Uint64},
	}
	return dataset.Func(n, spec, func(_ context.Context, i int, dst dataset.Slot) error {
		image := dataset.Grow[uint8](dst, 0, i*37%1000)
		for k := range image {
			image[k] = byte(i + k)
		}
		dataset.Set(dst, 1, int64(i-5))
		dataset.Set(dst, 2, float32(i)/3)
		copy(dataset.Row[float32](dst, 3), []float32{float32(i), 2, 3, float32(math.Inf(1))})
		tokens := dataset.Grow[int32](dst, 4, i%4)
		for k := range tokens {
			tokens[k] = int32(-k)
		}
		dataset.Set(dst, 5, dst.Rand().Uint64())
		return nil
	})
}

var photoColumns = []shards.Column{
	{"image", "jpg"}, {"label", "cls"}, {"score", ".score"}, {"box", "box.npy"}, {"tokens", "npy"}, {"noise", "noise.npy"},
}

var photoFields = []shards.Field{
	shards.Bytes("image", "jpg"),
	shards.Scalar[int64]("label", "cls"),
	shards.Scalar[float32]("score", "score"),
	shards.Array[float32]("box", []int{2, 2}, "box.npy"),
	shards.Ragged[int32]("tokens", nil, "npy"),
	shards.Scalar[uint64]("noise", "noise.npy"),
}

func TestWrittenShardsHaveTheirSamples(t *testing.T) {
	dir := t.TempDir()
	ds := photosLike(50)
	key := func(i int) string { return fmt.Sprintf("folder/%s%d", strings.Repeat("long", i*3), i) }
	if err := shards.WriteTar(t.Context(), dir+"/p-%03d.tar", ds, photoColumns, shards.Keys(key), shards.MaxShardBytes(60<<10)); err != nil {
		t.Fatal(err)
	}
	names, err := filepath.Glob(dir + "/*")
	if err != nil || len(names) < 4 || filepath.Base(names[0]) != "p-000.tar" {
		t.Fatalf("files %q, %v, want several shards and nothing else", names, err)
	}
	n := 0
	for _, name := range names {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if len(data) > 60<<10 {
			t.Errorf("%s has %d bytes, more than MaxShardBytes", name, len(data))
		}
		r := tar.NewReader(bytes.NewReader(data))
		for ; err == nil; n++ {
			_, err = r.Next()
		}
		if n--; err != io.EOF {
			t.Errorf("%s: package archive/tar: %v", name, err)
		}
	}
	if want := ds.Len() * len(photoColumns); n != want {
		t.Errorf("%d files, want %d", n, want)
	}
	store := objects.Folder(dir)
	got := open(t, store, shards.WebDataset(), scan(t, store, shards.WebDataset(), 20<<10, "*.tar"), photoFields...)
	sameBytes(t, got, ds)
	r := datatest.Open(t, got)
	if err := r.Place(t.Context(), 7, newSlot(got)); err != nil {
		t.Fatal(err)
	}
	if name, want := got.Name(7), "p-000.tar/"+key(7); name != want {
		t.Errorf("name %q, want %q", name, want)
	}
}

// sameBytes compares all fields of all samples.
func sameBytes(t *testing.T, got, want dataset.Dataset) {
	t.Helper()
	if got.Len() != want.Len() {
		t.Fatalf("%d samples, want %d", got.Len(), want.Len())
	}
	r := datatest.Open(t, got)
	slot := newSlot(got)
	err := dataset.Each(t.Context(), want, func(i int, s dataset.Slot) error {
		if err := r.Place(t.Context(), i, slot); err != nil {
			return err
		}
		for k, f := range want.Spec() {
			if !bytes.Equal(slot.Cell(k).Bytes(), s.Cell(k).Bytes()) {
				t.Errorf("sample %d: other bytes in %s", i, f.Name)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// folderBytes are the contents of all files in a folder, by their names.
func folderBytes(t testing.TB, dir string) string {
	t.Helper()
	names, err := filepath.Glob(dir + "/*")
	if err != nil {
		t.Fatal(err)
	}
	var all strings.Builder
	for _, name := range names {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&all, "%s %d %s\n", filepath.Base(name), len(data), data)
	}
	return all.String()
}

// TestBatchesAreWrittenAsSamples writes what a loader with several workers makes.
func TestBatchesAreWrittenAsSamples(t *testing.T) {
	ds := photosLike(40)
	one, many := t.TempDir(), t.TempDir()
	if err := shards.WriteTar(t.Context(), one+"/%d.tar", ds, photoColumns, shards.MaxShardBytes(50<<10)); err != nil {
		t.Fatal(err)
	}
	l, err := loader.New(ds, loader.Workers(3), loader.BatchSize(7))
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	w, err := shards.CreateTar(t.Context(), many+"/%d.tar", ds.Spec(), photoColumns, shards.MaxShardBytes(50<<10))
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	for batch, err := range l.Epoch(t.Context(), 0) {
		if err != nil {
			t.Fatal(err)
		}
		if err := w.AppendBatch(batch.Indices(), batch); err != nil {
			t.Fatal(err)
		}
		if got, want := w.Next(), batch.Indices()[batch.Len()-1]+1; got != want {
			t.Errorf("next is %d, want %d", got, want)
		}
	}
	if err := w.Finish(); err != nil {
		t.Fatal(err)
	}
	if folderBytes(t, many) != folderBytes(t, one) {
		t.Error("other bytes than from WriteTar")
	}
}

func TestAShardWithoutItsNameIsNotComplete(t *testing.T) {
	dir := t.TempDir()
	one := dataset.Spec{{Name: "label", Dtype: dataset.Int64}}
	w, err := shards.CreateTar(t.Context(), dir+"/p-%03d.tar", one, []shards.Column{{"label", "cls"}}, shards.MaxShardBytes(1))
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	if err := os.MkdirAll(dir+"/p-000.tar/in-the-way", 0o755); err != nil {
		t.Fatal(err)
	}
	ds := dataset.Func(2, one, func(_ context.Context, i int, dst dataset.Slot) error {
		dataset.Set(dst, 0, int64(i))
		return nil
	})
	l, err := loader.New(ds, loader.BatchSize(2))
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	for b, err := range l.Epoch(t.Context(), 0) {
		if err != nil {
			t.Fatal(err)
		}
		if err := w.AppendBatch([]int{0, 1}, b); err == nil || !strings.Contains(err.Error(), "p-000.tar") {
			t.Errorf("got %v, want an error that names the shard", err)
		}
	}
	if w.Shards() != 0 {
		t.Errorf("%d shards are complete, want none", w.Shards())
	}
}

func TestWrongShardsAreNotWritten(t *testing.T) {
	spec := dataset.Spec{
		{Name: "image", Dtype: dataset.Uint8, Ragged: true},
		{Name: "label", Dtype: dataset.Int64},
		{Name: "box", Dtype: dataset.Float32, Shape: dataset.Shape{2, 2}},
	}
	create := func(path string, options []shards.TarOption, columns ...shards.Column) error {
		w, err := shards.CreateTar(t.Context(), filepath.Join(t.TempDir(), path), spec, columns, options...)
		if err == nil {
			err = w.Close()
		}
		return err
	}
	label := shards.Column{"label", "cls"}
	_, none := os.Stat(filepath.Join(t.TempDir(), "missing", "0.tar"))
	noFolder := none.(*fs.PathError).Err.Error()
	for want, err := range map[string]error{
		"want a path with the number":                create("a.tar", nil, label),
		"MaxShardBytes(0)":                           create("%d.tar", []shards.TarOption{shards.MaxShardBytes(0)}, label),
		"no columns":                                 create("%d.tar", nil),
		`column "x": no field "y"`:                   create("%d.tar", nil, shards.Column{"y", "x"}),
		`column "cls": it is there twice`:            create("%d.tar", nil, label, label),
		`column "CLS": want an extension in lower`:   create("%d.tar", nil, shards.Column{"label", "CLS"}),
		`column "box": field box float32 (2, 2): wa`: create("%d.tar", nil, shards.Column{"box", "box"}),
		noFolder: create("missing/%d.tar", nil, label),
	} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %s", err, want)
		}
	}

	ds := photosLike(3)
	for _, key := range []string{"", "a.b", "same", "__meta__/a", "a/"} {
		err := shards.WriteTar(t.Context(), t.TempDir()+"/%d.tar", ds, photoColumns, shards.Keys(func(int) string { return key }))
		if err == nil || !strings.Contains(err.Error(), fmt.Sprintf("key %q: want a path", key)) {
			t.Errorf("key %q: error %v", key, err)
		}
	}
}

// All these paths name the same file.
func TestShardsThatExistAreFoundByAnyPath(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := errors.Join(os.Mkdir("out", 0o777), os.WriteFile("out/p-1.tar", nil, 0o666)); err != nil {
		t.Fatal(err)
	}
	full, err := filepath.Abs("out")
	if err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{"out", "./out", "out/", "out/../out", filepath.FromSlash("./out"), full} {
		err := shards.WriteTar(t.Context(), dir+"/p-%d.tar", photosLike(3), photoColumns)
		if err == nil || !strings.Contains(err.Error(), "p-1.tar exists already") {
			t.Errorf("%s: error %v", dir, err)
		}
		if err := os.Remove("out/p-%d.tar.journal"); err != nil {
			t.Fatal(err)
		}
	}
}

// TestLaterShardsOfAnotherRunAreErrors leaves the second shard of an earlier run, and
// another program's files.
func TestLaterShardsOfAnotherRunAreErrors(t *testing.T) {
	dir := t.TempDir()
	path := dir + "/p-%03d.tar"
	ds := photosLike(9)
	for _, other := range []string{"p-001.tar", "p-2.tar", "p-a.tar", "q-002.tar"} {
		if err := os.WriteFile(filepath.Join(dir, other), []byte("old"), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	want := "p-001.tar exists already"
	if err := shards.WriteTar(t.Context(), path, ds, photoColumns); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("error %v, want %q", err, want)
	}
	if got, err := os.ReadFile(dir + "/p-001.tar"); err != nil || string(got) != "old" {
		t.Errorf("the old shard: %q, %v", got, err)
	}
	if err := os.Remove(dir + "/p-001.tar"); err != nil {
		t.Fatal(err)
	}
	if err := shards.WriteTar(t.Context(), path, ds, photoColumns); err != nil {
		t.Errorf("after it was removed: %v", err)
	}
}

// endless is a dataset of unknown length.
type endless struct{ dataset.Dataset }

func (endless) Len() int { return dataset.Unknown }

func TestADatasetOfUnknownLengthIsNotWritten(t *testing.T) {
	dir := t.TempDir()
	err := shards.WriteTar(t.Context(), filepath.Join(dir, "train-%d.tar"), endless{photosLike(3)}, []shards.Column{{Field: "image", Extension: "jpg"}})
	if err == nil || !strings.Contains(err.Error(), "the length of shards_test.endless is unknown") {
		t.Error(err)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("files were made: %v, error %v", left, err)
	}
}
