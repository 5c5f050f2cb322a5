package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/penstock-go/penstock/bench/analysis"
	"github.com/penstock-go/penstock/bench/data"
	"github.com/penstock-go/penstock/dataset"
)

func TestASweepEndsWithALineOfGoOrSaysWhyNot(t *testing.T) {
	dir, err := data.Photos(t.Context(), t.TempDir(), 6)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name, consumer, train string
	}{{"no consumer", "0", "-train=false"}, {"consumer", "2000", "-train"}} {
		var out bytes.Buffer
		args := []string{"-dir", dir, "-size", "32", "-samples", "8", "-workers", "2,1", "-batches", "2,4", "-rounds", "2", "-consumer", c.consumer, c.train}
		if err := run(t.Context(), args, &out, io.Discard); err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		want := regexp.MustCompile(`\nl, err := loader.New\(ds, loader.Workers\([12]\), loader.BatchSize\([24]\)\)\n$|\nToo noisy to tell: `)
		if !want.MatchString(out.String()) {
			t.Errorf("%s: neither a line of Go nor that it is too noisy: %s", c.name, &out)
		}
	}
}

func TestWrongFlagsAreToldAllAtOnce(t *testing.T) {
	_, err := parse([]string{"-size", "0", "-samples", "-1", "-rounds", "0", "-consumer", "-1", "-batches", "0", "more"}, io.Discard)
	for _, name := range []string{"-size", "-samples", "-rounds", "-consumer", "-batches", "more"} {
		if err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%v: says nothing of %s", err, name)
		}
	}
	for _, args := range [][]string{{"-workers", "-1"}, {"-workers", "x"}, {"-batches", ""}, {"-batches", "1,,2"}} {
		if _, err := parse(args, io.Discard); err == nil {
			t.Errorf("%v: no error", args)
		}
	}
	var help, silent bytes.Buffer
	if _, err := parse([]string{"-h"}, &help); !errors.Is(err, flag.ErrHelp) {
		t.Errorf("-h: got %v", err)
	}
	for _, want := range []string{"-workers numbers", "-batches sizes", "-rounds rounds", "(default 16,32,64,128)"} {
		if !strings.Contains(help.String(), want) {
			t.Errorf("-h does not say %q:\n%s", want, &help)
		}
	}
	if _, err := parse([]string{"-batch", "1"}, &silent); err == nil || silent.Len() > 0 || strings.Contains(err.Error(), "\n") {
		t.Errorf("got %v, and printed %q: want one line, said once", err, &silent)
	}
	if o, err := parse([]string{"-workers", "4,0"}, io.Discard); err != nil || o.workers.String() != "0,4" {
		t.Errorf("got workers %v, %v, want 0 and 4", o.workers, err)
	}
}

func TestAdviceIsALineOfGoUnlessRoundsAreTooNoisy(t *testing.T) {
	one, two := analysis.Setting{Batch: 8, Workers: 1}, analysis.Setting{Batch: 8, Workers: 2}
	const line = "l, err := loader.New(ds, loader.Workers(2), loader.BatchSize(8))"
	for _, c := range []struct {
		name       string
		all        []candidate
		want, none string
	}{
		{"ended early", []candidate{{Setting: two, times: []float64{0.001}}, {Setting: one}}, line, "Too"},
		{"close", []candidate{{Setting: two, times: []float64{1, 1.01, 1.02, 1}}, {Setting: one, times: []float64{1.01, 1, 1.02, 1.01}}},
			"No clear difference to it: batch 8, 1 worker.", "Too"},
		{"clear", []candidate{{Setting: two, times: []float64{1, 1.01, 1.02, 1}}, {Setting: one, times: []float64{1.05, 1.06, 1.05, 1.07}}}, line, "No clear"},
		{"noisy", []candidate{{Setting: one, times: []float64{1 / 282., 1 / 1049., 1 / 700.}}, {Setting: two, times: []float64{1 / 500., 1 / 300., 1 / 690.}}},
			"Too noisy to tell: rounds of the same setting, batch 8, 1 worker, lie between 282 and 1049 samples/s", "loader.New"},
		{"one round", []candidate{{Setting: one, times: []float64{1}}, {Setting: two, times: []float64{1.1}}}, "Too early to tell", "loader.New"},
	} {
		var out bytes.Buffer
		if err := advise(&out, c.all); err != nil || !strings.Contains(out.String(), c.want) || strings.Contains(out.String(), c.none) {
			t.Errorf("%s: want %q and no %q, got %v:\n%s", c.name, c.want, c.none, err, &out)
		}
	}
	if err := advise(io.Discard, nil); err == nil {
		t.Error("nothing measured: no error")
	}
}

func TestDamagedPhotosAreLeftOutAndNamed(t *testing.T) {
	made, err := data.Photos(t.Context(), t.TempDir(), 6)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(made)); err != nil {
		t.Fatal(err)
	}
	bad := filepath.Join(dir, "zebra") // the last class: with batch 1, batches that are empty
	if err := os.Mkdir(bad, 0o755); err != nil {
		t.Fatal(err)
	}
	for i := range 7 {
		if err := os.WriteFile(filepath.Join(bad, fmt.Sprintf("%d.jpg", i)), []byte("no photo"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	var out, errs bytes.Buffer
	args := []string{"-dir", dir, "-size", "32", "-samples", "26", "-workers", "0,2", "-batches", "1,4", "-rounds", "2"}
	if err := run(t.Context(), args, &out, &errs); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"left out: 14; the first: ", "zebra/0.jpg"} {
		if !strings.Contains(errs.String(), want) {
			t.Errorf("%q does not say %q", &errs, want)
		}
	}
}

func TestAnErrorKeepsWhatWasMeasured(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	placed := 0
	ds := dataset.Func(4, dataset.Spec{{Name: "x", Dtype: dataset.Uint8}}, func(context.Context, int, dataset.Slot) error {
		if placed++; placed == 10 { // in the third setting
			cancel()
		}
		return nil
	})
	m := meter{options: options{workers: numbers{0}, batches: numbers{1, 2, 3, 4}, turns: 2}, ds: ds}
	all, err := m.rounds(ctx)
	if !errors.Is(err, context.Canceled) || len(all) != 4 || len(all[0].times) != 1 || len(all[1].times) != 1 || len(all[2].times) != 0 {
		t.Errorf("got %v, %v, want the times of two settings", all, err)
	}
}

func TestAFolderOfNoGoodPhotoIsAnError(t *testing.T) {
	dir := t.TempDir()
	if err := run(t.Context(), []string{"-dir", dir}, io.Discard, io.Discard); err == nil {
		t.Error("an empty folder: no error")
	}
	if err := os.Mkdir(filepath.Join(dir, "a"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "a", "1.jpg"), []byte("no photo"), 0o644); err != nil {
		t.Fatal(err)
	}
	err := run(t.Context(), []string{"-dir", dir, "-samples", "8", "-batches", "4"}, io.Discard, io.Discard)
	if err == nil || !strings.Contains(err.Error(), "no photo could be read") || !strings.Contains(err.Error(), "1.jpg") {
		t.Errorf("got %v, want that no photo could be read, and one's name", err)
	}
}
