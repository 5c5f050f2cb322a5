package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"gorgonia.org/tensor"

	"github.com/penstock-go/penstock/bench/data"
	"github.com/penstock-go/penstock/bench/result"
	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/dataset/npy"
)

// recorded is what the options give, in records as the runner completes them.
func recorded(t *testing.T, o options) []told {
	t.Helper()
	if runtime.GOOS != "linux" {
		t.Skip("processor time and memory are read from Linux's /proc")
	}
	var out bytes.Buffer
	if err := records(t.Context(), o, &out); err != nil {
		t.Fatal(err)
	}
	var all []told
	for lines := json.NewDecoder(&out); ; {
		var one told
		if err := lines.Decode(&one); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		one.Record.Side, one.Record.Date = "penstock", time.Now()
		one.Record.Machine = result.Machine{CPU: "some", Processors: 2}
		if err := one.Record.Check(); err != nil {
			t.Errorf("%s, epoch %d: %v", o.work, one.Record.Epoch, err)
		}
		all = append(all, one)
	}
	if len(all) != o.epochs+1 {
		t.Fatalf("%d records: want %d", len(all), o.epochs+1)
	}
	return all
}

// npyFolder has five items of ones, as one array and a file each.
func npyFolder(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	write := func(path string, n int) {
		ones := tensor.Ones(tensor.Float32, n, 3, 224, 224)
		ds, err := dataset.Tensors(dataset.Named("image", ones))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		f, err := os.Create(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(npy.Write(t.Context(), f, ds, "image"), f.Close()); err != nil {
			t.Fatal(err)
		}
	}
	write(filepath.Join(dir, "array.npy"), 5)
	for _, name := range []string{"0", "1", "2", "3", "4"} {
		items := filepath.Join(dir, "items", name+".npy")
		write(items, 1)
		dropFirstDimension(t, items)
	}
	return dir
}

// dropFirstDimension makes an array of one sample the sample itself.
func dropFirstDimension(t *testing.T, path string) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	text = bytes.Replace(text, []byte("(1, 3,"), []byte("(3,   "), 1)
	if err := os.WriteFile(path, text, 0o666); err != nil {
		t.Fatal(err)
	}
}

func TestRecordsOfFormatsAreValidAndTellTheData(t *testing.T) {
	tiny, err := data.CIFAR100(t.Context(), t.TempDir(), 40)
	if err != nil {
		t.Fatal(err)
	}
	patients, err := data.Volumes(t.Context(), t.TempDir(), 2)
	if err != nil {
		t.Fatal(err)
	}
	npy := npyFolder(t)
	for work, folder := range map[string]string{
		"npy": npy, "npy-items": npy, "npy-cached": npy, "cifar100": tiny, "nrrd": patients, "volumes-cached": patients, "volumes": patients,
	} {
		o := options{folder: folder, work: work, data: work, study: "loading", workers: 2, batch: 4, samples: 10, epochs: 1, help: "off", consumer: 0.001}
		if work == "volumes" {
			o.study = work
		}
		all := recorded(t, o)
		if all[0].Mean == nil || len(all[0].Record.Measured.Usage) == 0 {
			t.Errorf("%s: the first epoch has mean %v and usage %v", work, all[0].Mean, all[0].Record.Measured.Usage)
		} else if folder == npy && *all[0].Mean != 1 {
			t.Errorf("%s: mean %v: want 1", work, *all[0].Mean)
		}
		for _, one := range all {
			m := one.Record.Measured
			if m.Samples != 10 || len(m.Waits) != 3 || m.Compute < 0.003 || math.Abs(m.Waiting+m.Compute-m.Seconds) > 0.5*m.Seconds {
				t.Errorf("%s: %+v", work, m)
			}
			if c := one.Record.Config; c.Help != "off" || c.ConsumerSeconds != 0.001 || c.Data != work {
				t.Errorf("%s: %+v", work, c)
			}
		}
	}
}

func TestProfileIsOfTheFirstBatchAndOfAnEpoch(t *testing.T) {
	dir, err := data.CIFAR100(t.Context(), t.TempDir(), 40)
	if err != nil {
		t.Fatal(err)
	}
	all := recorded(t, options{folder: dir, work: "cifar100", data: "cifar", study: "profile", workers: 2, batch: 8, samples: 40, epochs: 1, help: "on", shuffle: true})
	for i, want := range []struct {
		span    string
		samples int64
	}{{result.FirstBatch, 8}, {result.Epoch, 40}} {
		if r := all[i].Record; r.Config.Span != want.span || r.Measured.Samples != want.samples {
			t.Errorf("record %d: %s of %d samples, want %s of %d", i, r.Config.Span, r.Measured.Samples, want.span, want.samples)
		}
		m := all[i].Record.Measured
		if s := m.Stages[0]; len(m.Stages) < 4 || s.Name != "loop: wait" || s.Total != m.Waiting || m.Transfer == 0 || m.Compute != 0 {
			t.Errorf("record %d: %+v", i, m)
		}
	}
}

func TestSimulatedDeviceTakesItsTime(t *testing.T) {
	dir, err := data.CIFAR100(t.Context(), t.TempDir(), 40)
	if err != nil {
		t.Fatal(err)
	}
	o := options{folder: dir, work: "cifar100", data: "cifar", study: "endtoend", workers: 1, batch: 8, samples: 40, epochs: 1, help: "on", speed: 400, model: "m", simulated: "s"}
	for _, one := range recorded(t, o) {
		if m := one.Record.Measured; m.EndToEnd < 0.1 || m.Compute < 0.1 {
			t.Errorf("40 samples at 400 per second: end to end %v s, computing %v s", m.EndToEnd, m.Compute)
		}
	}
}

func TestMissingDataIsAnError(t *testing.T) {
	for work := range formats {
		o := options{folder: filepath.Join(t.TempDir(), "none"), work: work, study: "loading", workers: 1, batch: 1, samples: 1}
		if err := records(t.Context(), o, io.Discard); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: got %v", work, err)
		}
	}
	for _, what := range []string{"", "volumes", "volumes:0", "else:1", "cifar100:x"} {
		if err := makeData(t.Context(), what, io.Discard); err == nil {
			t.Errorf("-make %q: no error", what)
		}
	}
}

func TestKeptResultsAreValid(t *testing.T) {
	files, err := filepath.Glob("../../results/*.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	if len(files) == 0 {
		t.Skip("bench/results has no files")
	}
	for _, file := range files {
		if records, err := result.ReadFile(file); err != nil || len(records) == 0 {
			t.Errorf("%s: %d records, %v", file, len(records), err)
		}
	}
}
