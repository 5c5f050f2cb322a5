package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"runtime"
	"time"

	"github.com/penstock-go/penstock/bench"
	"github.com/penstock-go/penstock/bench/model"
	"github.com/penstock-go/penstock/bench/result"
	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/dataset/packed"
	"github.com/penstock-go/penstock/gpu"
	"github.com/penstock-go/penstock/gpu/cuda"
	"github.com/penstock-go/penstock/loader"
	"github.com/penstock-go/penstock/loader/share"
)

// A line is what every side prints for an epoch, as JSON.
type line struct {
	Epoch    int               `json:"epoch"`
	Span     string            `json:"span,omitempty"`
	InFlight int               `json:"in_flight,omitempty"`
	Measured result.Measured   `json:"measured"`
	Versions map[string]string `json:"versions"`

	// Two values show whether sides do the same work: the mean of the first field in the middle batch of epoch 0, and
	// the number of the net's parameters.
	Mean       *float64 `json:"mean,omitempty"`
	Parameters int      `json:"parameters,omitempty"`
}

// measure measures a cell in this process, and prints a line for every epoch.
func measure(ctx context.Context, c bench.Cell, side string, o options, out io.Writer) (err error) {
	print := func(l line) error {
		l.Versions = result.Versions(ctx)
		return json.NewEncoder(out).Encode(l)
	}
	if o.device == "cuda" {
		if err := cuda.AddKernels(os.DirFS(o.kernels)); err != nil {
			return err
		}
	}
	if side == bench.Gorgonia {
		m, parameters, err := c.Infer(ctx, o.device)
		if err != nil {
			return err
		}
		return print(line{Measured: m, Parameters: parameters})
	}
	if c.Cold {
		m, err := cold(ctx, c)
		if err != nil {
			return err
		}
		return print(line{InFlight: 2*c.Config.Workers + 1, Measured: m})
	}
	r := bench.Run{Cell: c}
	switch side {
	case bench.WithoutHelp:
		r.Config.Help = result.HelpOff
	case bench.PackedFast, bench.PackedSmall:
		folder, err := os.MkdirTemp("", "penstock-packed")
		if err != nil {
			return err
		}
		defer os.RemoveAll(folder)
		level := map[string]packed.Level{bench.PackedFast: packed.Fast, bench.PackedSmall: packed.Small}[side]
		if err := bench.PackPhotos(ctx, c.Folder, folder, level); err != nil {
			return err
		}
		r.Folder = folder
	}
	if c.Config.Workers == 0 {
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1)) // one thread
	}
	stored, err := readAll(os.DirFS(r.Folder))
	if err != nil {
		return err
	}
	if r.Dataset, err = r.Cell.Open(ctx); err != nil {
		return err
	}
	if side == bench.Copied {
		for epoch := range c.Epochs + 1 {
			if err := print(line{Epoch: epoch, InFlight: 2*c.Config.Workers + 1, Measured: c.Copies(r.Dataset.Spec())}); err != nil {
				return err
			}
		}
		return nil
	}
	if c.Study == result.Volumes || o.device == "cuda" {
		memory, free, err := gpu.Auto()
		if err != nil {
			return err
		}
		defer free()
		r.Options = append(r.Options, loader.Memory(memory))
	}
	if c.Study == result.Profile && o.device == "cuda" {
		if r.GPU, err = gpu.Open(); err != nil {
			return err
		}
		defer r.GPU.Close()
	}
	if c.Study == result.EndToEnd && c.Speed == 0 {
		if r.Net, err = model.New(c.Config.Model, c.Config.Batch, c.Size, o.device); err != nil {
			return err
		}
		defer r.Net.Close()
		if err := r.Net.Infer(make([]float32, c.Config.Batch*3*c.Size*c.Size)); err != nil { // allocates the VM's memory
			return err
		}
	}
	if err := r.Open(); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	for epoch := range c.Epochs + 1 {
		l := line{Epoch: epoch}
		r.Look = nil
		if epoch == 0 {
			middle := (r.Dataset.Len() + c.Config.Batch - 1) / c.Config.Batch / 2
			r.Look = func(b *loader.Batch) error {
				if b.Number() == middle {
					mean := meanOf(b, r.Dataset.Spec()[0])
					l.Mean = &mean
				}
				return nil
			}
		}
		if c.Study == result.Profile {
			if r.Config.Span = result.FirstBatch; epoch > 0 {
				r.Config.Span = result.Epoch
			}
		}
		if l.Measured, err = r.Epoch(ctx, epoch); err != nil {
			return err
		}
		if c.Study == result.Throughput {
			l.Measured.DataBytes = stored
		}
		l.Span, l.InFlight = r.Config.Span, r.Config.InFlight
		if r.Net != nil {
			l.Parameters = r.Net.Parameters()
		}
		if err := print(l); err != nil {
			return err
		}
	}
	return nil
}

// cold measures the time from the opening of the files to the first batch.
func cold(ctx context.Context, c bench.Cell) (m result.Measured, err error) {
	r := bench.Run{Cell: c}
	r.Config.Span = result.FirstBatch
	begun := time.Now()
	if r.Dataset, err = c.Open(ctx); err != nil {
		return m, err
	}
	if err := r.Open(); err != nil {
		return m, err
	}
	defer r.Close()
	opened := time.Since(begun).Seconds()
	m, err = r.Epoch(ctx, 0)
	m.Seconds = opened + m.FirstBatch
	m.FirstBatch = m.Seconds
	return m, err
}

func meanOf(b *loader.Batch, f dataset.Field) float64 {
	switch f.Dtype {
	case dataset.Uint8:
		return mean(loader.Values[uint8](b, f.Name))
	case dataset.Int64:
		return mean(loader.Values[int64](b, f.Name))
	}
	return mean(loader.Values[float32](b, f.Name))
}

func mean[T uint8 | int64 | float32](values []T) float64 {
	sum := 0.0
	for _, v := range values {
		sum += float64(v)
	}
	return sum / float64(len(values))
}

// readAll reads all files, so that they are in the page cache, and returns how many bytes they have.
func readAll(fsys fs.FS) (bytes int64, err error) {
	err = fs.WalkDir(fsys, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		f, err := fsys.Open(name)
		if err != nil {
			return err
		}
		defer f.Close()
		n, err := io.Copy(io.Discard, f) // a whole file would count as memory of the side
		bytes += n
		return err
	})
	return bytes, err
}

// serveCell gives a cell's batches to a loop in Python.
func serveCell(ctx context.Context, c bench.Cell) error {
	if _, err := readAll(os.DirFS(c.Folder)); err != nil {
		return err
	}
	ds, err := c.Open(ctx)
	if err != nil {
		return err
	}
	var memory share.Memory
	l, err := loader.New(ds, loader.Workers(c.Config.Workers), loader.BatchSize(c.Config.Batch), loader.Shuffle(c.Shuffle), loader.Memory(&memory))
	if err != nil {
		return err
	}
	defer l.Close()
	return share.Serve(ctx, l, &memory)
}

// checks collect what is doubtful: sides that failed, and sides that did other work than penstock.
type checks struct {
	doubts     []string
	means      map[string]float64 // of penstock, by cell
	parameters map[string]int
}

func newChecks() *checks { return &checks{means: map[string]float64{}, parameters: map[string]int{}} }

func (k *checks) doubt(format string, values ...any) {
	k.doubts = append(k.doubts, fmt.Sprintf(format, values...))
	fmt.Println(k.doubts[len(k.doubts)-1])
}

// tolerance is the difference of means that decoders and filters make, as a share; a scan's values are in the hundreds.
const tolerance = 0.03

func (k *checks) compare(j job, lines []line) {
	cell := fmt.Sprint(j.Study, j.Cell)
	for _, l := range lines {
		if known := k.parameters[cell]; known != 0 && l.Parameters != known {
			k.doubt("%s has another net in %v: %d parameters, not %d", j.side, j.Cell, l.Parameters, known)
		} else if l.Parameters != 0 {
			k.parameters[cell] = l.Parameters
		}
		if l.Mean == nil || j.Shuffle {
			continue
		}
		if ours, known := k.means[cell]; !known {
			k.means[cell] = *l.Mean
		} else if d := *l.Mean - ours; max(d, -d) > tolerance*max(1, ours, -ours) {
			k.doubt("%s did other work in %v: the mean of its middle batch is %.4f, not %.4f", j.side, j.Cell, *l.Mean, ours)
		}
	}
}
