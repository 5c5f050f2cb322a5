package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"io/fs"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	beamlog "github.com/apache/beam/sdks/v2/go/pkg/beam/log"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/dataset/objects"
	"github.com/penstock-go/penstock/dataset/packed"
	"github.com/penstock-go/penstock/dataset/shards"
)

const (
	photos  = "../images/photos" // 30 images, of which tiles/truncated.jpg is damaged
	damaged = "tiles/truncated.jpg"
)

// killedIn names the folder of the job in which a copy of the test program kills itself.
const killedIn = "CLUSTER_TEST_OUT"

func TestMain(m *testing.M) {
	if os.Getenv(asProgram) != "" {
		main()
		return
	}
	flag.Parse()
	registerFunctions()
	beamlog.LogLevel = "warn"
	beam.Init()
	if out := os.Getenv(killedIn); out != "" {
		panic(makeUntilKilled(small("packed", out))) // it should have been killed
	}
	os.Exit(m.Run())
}

// makeUntilKilled makes shards until it kills the program in the middle of number 2.
func makeUntilKilled(j job) error {
	if _, err := j.prepare(); err != nil {
		return err
	}
	folder, err := dataset.ImageFolder(deadly{os.DirFS(photos)})
	if err != nil {
		return err
	}
	return j.makePart(context.Background(), folder, "0/1")
}

// deadly kills the program that opens an image of shard 2.
type deadly struct{ fs.FS }

func (f deadly) Open(name string) (fs.File, error) {
	if name == "spheres/2.jpg" {
		self, err := os.FindProcess(os.Getpid())
		if err == nil {
			err = self.Kill()
		}
		if err != nil {
			panic(err)
		}
		select {}
	}
	return f.FS.Open(name)
}

// small is a job of eight shards.
func small(format, out string) job {
	return job{In: photos, Out: out, Format: format, Size: 28, PerShard: 4, Skip: true}
}

// oneMachine returns the files of the small job, made without Beam.
func oneMachine(t *testing.T, format string) map[string][]byte {
	t.Helper()
	j := small(format, t.TempDir())
	for _, check := range []bool{false, true} {
		part := "0/1"
		if check {
			part = ""
		}
		if err := run(t.Context(), j, part, check, 0); err != nil {
			t.Fatal(err)
		}
	}
	files := filesOf(t, j.Out)
	if len(files) != 8+8+1 {
		t.Fatalf("%d files, want 8 shards, 8 records and the manifest", len(files))
	}
	return files
}

// filesOf reads the files of a folder, which has no folders.
func filesOf(t *testing.T, dir string) map[string][]byte {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	files := map[string][]byte{}
	for _, e := range entries {
		if files[e.Name()], err = os.ReadFile(filepath.Join(dir, e.Name())); err != nil {
			t.Fatal(err)
		}
	}
	return files
}

func wantSame(t *testing.T, got, want map[string][]byte) {
	t.Helper()
	for name := range want {
		if data, ok := got[name]; !ok || !bytes.Equal(data, want[name]) {
			t.Errorf("%s: %d bytes, there: %t; want the %d of one machine", name, len(data), ok, len(want[name]))
		}
	}
	if len(got) != len(want) {
		t.Errorf("%d files, want %d", len(got), len(want))
	}
}

func TestPrismMakesTheShardsOfOneMachine(t *testing.T) {
	for _, format := range []string{"packed", "tar"} {
		want := oneMachine(t, format)
		for _, bundles := range []int{1, 3, 8} {
			j := small(format, t.TempDir())
			if err := run(t.Context(), j, "", false, bundles); err != nil {
				t.Fatalf("%s, %d bundles: %v", format, bundles, err)
			}
			wantSame(t, filesOf(t, j.Out), want)
		}
	}
}

func TestPartsMakeTheShardsOfOneMachine(t *testing.T) {
	want := oneMachine(t, "tar")
	j := small("tar", t.TempDir())
	for _, part := range []string{"2/3", "0/3", "2/3"} { // the task 2 is started a second time
		if err := run(t.Context(), j, part, false, 0); err != nil {
			t.Fatal(err)
		}
	}
	if err := run(t.Context(), j, "", true, 0); err == nil || !strings.HasPrefix(err.Error(), "3 of 8 shards are missing, the first is 00001-of-00008.tar") {
		t.Errorf("check: error %v, want one about 3 missing shards", err)
	}
	for _, step := range []struct {
		part  string
		check bool
	}{{"1/3", false}, {"", true}} {
		if err := run(t.Context(), j, step.part, step.check, 0); err != nil {
			t.Fatal(err)
		}
	}
	wantSame(t, filesOf(t, j.Out), want)
	for _, part := range []string{"3/3", "-1/3", "1", "1/3/2", "1/0", ""} {
		if err := j.makePart(t.Context(), nil, part); err == nil {
			t.Errorf("-shards %q: no error", part)
		}
	}
}

func TestKilledProgramGoesOnToTheSameShards(t *testing.T) {
	want := oneMachine(t, "packed")
	j := small("packed", t.TempDir())
	child := exec.Command(os.Args[0])
	child.Env = append(os.Environ(), killedIn+"="+j.Out)
	if out, err := child.CombinedOutput(); err == nil || len(out) > 0 {
		t.Fatalf("the program was not killed: %v, %s", err, out)
	}
	left, err := filepath.Glob(filepath.Join(j.Out, "[0-9]*"))
	if err != nil || len(left) != 4 {
		t.Errorf("a killed program left %v, %v; want two shards and their records", left, err)
	}
	half, err := filepath.Glob(filepath.Join(j.Out, ".00002-of-00008.packed-*", "0.packed.part"))
	if err != nil || len(half) != 1 {
		t.Errorf("a killed program left %v, %v; want one half shard", half, err)
	}
	if err := run(t.Context(), j, "", false, 8); err != nil {
		t.Fatal(err)
	}
	wantSame(t, filesOf(t, j.Out), want)
}

// What a worker leaves that is killed at some point, or that makes a shard once more.
func TestRepeatedWorkChangesNothing(t *testing.T) {
	want := oneMachine(t, "packed")
	j := small("packed", t.TempDir())
	folder, err := j.prepare()
	if err != nil {
		t.Fatal(err)
	}
	copies := make(chan error)
	for range 4 {
		go func() { copies <- j.makeShard(t.Context(), folder, 5, 1) }()
	}
	for range 4 {
		if err := <-copies; err != nil {
			t.Error(err)
		}
	}
	half := j.path("." + j.name(2) + "-123")
	steps := []error{
		os.Mkdir(half, 0o700),
		os.WriteFile(filepath.Join(half, "0.packed.part"), []byte("half"), 0o666),
		os.WriteFile(j.path(j.name(2)), []byte("without a record"), 0o666),
		j.makeShard(t.Context(), folder, 3, 1),
		os.Remove(j.path(j.name(3))), // its record stays
		os.WriteFile(j.path("."+manifestName), []byte("half"), 0o666),
	}
	if err := errors.Join(steps...); err != nil {
		t.Fatal(err)
	}
	if err := run(t.Context(), j, "", false, 2); err != nil {
		t.Fatal(err)
	}
	wantSame(t, filesOf(t, j.Out), want)
}

func TestOtherJobIsRefused(t *testing.T) {
	j := small("packed", t.TempDir())
	folder, err := j.prepare()
	if err != nil {
		t.Fatal(err)
	}
	if err := j.makeShard(t.Context(), folder, 0, 0); err != nil {
		t.Fatal(err)
	}
	refused := func(name, want string, err error) {
		t.Helper()
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, want one with %q", name, err, want)
		}
	}
	other := small("packed", j.Out)
	other.Size = 30
	refused("another size", "is of a job with other images or flags", run(t.Context(), other, "0/1", false, 0))
	other = small("packed", j.Out)
	other.Skip = false
	refused("damaged images not left out", "is of a job with other images or flags", run(t.Context(), other, "0/1", false, 0))
	if err := run(t.Context(), j, "0/1", false, 0); err != nil {
		t.Fatal(err)
	}
	other = small("packed", j.Out)
	other.PerShard = 10
	if err := run(t.Context(), other, "0/1", false, 0); err != nil {
		t.Fatal(err)
	}
	refused("shards of another number", "00000-of-00008.json is not of this job", run(t.Context(), other, "", true, 0))

	j.In = "../images" // as on a worker that sees another folder
	if _, err := j.open(); err == nil {
		t.Error("a worker with other images: no error")
	}
	for _, flags := range []job{
		{In: photos},
		{Out: j.Out},
	} {
		if _, err := flags.prepare(); err == nil {
			t.Errorf("%+v: no error", flags)
		}
	}
}

func TestEveryImageIsInOneShard(t *testing.T) {
	for _, perShard := range []int{1, 4, 29, 30, 31, math.MaxInt} {
		j := job{Images: 30, PerShard: perShard}
		next := 0
		for shard := range j.shards() {
			first, end := j.bounds(shard)
			if first != next || end <= first {
				t.Errorf("%d per shard: shard %d has %d up to %d, want the first to be %d", perShard, shard, first, end, next)
			}
			next = end
		}
		if next != j.Images {
			t.Errorf("%d per shard: %d images are in shards, want %d", perShard, next, j.Images)
		}
	}
}

func TestTruncatedShardIsNoticed(t *testing.T) {
	j := small("packed", t.TempDir())
	if err := run(t.Context(), j, "0/1", false, 0); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(filepath.Join(j.Out, "00004-of-00008.packed"), 100); err != nil {
		t.Fatal(err)
	}
	if err := run(t.Context(), j, "", true, 0); err == nil || !strings.Contains(err.Error(), "00004-of-00008.packed has 100 bytes, want") {
		t.Errorf("check: error %v, want one about 00004-of-00008.packed", err)
	}
}

func TestDamagedImageStopsTheWorkUnlessSkipped(t *testing.T) {
	for _, part := range []string{"", "0/1"} {
		j := small("tar", t.TempDir())
		j.Skip = false
		if err := run(t.Context(), j, part, false, 2); err == nil || !strings.Contains(err.Error(), damaged) {
			t.Errorf("-shards %q: error %v, want one about %s", part, err, damaged)
		}
		if _, err := os.Stat(filepath.Join(j.Out, "00007-of-00008.tar")); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("-shards %q: the shard of %s is there: %v", part, damaged, err)
		}
	}
	j := small("tar", t.TempDir())
	folder, err := j.prepare()
	if err != nil {
		t.Fatal(err)
	}
	if err := j.makeShard(t.Context(), folder, 7, 2); err != nil {
		t.Fatal(err)
	}
	r, err := j.readRecord(7)
	if err != nil || r.Samples != 1 || len(r.Skipped) != 1 || r.Skipped[0].Image != damaged || !strings.HasSuffix(r.Skipped[0].Reason, "unexpected EOF") {
		t.Errorf("record %+v, %v; want one sample, and %s left out", r, err, damaged)
	}
}

func TestShardsHaveThePixelsOfTheImages(t *testing.T) {
	loads := map[string]func(j job) (dataset.Dataset, error){
		"packed": func(j job) (dataset.Dataset, error) { return openPacked(j.Out) },
		"tar": func(j job) (dataset.Dataset, error) {
			store := objects.Folder(j.Out)
			index, err := shards.Scan(t.Context(), store, shards.WebDataset(), []string{"*.tar"})
			if err != nil {
				return nil, err
			}
			return shards.Open(store, index, []shards.Field{shards.Array[uint8]("image", []int{3, 28, 28}, "npy"), shards.Scalar[int64]("label", "cls")})
		},
	}
	for format, load := range loads {
		j := small(format, t.TempDir())
		if err := run(t.Context(), j, "", false, 3); err != nil {
			t.Fatal(err)
		}
		got, err := load(j)
		if err != nil {
			t.Fatal(err)
		}
		folder, err := j.prepare()
		if err != nil {
			t.Fatal(err)
		}
		want, err := j.samples(folder)
		if err != nil {
			t.Fatal(err)
		}
		if got.Len() != 29 {
			t.Fatalf("%s: %d samples, want 29", format, got.Len())
		}
		for i := range got.Len() { // the damaged image is the last one
			g, err := dataset.At(t.Context(), got, i)
			if err != nil {
				t.Fatal(err)
			}
			w, err := dataset.At(t.Context(), want, i)
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(g["image"].Data().([]uint8), w["image"].Data().([]uint8)) || g["label"].Data() != w["label"].Data() {
				t.Errorf("%s: sample %d differs from %s", format, i, folder.Path(i))
			}
		}
	}
}

// openPacked opens all packed shards of a folder as one dataset.
func openPacked(dir string) (dataset.Dataset, error) {
	fsys := os.DirFS(dir)
	names, err := fs.Glob(fsys, "*.packed")
	if err != nil {
		return nil, err
	}
	var all []dataset.Dataset
	for _, name := range names { // sorted, so in the order of the images
		file, err := packed.Open(fsys, name)
		if err != nil {
			return nil, err
		}
		all = append(all, file)
	}
	return dataset.Concat(all...)
}
