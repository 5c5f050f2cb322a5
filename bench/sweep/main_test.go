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
	"github.com/penstock-go/penstock/bench/result"
)

func TestASweepEndsWithALineOfGo(t *testing.T) {
	dir, err := data.Photos(t.Context(), t.TempDir(), 6)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name, consumer string
		study          result.Study
	}{{"no consumer", "0", result.Loading}, {"consumer", "2000", result.EndToEnd}} {
		file := filepath.Join(t.TempDir(), "sweep.jsonl")
		var out bytes.Buffer
		args := []string{"-dir", dir, "-size", "32", "-samples", "8", "-workers", "2,1", "-batches", "2,4", "-rounds", "2", "-consumer", c.consumer, "-o", file}
		if err := run(t.Context(), args, &out, io.Discard); err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		lines := strings.Split(strings.TrimSpace(out.String()), "\n")
		want := regexp.MustCompile(`^l, err := loader.New\(ds, loader.Workers\([12]\), loader.BatchSize\([24]\)\)$`)
		if last := lines[len(lines)-1]; !want.MatchString(last) {
			t.Errorf("%s: the last line is %q", c.name, last)
		}
		records, err := result.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if len(records) < 4 || records[0].Study != c.study || records[0].Measured.Samples != 8 {
			t.Errorf("%s: %d records, the first %+v", c.name, len(records), records[0])
		}
		groups := analysis.Groups(records)
		if len(groups) != 1 {
			t.Errorf("%s: %d groups, want one table", c.name, len(groups))
		}
	}
}

func TestWrongFlagsAreToldAllAtOnce(t *testing.T) {
	_, err := parse([]string{"-size", "0", "-samples", "1", "-rounds", "0", "-consumer", "-1", "-margin", "-1", "more"}, io.Discard)
	for _, name := range []string{"-size", "-samples", "-rounds", "-consumer", "-margin", "more"} {
		if err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%v: says nothing of %s", err, name)
		}
	}
	for _, args := range [][]string{{"-workers", "-1"}, {"-batches", "0"}, {"-workers", "x"}, {"-batches", ""}, {"-batches", "1,,2"}} {
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

func TestAnInterruptedSweepTellsWhatItHas(t *testing.T) {
	var out bytes.Buffer
	all := []candidate{{Setting: analysis.Setting{Batch: 8, Workers: 2}, times: []float64{0.001}}, {Setting: analysis.Setting{Batch: 8, Workers: 4}}}
	if err := advise(&out, "", all); err != nil || !strings.Contains(out.String(), "loader.Workers(2), loader.BatchSize(8)") {
		t.Errorf("%v: %s", err, &out)
	}
	out.Reset()
	// The second was stopped while the machine was faster than later.
	all = []candidate{{Setting: analysis.Setting{Batch: 8, Workers: 2}, times: []float64{1, 1, 1.3, 1.3, 1.3}},
		{Setting: analysis.Setting{Batch: 8, Workers: 4}, times: []float64{1.1, 1.1}, stopped: true}}
	if err := advise(&out, "", all); err != nil || !strings.Contains(out.String(), "loader.Workers(2), loader.BatchSize(8)") ||
		!strings.Contains(out.String(), "10.0 %") {
		t.Errorf("%v: %s", err, &out)
	}
	if err := advise(&out, "", nil); err == nil {
		t.Error("nothing measured: no error")
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := run(ctx, []string{"-dir", t.TempDir()}, &out, io.Discard); err == nil {
		t.Error("an empty folder: no error")
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
	file := filepath.Join(t.TempDir(), "sweep.jsonl")
	var out, errs bytes.Buffer
	args := []string{"-dir", dir, "-size", "32", "-samples", "26", "-workers", "0,2", "-batches", "1,4", "-rounds", "2", "-o", file}
	if err := run(t.Context(), args, &out, &errs); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"left out: 7\n", "zebra/0.jpg: ", "zebra/4.jpg: ", "and 2 more\n"} {
		if !strings.Contains(errs.String(), want) {
			t.Errorf("%q does not say %q", &errs, want)
		}
	}
	records, err := result.ReadFile(file)
	if err != nil || len(records) < 4 {
		t.Fatalf("%d records: %v", len(records), err)
	}
	for _, r := range records {
		if r.Measured.Samples != 12 { // 6 of 13 photos, each twice
			t.Errorf("%v: %d samples, want 12", r, r.Measured.Samples)
		}
	}
}

func TestAFolderOfNoGoodPhotoIsAnError(t *testing.T) {
	dir := t.TempDir()
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
