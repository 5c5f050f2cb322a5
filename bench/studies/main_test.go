package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/penstock-go/penstock/bench"
	"github.com/penstock-go/penstock/bench/data"
	"github.com/penstock-go/penstock/bench/result"
	"github.com/penstock-go/penstock/dataset"
)

func TestCornersComeFirstAndNothingIsMeasuredTwice(t *testing.T) {
	t.Setenv("PEERS_VENV", t.TempDir()) // without Python
	o := options{studies: []string{"1", "2", "3", "4", "5", "photos"}, rounds: 2, device: "cpu"}
	jobs, err := o.jobs(nil)
	if err != nil {
		t.Fatal(err)
	}
	seen, rest := map[key]bool{}, false
	for i, j := range jobs {
		k := keyOf(j.record())
		if seen[k] {
			t.Errorf("%s: %v is there twice", j.side, j.Cell)
		}
		seen[k] = true
		if _, python := programs[j.side]; python {
			t.Errorf("%s is not installed", j.side)
		}
		corner := j.Short || j.Study == result.Throughput
		if rest = rest || !corner; rest && corner && j.round == 0 {
			t.Errorf("%d: a corner comes after the rest", i)
		}
		if j.round == 1 && !corner {
			t.Errorf("%d: another round of what is no corner", i)
		}
	}
	done := map[key]bool{}
	for _, j := range jobs[:10] {
		r := j.record()
		r.Config.InFlight, r.Config.Span = 5, result.Epoch // as it is when it was measured
		done[keyOf(r)] = true
	}
	left, err := o.jobs(done)
	if err != nil || len(left) != len(jobs)-10 {
		t.Errorf("%d of %d jobs are left, %v: want all but 10", len(left), len(jobs), err)
	}
	for _, wrong := range []options{
		{studies: []string{"6"}, rounds: 1, device: "cpu"}, {studies: []string{"1"}, rounds: 0, device: "cpu"},
		{studies: []string{"1"}, rounds: 1, device: "gpu"}, {studies: []string{"1"}, sides: []string{bench.DALI}, rounds: 1, device: "cpu"},
	} {
		if _, err := wrong.jobs(nil); err == nil {
			t.Errorf("%+v: no error", wrong)
		}
	}
}

func TestOnADeviceOnlyWhatUsesItIsMeasured(t *testing.T) {
	o := options{studies: []string{"1", "2", "3", "5"}, rounds: 1, device: "cuda"}
	jobs, err := o.jobs(nil)
	if err != nil {
		t.Fatal(err)
	}
	studies := map[result.Study]int{}
	for _, j := range jobs {
		studies[j.Study]++
		if j.Config.Device != "cuda" || j.Speed > 0 || strings.HasPrefix(j.side, "PyTorch") {
			t.Errorf("%s: %+v", j.side, j.Cell)
		}
	}
	for _, s := range []result.Study{result.Loading, result.EndToEnd, result.Profile, result.Inference} {
		if studies[s] == 0 {
			t.Errorf("nothing of %s", s)
		}
	}
}

func TestASideThatHangsIsStopped(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("its stand-in for Python is a shell script")
	}
	venv := t.TempDir()
	t.Setenv("PEERS_VENV", venv)
	python := filepath.Join(venv, "bin", "python")
	if err := errors.Join(os.Mkdir(filepath.Dir(python), 0o777), os.WriteFile(python, []byte("#!/bin/sh\nsleep 60 & wait\n"), 0o777)); err != nil {
		t.Fatal(err)
	}
	begun := time.Now()
	_, err := options{limit: 200 * time.Millisecond}.start(t.Context(), job{side: bench.Tensors})
	if took := time.Since(begun); err == nil || !strings.Contains(err.Error(), "did not end in 200ms") || took > 30*time.Second {
		t.Errorf("after %v: %v", took, err)
	}
}

func TestAMeasuredCellIsAValidRecord(t *testing.T) {
	root := t.TempDir()
	photos, err := data.Photos(t.Context(), root, 4)
	if err != nil {
		t.Fatal(err)
	}
	cifar, err := data.CIFAR100(t.Context(), root, 6)
	if err != nil {
		t.Fatal(err)
	}
	items, err := data.Items(t.Context(), root, 4, dataset.Uint8, 64)
	if err != nil {
		t.Fatal(err)
	}
	texts, err := data.Tokens(t.Context(), root, 100)
	if err != nil {
		t.Fatal(err)
	}
	work := newChecks()
	type measurement struct {
		side string
		bench.Cell
	}
	measurements := []measurement{
		{bench.Penstock, bench.Cell{Study: result.Loading, Work: "items", Folder: items, Size: 64, Samples: 8, Config: result.Config{Data: "items"}}},
		{bench.WithoutHelp, bench.Cell{Study: result.Loading, Work: "items", Folder: items, Size: 64, Samples: 8, Config: result.Config{Data: "items"}}},
		{bench.Penstock, bench.Cell{Study: result.EndToEnd, Work: "eval", Folder: photos, Size: 64, Samples: 5, Config: result.Config{Data: "photos", Model: "conv-small"}}},
		{bench.Penstock, bench.Cell{Study: result.Throughput, Work: "eval", Folder: photos, Size: 64, Samples: 5, Epochs: 1, Config: result.Config{Data: "photos"}}},
		{bench.PackedFast, bench.Cell{Study: result.Throughput, Work: "eval", Folder: photos, Size: 64, Samples: 5, Epochs: 1, Config: result.Config{Data: "photos"}}},
		{bench.Penstock, bench.Cell{Study: result.Throughput, Work: "decode", Folder: photos, Samples: 5, Epochs: 1, Config: result.Config{Data: "photos, decoded"}}},
		{bench.Penstock, bench.Cell{Study: result.Profile, Work: "cifar100", Folder: cifar, Size: 32, Samples: 6, Epochs: 1, Shuffle: true, Config: result.Config{Data: "CIFAR-100"}}},
		{bench.Penstock, bench.Cell{Study: result.Throughput, Work: "rows", Folder: texts, Samples: 8, Epochs: 1, Shuffle: true, Config: result.Config{Data: "rows"}}},
		{bench.Penstock, bench.Cell{Study: result.Throughput, Work: "documents", Folder: texts, Samples: 8, Epochs: 2, Config: result.Config{Data: "documents"}}},
		{bench.Copied, bench.Cell{Study: result.Throughput, Work: "documents", Folder: texts, Samples: 8, Epochs: 2, Config: result.Config{Data: "documents"}}},
		{bench.Penstock, bench.Cell{Study: result.Throughput, Work: "documents", Folder: texts, Samples: 8, Cold: true, Config: result.Config{Data: "cold"}}},
		{bench.Gorgonia, bench.Cell{Study: result.Inference, Size: 64, Samples: 3, Config: result.Config{Data: "random", Model: "conv-small"}}},
	}
	if videos, err := data.Clips(t.Context(), root, 2, data.H264, 30); err == nil {
		measurements = append(measurements, measurement{bench.Penstock, bench.Cell{Study: result.Throughput, Work: "clips", Folder: videos, Size: 32, Samples: 4, Epochs: 1,
			Shuffle: true, Config: result.Config{Data: "clips"}}})
	} else if !errors.Is(err, errors.ErrUnsupported) {
		t.Fatal(err)
	} else {
		t.Logf("no clips: %v", err)
	}
	for _, c := range measurements {
		c.Config.Batch, c.Config.Workers = 2, 2
		var out bytes.Buffer
		if err := measure(t.Context(), c.Cell, c.side, options{device: "cpu"}, &out); err != nil {
			t.Fatalf("%s, %v: %v", c.side, c.Cell, err)
		}
		var lines []line
		for d := json.NewDecoder(&out); d.More(); {
			var l line
			if err := d.Decode(&l); err != nil {
				t.Fatal(err)
			}
			lines = append(lines, l)
			r := job{c.Cell, c.side, 0}.record()
			r.Measured, r.Config.Span, r.Date, r.Machine = l.Measured, l.Span, r.Date.AddDate(1, 0, 0), result.Machine{CPU: "x", Processors: 1}
			if err := r.Check(); err != nil {
				t.Errorf("%s, %v: %v", c.side, c.Cell, err)
			}
			if c.side != bench.Gorgonia && l.InFlight != 5 {
				t.Errorf("%s: %d batches in flight, want 5", c.side, l.InFlight)
			}
		}
		if first := lines[0].Measured; c.Study == result.Profile && (first.Samples != 2 || lines[1].Measured.Samples != 6) {
			t.Errorf("a profile has %d samples and then %d, want those of the first batch and of an epoch", first.Samples, lines[1].Measured.Samples)
		}
		if c.Study == result.Throughput && c.side != bench.Copied && !c.Cold && lines[0].Measured.DataBytes == 0 {
			t.Errorf("%s: no size of the data", c.side)
		}
		if len(lines) != c.Epochs+1 {
			t.Errorf("%s: %d epochs, want %d", c.side, len(lines), c.Epochs+1)
		}
		work.compare(job{c.Cell, c.side, 0}, lines)
	}
	if len(work.doubts) > 0 {
		t.Errorf("doubts: %v", work.doubts)
	}
	mean := 0.9
	work.compare(job{bench.Cell{}, "a", 0}, []line{{Mean: &mean, Parameters: 5}})
	mean2 := 1.0
	work.compare(job{bench.Cell{}, "b", 0}, []line{{Mean: &mean2, Parameters: 6}})
	if len(work.doubts) != 2 {
		t.Errorf("doubts %v, want one of the net and one of the mean", work.doubts)
	}
}
