package main

import (
	"bytes"
	"flag"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/loader"
)

func TestACompleteRunHasNothingLeftToDo(t *testing.T) {
	o := tiny(filepath.Join(t.TempDir(), "c"))
	o.dir = drawn(t, images)
	var saved []byte
	for again := range 2 {
		epochs, err := run(t.Context(), o)
		if err != nil || epochs != 3 {
			t.Fatalf("%d epochs, %v", epochs, err)
		}
		now, err := os.ReadFile(o.checkpoint)
		if err != nil || again > 0 && !bytes.Equal(now, saved) {
			t.Errorf("%v, or the second run has changed the checkpoint", err)
		}
		saved = now
	}
}

func TestWrongOptionsAreReportedTogether(t *testing.T) {
	_, err := run(t.Context(), options{workers: -1})
	if err == nil {
		t.Fatal("no error")
	}
	for _, says := range []string{"-size 0: want 8 to 1024", "-lr 0"} {
		if !strings.Contains(err.Error(), says) {
			t.Errorf("%v\ndoes not say %s", err, says)
		}
	}
}

func TestWrongFoldersAndFilesAreReportedBeforeTheFirstStep(t *testing.T) {
	dir, one := drawn(t, images), t.TempDir()
	if err := os.CopyFS(filepath.Join(one, "star"), os.DirFS(filepath.Join(dir, "star"))); err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct {
		change func(*options)
		says   string
	}{
		"rate":       {func(o *options) { o.rate = math.Inf(1) }, "-lr +Inf: want"},
		"batch":      {func(o *options) { o.batch = 57 }, "-batch 57: there are only 56 training images"},
		"empty":      {func(o *options) { o.dir = t.TempDir() }, "no class"},
		"one class":  {func(o *options) { o.dir = one }, one + ": only one class, [star]"},
		"no folder":  {func(o *options) { o.checkpoint = filepath.Join(one, "absent", "c") }, "write checkpoint"},
		"a folder":   {func(o *options) { o.checkpoint, o.fresh = one, true }, "write checkpoint"},
		"not a file": {func(o *options) { o.checkpoint = one }, "-fresh starts a new run"},
	} {
		o := tiny(filepath.Join(t.TempDir(), "c"))
		o.dir, o.every = dir, 1000
		test.change(&o)
		r, err := newTrainer(o, o.dir)
		if err == nil {
			err = o.validate()
		}
		if err == nil {
			err = r.train(t.Context(), func(*loader.Batch, float32) { t.Errorf("%s: a step was made", name) }, func() {})
		}
		if r != nil {
			r.Close()
		}
		if err == nil || !strings.Contains(err.Error(), test.says) {
			t.Errorf("%s: got %v, want %s", name, err, test.says)
		}
	}
}

func TestTheCommandToResumeLeavesFreshOut(t *testing.T) {
	flags := flag.NewFlagSet("", flag.ContinueOnError)
	flags.Int("epochs", 1, "")
	flags.Int("batch", 1, "")
	flags.Bool("fresh", false, "")
	flags.String("dir", "", "")
	if err := flags.Parse([]string{"-fresh", "-epochs", "5", "-batch", "7", "-dir", "it's"}); err != nil {
		t.Fatal(err)
	}
	if got, want := again(flags), "go run ./examples/train -batch 7 -dir 'it'\\''s' -epochs 5"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if got, want := again(flags, "epochs"), "go run ./examples/train -batch 7 -dir 'it'\\''s'"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestTargetsAreTheLabelsAndTheSplitSharesNoImage(t *testing.T) {
	d, err := openData(drawn(t, images), 16, 1)
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for _, ds := range []dataset.Dataset{d.train, d.valid} {
		for i := range ds.Len() {
			name := dataset.Name(ds, i)
			if seen[name] {
				t.Errorf("%s is in both datasets", name)
			}
			seen[name] = true
			sample, err := dataset.At(t.Context(), ds, i)
			if err != nil {
				t.Fatal(err)
			}
			label := dataset.ValuesOf[int64](sample["label"])[0]
			for class, v := range dataset.ValuesOf[float32](sample["target"]) {
				if want := class == int(label); (v == 1) != want || v != 0 && v != 1 {
					t.Errorf("%s of class %d: target %d is %v", name, label, class, v)
				}
			}
		}
	}
	if len(seen) != images {
		t.Errorf("%d images, want %d", len(seen), images)
	}
}
