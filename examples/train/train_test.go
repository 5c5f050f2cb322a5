package main

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/penstock-go/penstock/examples/train/shapes"
)

// With this variable in its environment, which holds a folder and a checkpoint,
// the test program is a run that kills itself after killStep.
const (
	killVariable = "PENSTOCK_TRAIN_KILL"
	killStep     = 7 // in the second epoch, one step after a checkpoint
)

func TestMain(m *testing.M) {
	paths := os.Getenv(killVariable)
	if paths == "" {
		os.Exit(m.Run())
	}
	dir, checkpoint, _ := strings.Cut(paths, string(os.PathListSeparator))
	t, err := newTrainer(tiny(checkpoint), dir)
	if err != nil {
		panic(err)
	}
	err = t.train(context.Background(), func(bool) {
		if t.Adam.Steps == killStep {
			self, _ := os.FindProcess(os.Getpid())
			self.Kill()
			select {}
		}
	})
	panic(err) // the run was not killed
}

const images = 70 // 56 for training: 6 steps, the last one short

func tiny(checkpoint string) options {
	return options{images: images, size: 16, workers: 2, batch: 10, epochs: 3, rate: 0.01, seed: 3,
		checkpoint: checkpoint, every: 3, poison: true}
}

func drawn(t testing.TB, n int) string {
	t.Helper()
	dir := t.TempDir()
	if err := shapes.Write(dir, n, 1); err != nil {
		t.Fatal(err)
	}
	return dir
}

// train makes a run and returns the bytes of its checkpoint.
func train(t testing.TB, o options, dir string) []byte {
	t.Helper()
	r, err := newTrainer(o, dir)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if err := r.train(t.Context(), func(bool) {}); err != nil {
		t.Fatal(err)
	}
	return read(t, o.checkpoint)
}

func read(t testing.TB, path string) []byte {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return content
}

func TestLossFallsAndAccuracyRisesAboveChance(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes seconds")
	}
	o := options{size: 16, workers: 2, batch: 10, epochs: 9, rate: 0.008, seed: 1,
		checkpoint: filepath.Join(t.TempDir(), "c"), every: 1000}
	r, err := newTrainer(o, drawn(t, 700))
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if err := r.train(t.Context(), func(bool) {}); err != nil {
		t.Fatal(err)
	}
	first, last := r.Epochs[0], r.Epochs[o.epochs-1]
	if last.ValidLoss > 0.75*first.ValidLoss || last.Loss > 0.75*first.Loss || last.Accuracy < 2.5/7 {
		t.Errorf("the first epoch is %+v, the last one %+v", first, last)
	}
}

func TestKilledRunEndsWithTheSameBytes(t *testing.T) {
	dir := drawn(t, images)
	want := train(t, tiny(filepath.Join(t.TempDir(), "c")), dir)

	o := tiny(filepath.Join(t.TempDir(), "killed"))
	child := exec.Command(os.Args[0])
	child.Env = append(os.Environ(), killVariable+"="+dir+string(os.PathListSeparator)+o.checkpoint)
	if out, err := child.CombinedOutput(); err == nil || strings.Contains(string(out), "panic") {
		t.Fatalf("the run was not killed: %v\n%s", err, out)
	}
	half := read(t, o.checkpoint)
	if bytes.Equal(half, want) {
		t.Fatal("the killed run was complete")
	}
	for _, workers := range []int{0, 1, 5} {
		o.workers = workers
		if err := os.WriteFile(o.checkpoint, half, 0o666); err != nil {
			t.Fatal(err)
		}
		if got := train(t, o, dir); !bytes.Equal(got, want) {
			t.Errorf("%d workers: the checkpoint differs from that of the run that was not killed", workers)
		}
	}
}

func TestMoreEpochsAreThoseOfALongerRun(t *testing.T) {
	dir := drawn(t, images)
	want := train(t, tiny(filepath.Join(t.TempDir(), "c")), dir)
	o := tiny(filepath.Join(t.TempDir(), "c"))
	o.epochs = 1
	train(t, o, dir)
	o.epochs = 3
	if got := train(t, o, dir); !bytes.Equal(got, want) {
		t.Error("1 and 2 epochs differ from 3")
	}
	o.epochs = 2 // fewer than were made
	if got := train(t, o, dir); !bytes.Equal(got, want) {
		t.Error("a run of fewer epochs changed the checkpoint")
	}
}

func TestWrongCheckpointIsAnErrorAndStays(t *testing.T) {
	dir := drawn(t, images)
	o := tiny(filepath.Join(t.TempDir(), "run.checkpoint"))
	o.epochs = 1
	good := train(t, o, dir)
	same := func(*options) {}
	for name, test := range map[string]struct {
		content []byte
		change  func(*options)
		says    string
	}{
		"cut short": {good[:len(good)-10], same, "unexpected EOF"},
		"empty":     {nil, same, "EOF"},
		"batch":     {good, func(o *options) { o.batch = 5 }, "Batch:5"},
		"size":      {good, func(o *options) { o.size = 24 }, "Size:24"},
		"lr":        {good, func(o *options) { o.rate = 1 }, "Rate:1"},
		"seed":      {good, func(o *options) { o.seed = 9 }, "Seed:9"},
	} {
		t.Run(name, func(t *testing.T) {
			o := o
			if err := os.WriteFile(o.checkpoint, test.content, 0o666); err != nil {
				t.Fatal(err)
			}
			test.change(&o)
			r, err := newTrainer(o, dir)
			if err == nil {
				r.Close()
				t.Fatal("no error")
			}
			for _, says := range []string{"run.checkpoint", test.says, "-fresh starts a new run"} {
				if !strings.Contains(err.Error(), says) {
					t.Errorf("%v\ndoes not say %s", err, says)
				}
			}
			if !bytes.Equal(read(t, o.checkpoint), test.content) {
				t.Error("the file has changed")
			}
		})
	}
	o.fresh = true
	if got := train(t, o, dir); !bytes.Equal(got, good) {
		t.Error("a fresh run differs from the first one")
	}
}
