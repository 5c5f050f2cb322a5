package main

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/penstock-go/penstock/dataset"
)

const (
	photos  = "../images/photos" // 30 images, of which tiles/truncated.jpg is damaged
	damaged = "tiles/truncated.jpg"
)

// killedIn names the folder of the job in which a copy of the test program kills itself.
const killedIn = "CLUSTER_TEST_OUT"

func TestMain(m *testing.M) {
	if out := os.Getenv(killedIn); out != "" {
		panic(makeUntilKilled(small(out))) // it should have been killed
	}
	os.Exit(m.Run())
}

// makeUntilKilled makes shards until it kills the program in the middle of number 2.
func makeUntilKilled(j job) error {
	if _, err := j.prepare(); err != nil {
		return err
	}
	folder, err := dataset.ImageFolder(deadly{os.DirFS(photos)})
	for shard := 0; err == nil; shard++ {
		err = j.makeShard(context.Background(), folder, shard, 1)
	}
	return err
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
func small(out string) job {
	return job{In: photos, Out: out, Size: 28, PerShard: 4, Skip: true}
}

// oneMachine returns the files of the small job, made at once.
func oneMachine(t *testing.T) map[string][]byte {
	t.Helper()
	j := small(t.TempDir())
	if err := run(t.Context(), j, "", false); err != nil {
		t.Fatal(err)
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

func TestPartsMakeTheShardsOfOneMachine(t *testing.T) {
	want := oneMachine(t)
	j := small(t.TempDir())
	for _, part := range []string{"2/3", "0/3", "2/3"} { // the task 2 is started a second time
		if err := run(t.Context(), j, part, false); err != nil {
			t.Fatal(err)
		}
	}
	if err := run(t.Context(), j, "", true); err == nil || !strings.HasPrefix(err.Error(), "3 of 8 shards are missing, the first is 00001-of-00008.packed") {
		t.Errorf("check: error %v, want one about 3 missing shards", err)
	}
	for _, step := range []struct {
		part  string
		check bool
	}{{"1/3", false}, {"", true}} {
		if err := run(t.Context(), j, step.part, step.check); err != nil {
			t.Fatal(err)
		}
	}
	wantSame(t, filesOf(t, j.Out), want)
	for _, part := range []string{"3/3", "-1/3", "1", "1/3/2", "1/0"} {
		if err := run(t.Context(), j, part, false); err == nil {
			t.Errorf("-shards %q: no error", part)
		}
	}
}

func TestKilledProgramGoesOnToTheSameShards(t *testing.T) {
	want := oneMachine(t)
	j := small(t.TempDir())
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
	if err := run(t.Context(), j, "", false); err != nil {
		t.Fatal(err)
	}
	wantSame(t, filesOf(t, j.Out), want)
}

// What a worker leaves that is killed at some point, or that makes a shard once more.
func TestRepeatedWorkChangesNothing(t *testing.T) {
	want := oneMachine(t)
	j := small(t.TempDir())
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
	if err := run(t.Context(), j, "", false); err != nil {
		t.Fatal(err)
	}
	wantSame(t, filesOf(t, j.Out), want)
}
