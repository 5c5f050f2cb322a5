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
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"gorgonia.org/tensor"

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
		{Name: "image", Dtype: tensor.Uint8, Ragged: true},
		{Name: "label", Dtype: tensor.Int64},
		{Name: "score", Dtype: tensor.Float32},
		{Name: "box", Dtype: tensor.Float32, Shape: tensor.Shape{2, 2}},
		{Name: "tokens", Dtype: tensor.Int32, Ragged: true},
		{Name: "noise", Dtype: tensor.Uint64},
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
	if err := shards.WriteTar(t.Context(), dir+"/p-%03d.tar", ds, photoColumns, shards.Keys(key), shards.ShardSize(60<<10)); err != nil {
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
			t.Errorf("%s has %d bytes, more than ShardSize", name, len(data))
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

// TestInterruptedShardsAreContinued stops after any number of samples, and damages what a
// kill or a crash may damage.
func TestInterruptedShardsAreContinued(t *testing.T) {
	const n = 12
	options := []shards.TarOption{shards.ShardSize(20 << 10), shards.Source("photos")}
	ds := photosLike(n)
	whole := t.TempDir()
	if err := shards.WriteTar(t.Context(), whole+"/%d.tar", ds, photoColumns, options...); err != nil {
		t.Fatal(err)
	}
	want := folderBytes(t, whole)
	for stop := range n + 1 {
		for what, damage := range map[string]func(path string){
			"nothing else": func(string) {},
			"half a line":  func(path string) { shorten(t, path+".journal", 5) },
			"more in part": func(path string) { extend(t, path+".part", "not yet in the journal") },
			"less in part": func(path string) { shorten(t, path+".part", 100) },
			"a wrong byte in part": func(path string) {
				shorten(t, path+".part", 1)
				extend(t, path+".part", "!")
			},
			"no name yet": func(path string) { unname(t, path) },
			"a new journal that was not renamed": func(path string) {
				extend(t, path+".journal.new", "half")
			},
		} {
			dir := t.TempDir()
			path := dir + "/%d.tar"
			interrupted, cancel := context.WithCancel(t.Context())
			stopped := dataset.Func(n, ds.Spec(), func(ctx context.Context, i int, dst dataset.Slot) error {
				if i == stop {
					cancel()
					return interrupted.Err()
				}
				r, err := ds.Open()
				if err != nil {
					return err
				}
				return r.Place(ctx, i, dst)
			})
			err := shards.WriteTar(interrupted, path, stopped, photoColumns, options...)
			cancel()
			if stop < n {
				if !errors.Is(err, context.Canceled) {
					t.Fatal(err)
				}
				damage(path)
			} else if err != nil {
				t.Fatal(err)
			} else {
				continue
			}
			if err := shards.WriteTar(t.Context(), path, ds, photoColumns, options...); err != nil {
				t.Fatalf("stopped at %d, %s: %v", stop, what, err)
			}
			if folderBytes(t, dir) != want {
				t.Errorf("stopped at %d, %s: other bytes than without", stop, what)
			}
		}
	}
}

func shorten(t *testing.T, name string, bytes int64) {
	t.Helper()
	info, err := os.Stat(name)
	if err == nil {
		err = os.Truncate(name, max(0, info.Size()-bytes))
	}
	if err != nil {
		t.Fatal(err)
	}
}

func extend(t *testing.T, name, text string) {
	t.Helper()
	f, err := os.OpenFile(name, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o666)
	if err == nil {
		_, err = f.WriteString(text)
		err = errors.Join(err, f.Close())
	}
	if err != nil {
		t.Fatal(err)
	}
}

// unname takes the files back to where the last complete shard is in the journal, but still
// named .part.
func unname(t *testing.T, path string) {
	t.Helper()
	text, err := os.ReadFile(path + ".journal")
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.SplitAfter(string(text), "\n")
	kept := 1
	for kept < len(lines) && strings.Contains(lines[kept], " shard ") {
		kept++
	}
	if kept == 1 {
		return
	}
	name := strings.Replace(path, "%d", fmt.Sprint(kept-2), 1)
	err = errors.Join(os.Rename(name, path+".part"), os.WriteFile(path+".journal", []byte(strings.Join(lines[:kept], "")), 0o666))
	if err != nil {
		t.Fatal(err)
	}
}

// TestBatchesAreWrittenAsSamples writes what a loader with several workers makes.
func TestBatchesAreWrittenAsSamples(t *testing.T) {
	ds := photosLike(40)
	one, many := t.TempDir(), t.TempDir()
	if err := shards.WriteTar(t.Context(), one+"/%d.tar", ds, photoColumns, shards.ShardSize(50<<10)); err != nil {
		t.Fatal(err)
	}
	l, err := loader.New(ds, loader.Workers(3), loader.BatchSize(7))
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	w, err := shards.CreateTar(t.Context(), many+"/%d.tar", ds.Spec(), photoColumns, shards.ShardSize(50<<10))
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

func TestWrongShardsAreNotWritten(t *testing.T) {
	spec := dataset.Spec{
		{Name: "image", Dtype: tensor.Uint8, Ragged: true},
		{Name: "label", Dtype: tensor.Int64},
		{Name: "box", Dtype: tensor.Float32, Shape: tensor.Shape{2, 2}},
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
		"ShardSize(0)":                               create("%d.tar", []shards.TarOption{shards.ShardSize(0)}, label),
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

// TestOtherWorkIsNotContinued changes what the samples depend on.
func TestOtherWorkIsNotContinued(t *testing.T) {
	path := t.TempDir() + "/%d.tar"
	ds := photosLike(9)
	w, err := shards.CreateTar(t.Context(), path, ds.Spec(), photoColumns)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	for what, err := range map[string]error{
		"shard size": shards.WriteTar(t.Context(), path, ds, photoColumns, shards.ShardSize(1)),
		"source":     shards.WriteTar(t.Context(), path, ds, photoColumns, shards.Source("other")),
		"columns":    shards.WriteTar(t.Context(), path, ds, photoColumns[1:]),
	} {
		if err == nil || !strings.Contains(err.Error(), "its journal is that of another source") {
			t.Errorf("another %s: %v", what, err)
		}
	}
	if err := shards.WriteTar(t.Context(), path, ds, photoColumns); err != nil {
		t.Fatal(err)
	}
	if err := shards.WriteTar(t.Context(), path, ds, photoColumns); err == nil || !strings.Contains(err.Error(), "exists already, and there is no journal") {
		t.Errorf("shards that exist: %v", err)
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

// killedFolder is the environment variable that makes TestKilledWritersAreContinued write.
const killedFolder = "PENSTOCK_SHARDS_WRITE"

// TestKilledWritersAreContinued kills a process that writes shards, again and again.
func TestKilledWritersAreContinued(t *testing.T) {
	slow := func(delay time.Duration) dataset.Dataset {
		ds := photosLike(400)
		return dataset.Func(ds.Len(), ds.Spec(), func(ctx context.Context, i int, dst dataset.Slot) error {
			time.Sleep(delay)
			r, err := ds.Open()
			if err != nil {
				return err
			}
			return r.Place(ctx, i, dst)
		})
	}
	write := func(dir string, delay time.Duration) error {
		ds := slow(delay)
		w, err := shards.CreateTar(t.Context(), dir+"/%d.tar", ds.Spec(), photoColumns, shards.ShardSize(100<<10))
		if err != nil {
			return err
		}
		defer w.Close()
		l, err := loader.New(ds, loader.BatchSize(4), loader.Workers(1))
		if err != nil {
			return err
		}
		defer l.Close()
		from := l.Position(0)
		from.Draw = w.Next()
		for batch, err := range l.From(t.Context(), from, 1) {
			if err != nil {
				return err
			}
			if err := w.AppendBatch(batch.Indices(), batch); err != nil {
				return err
			}
		}
		return w.Finish()
	}
	if dir := os.Getenv(killedFolder); dir != "" {
		if err := write(dir, time.Millisecond); err != nil {
			t.Fatal(err)
		}
		return
	}
	whole, killed := t.TempDir(), t.TempDir()
	if err := write(whole, 0); err != nil {
		t.Fatal(err)
	}
	random := rand.New(rand.NewPCG(1, 2))
	kills := 0
	for {
		c := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestKilledWritersAreContinued$")
		c.Env = append(os.Environ(), killedFolder+"="+killed)
		var out bytes.Buffer
		c.Stdout, c.Stderr = &out, &out
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		delay := time.Duration(20+random.IntN(60)) * time.Millisecond
		if kills == 12 { // the last one may finish
			delay = time.Hour
		}
		after := time.AfterFunc(delay, func() { c.Process.Kill() })
		err := c.Wait()
		failed := after.Stop() // it ended by itself
		if err == nil {
			break
		}
		if kills++; failed {
			t.Fatalf("after %d kills: %v\n%s", kills, err, &out)
		}
	}
	if kills == 0 {
		t.Error("no process was killed")
	}
	if folderBytes(t, killed) != folderBytes(t, whole) {
		t.Errorf("other bytes after %d kills", kills)
	}
}
