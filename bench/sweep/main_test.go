package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"io"
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
	for _, args := range [][]string{{"-workers", "0"}, {"-workers", "x"}, {"-batches", ""}, {"-batches", "1,,2"}} {
		if _, err := parse(args, io.Discard); err == nil {
			t.Errorf("%v: no error", args)
		}
	}
	if _, err := parse([]string{"-h"}, io.Discard); !errors.Is(err, flag.ErrHelp) {
		t.Errorf("-h: got %v", err)
	}
}

func TestAnInterruptedSweepTellsWhatItHas(t *testing.T) {
	var out bytes.Buffer
	all := []candidate{{Setting: analysis.Setting{Batch: 8, Workers: 2}, times: []float64{0.001}}, {Setting: analysis.Setting{Batch: 8, Workers: 4}}}
	if err := advise(&out, "", all); err != nil || !strings.Contains(out.String(), "loader.Workers(2), loader.BatchSize(8)") {
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
