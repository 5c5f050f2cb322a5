package main

import (
	"bytes"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/penstock-go/penstock/dataset"
)

func TestACompleteRunHasNothingLeftToDo(t *testing.T) {
	o := tiny(filepath.Join(t.TempDir(), "c"))
	o.dir = drawn(t, images)
	var saved []byte
	for again := range 2 {
		if err := run(t.Context(), o); err != nil {
			t.Fatal(err)
		}
		now, err := os.ReadFile(o.checkpoint)
		if err != nil || again > 0 && !bytes.Equal(now, saved) {
			t.Errorf("%v, or the second run has changed the checkpoint", err)
		}
		saved = now
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
		"rate":       {func(o *options) { o.rate = math.Inf(1) }, "-lr: want"},
		"batch":      {func(o *options) { o.batch = 57 }, "-batch 57: there are only 56 training images"},
		"empty":      {func(o *options) { o.dir = t.TempDir() }, "no class"},
		"one class":  {func(o *options) { o.dir = one }, one + ": only one class, [star]"},
		"no folder":  {func(o *options) { o.checkpoint = filepath.Join(one, "absent", "c") }, "net: save"},
		"a folder":   {func(o *options) { o.checkpoint, o.fresh = one, true }, "net: save"},
		"not a file": {func(o *options) { o.checkpoint = one }, "-fresh starts a new run"},
	} {
		o := tiny(filepath.Join(t.TempDir(), "c"))
		o.dir, o.every = dir, 1000
		test.change(&o)
		err := run(t.Context(), o)
		if err == nil || !strings.Contains(err.Error(), test.says) {
			t.Errorf("%s: got %v, want %s", name, err, test.says)
		}
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
