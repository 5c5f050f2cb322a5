package parquet_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/dataset/objects"
	"github.com/penstock-go/penstock/dataset/shards"
	"github.com/penstock-go/penstock/dataset/shards/parquet"
	"github.com/penstock-go/penstock/internal/datatest"
	"github.com/penstock-go/penstock/loader"
)

// photosLike has n samples with an encoded image of varying size, numbers and lists.
func photosLike(n, size int) dataset.Dataset {
	spec := dataset.Spec{
		{Name: "image", Dtype: dataset.Uint8, Ragged: true},
		{Name: "mask", Dtype: dataset.Uint8, Ragged: true},
		{Name: "label", Dtype: dataset.Int32},
		{Name: "text", Dtype: dataset.Uint8, Ragged: true},
		{Name: "box", Dtype: dataset.Float32, Shape: dataset.Shape{2, 2, 3}},
		{Name: "tokens", Dtype: dataset.Uint16, Ragged: true},
		{Name: "points", Dtype: dataset.Float64, Shape: dataset.Shape{2}, Ragged: true},
		{Name: "noise", Dtype: dataset.Uint64},
		{Name: "small", Dtype: dataset.Int8},
		{Name: "flag", Dtype: dataset.Bool},
	}
	return dataset.Func(n, spec, func(_ context.Context, i int, dst dataset.Slot) error {
		for f := range 2 {
			image := dataset.Grow[uint8](dst, f, i*37%size+size)
			for k := range image {
				image[k] = byte(i*(f+3) + k*k)
			}
		}
		dataset.Set(dst, 2, int32(i%3))
		text := fmt.Sprintf("sample %d: żółw", i)
		copy(dataset.Grow[uint8](dst, 3, len(text)), text)
		for k := range dataset.Row[float32](dst, 4) {
			dataset.Row[float32](dst, 4)[k] = float32(i) / float32(k+1)
		}
		tokens := dataset.Grow[uint16](dst, 5, i%4)
		for k := range tokens {
			tokens[k] = uint16(65535 - i - k)
		}
		points := dataset.Grow[float64](dst, 6, i%3)
		for k := range points {
			points[k] = float64(i - k)
		}
		dataset.Set(dst, 7, dst.Rand().Uint64())
		dataset.Set(dst, 8, int8(-i))
		dataset.Set(dst, 9, i%2 == 0)
		return nil
	})
}

var photoColumns = []parquet.Column{
	parquet.Image("image", "image"), parquet.Binary("mask", "mask"), parquet.ClassLabel("label", "label", []string{"a", "b", "c"}),
	parquet.Text("text", "text"), parquet.Numbers("box", "box"), parquet.Numbers("tokens", "tokens"), parquet.Numbers("points", "points"),
	parquet.Numbers("noise", "noise"), parquet.Numbers("small", "small"), parquet.Numbers("flag", "flag"),
}

var photoFields = []shards.Field{
	shards.Bytes("image", "image"), shards.Bytes("mask", "mask"), shards.Scalar[int32]("label", "label"), shards.Bytes("text", "text"),
	shards.Array[float32]("box", []int{2, 2, 3}, "box"), shards.Ragged[uint16]("tokens", nil, "tokens"), shards.Ragged[float64]("points", []int{2}, "points"),
	shards.Scalar[uint64]("noise", "noise"), shards.Scalar[int8]("small", "small"), shards.Scalar[bool]("flag", "flag"),
}

func pathOf(i int) string { return fmt.Sprintf("photos/%04d.jpg", i) }

// readFolder is a folder of shards in order.
func readFolder(t testing.TB, dir string) *shards.Dataset {
	t.Helper()
	store := objects.Folder(dir)
	return open(t, store, scan(t, store, parquet.Format(), 8<<20, "*.parquet"), photoFields...)
}

func TestWrittenSamplesComeBack(t *testing.T) {
	dir := t.TempDir()
	ds := photosLike(50, 500)
	if err := parquet.Write(t.Context(), dir+"/train-%05d.parquet", ds, photoColumns, parquet.MaxShardBytes(20<<10), parquet.Paths(pathOf)); err != nil {
		t.Fatal(err)
	}
	names, err := filepath.Glob(dir + "/*")
	if err != nil || len(names) < 3 || filepath.Base(names[0]) != "train-00000.parquet" {
		t.Fatalf("files %q, %v, want several shards and nothing else", names, err)
	}
	got := readFolder(t, dir)
	if got.Len() != ds.Len() {
		t.Fatalf("%d samples, want %d", got.Len(), ds.Len())
	}
	want, have := newSlot(ds), newSlot(got)
	from, r := datatest.Open(t, ds), datatest.Open(t, got)
	for i := range ds.Len() {
		if i%3 == 0 { // no inner list says how long they are
			continue
		}
		if err := errors.Join(from.Place(t.Context(), i, want), r.Place(t.Context(), i, have)); err != nil {
			t.Fatal(err)
		}
		for k, f := range ds.Spec() {
			if f.Name != "noise" && !bytes.Equal(have.Cell(k).Bytes(), want.Cell(k).Bytes()) {
				t.Errorf("sample %d: %s %v, want %v", i, f.Name, have.Cell(k).Bytes(), want.Cell(k).Bytes())
			}
		}
	}
	if name := got.Name(49); !strings.HasSuffix(name, ".parquet/0049.jpg") {
		t.Errorf("sample 49 is named %q", name)
	}
	store := objects.Folder(dir)
	if got := parquet.Classes(scan(t, store, parquet.Format(), 1, "*.parquet"), "label"); !slices.Equal(got, []string{"a", "b", "c"}) {
		t.Errorf("classes %q", got)
	}
}

// TestInterruptedShardsHaveTheSameBytes stops a Writer after every few samples, by closing
// it and without, and cuts its files.
func TestInterruptedShardsHaveTheSameBytes(t *testing.T) {
	whole, parts := t.TempDir(), t.TempDir()
	ds := photosLike(40, 300)
	limit := parquet.MaxShardBytes(8 << 10)
	if err := parquet.Write(t.Context(), whole+"/%d.parquet", ds, photoColumns, limit, parquet.Paths(pathOf)); err != nil {
		t.Fatal(err)
	}
	path := parts + "/%d.parquet"
	l, err := loader.New(ds, loader.BatchSize(3), loader.Workers(2))
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	done := false
	for round := 0; !done; round++ {
		w, err := parquet.Create(t.Context(), path, ds.Spec(), photoColumns, limit, parquet.Paths(pathOf))
		if err != nil {
			t.Fatal(err)
		}
		from := l.Position(0)
		from.Draw = w.Next()
		batches := 0
		for b, err := range l.From(t.Context(), from, 1) {
			if err != nil {
				t.Fatal(err)
			}
			if err := w.AppendBatch(b.Indices(), b); err != nil {
				t.Fatal(err)
			}
			if batches++; batches == 2 {
				break
			}
		}
		if w.Next() == ds.Len() {
			if err := w.Finish(); err != nil {
				t.Fatal(err)
			}
			done = true
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		if round%3 == 1 && !done { // as after a kill in the middle of a write
			part, err := os.OpenFile(path+".part", os.O_APPEND|os.O_WRONLY, 0)
			if err != nil {
				t.Fatal(err)
			}
			_, err = part.WriteString("half a sample")
			if err := errors.Join(err, part.Close(), os.WriteFile(path+".shard", []byte("half a shard"), 0o666)); err != nil {
				t.Fatal(err)
			}
		}
	}
	want, err := filepath.Glob(whole + "/*")
	got, err2 := filepath.Glob(parts + "/*")
	if err := errors.Join(err, err2); err != nil || len(got) != len(want) || len(want) < 3 {
		t.Fatalf("files %q, want as in %q, %v", got, want, err)
	}
	for _, name := range want {
		a, err := os.ReadFile(name)
		b, err2 := os.ReadFile(filepath.Join(parts, filepath.Base(name)))
		if err := errors.Join(err, err2); err != nil || !bytes.Equal(a, b) {
			t.Errorf("%s has other bytes after interruptions, %v", filepath.Base(name), err)
		}
	}
}

// TestANamelessShardIsNamed has the state after a kill between the journal and the name.
func TestANamelessShardIsNamed(t *testing.T) {
	dir := t.TempDir()
	path := dir + "/%d.parquet"
	ds := photosLike(40, 300)
	limit := parquet.MaxShardBytes(8 << 10)
	w, err := parquet.Create(t.Context(), path, ds.Spec(), photoColumns, limit)
	if err != nil {
		t.Fatal(err)
	}
	l, err := loader.New(ds, loader.BatchSize(4))
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	for b, err := range l.Epoch(t.Context(), 0) {
		if err != nil {
			t.Fatal(err)
		}
		if err := w.AppendBatch(b.Indices(), b); err != nil {
			t.Fatal(err)
		}
		if w.Shards() == 2 {
			break
		}
	}
	if err := errors.Join(w.Close(), os.Rename(dir+"/1.parquet", path+".shard")); err != nil {
		t.Fatal(err)
	}
	if err := parquet.Write(t.Context(), path, ds, photoColumns, limit); err != nil {
		t.Fatal(err)
	}
	if got := readFolder(t, dir); got.Len() != ds.Len() {
		t.Errorf("%d samples, want %d", got.Len(), ds.Len())
	}
}

func TestWrongColumnsAreErrors(t *testing.T) {
	spec := dataset.Spec{{Name: "h", Dtype: dataset.Float16}, {Name: "f", Dtype: dataset.Float32}, {Name: "u", Dtype: dataset.Uint8, Ragged: true}}
	_, err := parquet.Create(t.Context(), t.TempDir()+"/%d.parquet", spec, []parquet.Column{
		parquet.Numbers("h", "h"), parquet.ClassLabel("f", "label", nil), parquet.Image("f", "image"), parquet.Text("u", "x"), parquet.Text("u", "x"),
		parquet.Binary("missing", "m"), {},
	})
	for _, want := range []string{"numbers of float16", "want one integer", "want a ragged field of uint8", `column "x": want a name that no other column has`, `no field "missing"`, `no field ""`} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
	}
	if _, err := parquet.Create(t.Context(), t.TempDir()+"/a.parquet", spec, []parquet.Column{parquet.Text("u", "x")}); err == nil {
		t.Error("no error for a path without a number")
	}
}

// TestHuggingFaceReadsWrittenShards loads the shards with datasets.
func TestHuggingFaceReadsWrittenShards(t *testing.T) {
	python := os.Getenv(peersPython)
	if python == "" {
		t.Skipf("%s names no Python that has datasets: see testdata/peers.py", peersPython)
	}
	dir := t.TempDir()
	if err := parquet.Write(t.Context(), dir+"/train-%05d.parquet", photosLike(20, 100), photoColumns, parquet.MaxShardBytes(4<<10), parquet.Paths(pathOf)); err != nil {
		t.Fatal(err)
	}
	script := `
import sys, datasets
datasets.disable_progress_bars()
ds = datasets.load_dataset(sys.argv[1], split="train", cache_dir=sys.argv[1] + "/cache").cast_column("image", datasets.Image(decode=False))
print(len(ds), ds.features["label"].names, ds.features["image"], ds.features["box"])
s = ds[5]
print(s["image"]["path"], len(s["image"]["bytes"]), len(s["mask"]), s["label"], s["text"], s["tokens"], s["points"], s["small"], s["flag"], s["box"][1][1])
print(ds[0]["tokens"], ds[0]["points"])
`
	out, err := exec.CommandContext(t.Context(), python, "-c", script, dir).CombinedOutput()
	want := `20 ['a', 'b', 'c'] Image(mode=None, decode=False) List(List(List(Value('float32'))))
photos/0005.jpg 185 185 2 sample 5: żółw [65530] [[5.0, 4.0], [3.0, 2.0]] -5 False [0.5, 0.4545454680919647, 0.4166666567325592]
[] []`
	if err != nil || strings.TrimSpace(string(out)) != want {
		t.Errorf("%v: %s\nwant %s", err, out, want)
	}
}

// endless is a dataset of unknown length.
type endless struct{ dataset.Dataset }

func (endless) Len() int { return dataset.Unknown }

func TestANilDatasetIsNotWritten(t *testing.T) {
	err := parquet.Write(t.Context(), "train-%d.parquet", nil, nil)
	if want := "parquet: write train-%d.parquet: the dataset is nil"; fmt.Sprint(err) != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

func TestADatasetOfUnknownLengthIsNotWritten(t *testing.T) {
	dir := t.TempDir()
	err := parquet.Write(t.Context(), filepath.Join(dir, "train-%d.parquet"), endless{photosLike(3, 10)}, []parquet.Column{parquet.Image("image", "image")})
	if err == nil || !strings.Contains(err.Error(), "the length of parquet_test.endless is unknown") {
		t.Error(err)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("files were made: %v, error %v", left, err)
	}
}
