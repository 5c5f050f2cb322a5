package main

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"runtime"

	"github.com/penstock-go/penstock/bench"
	"github.com/penstock-go/penstock/bench/analysis"
	"github.com/penstock-go/penstock/bench/data"
	"github.com/penstock-go/penstock/bench/result"
	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/loader"
	"github.com/penstock-go/penstock/transform"
)

// A meter measures settings on the photos.
type meter struct {
	options
	ds      dataset.Dataset
	photos  int   // in the folder
	left    int64 // samples of an epoch that could not be read
	failure error // of the first of them
}

func newMeter(ctx context.Context, o options) (*meter, error) {
	dir, err := o.folder(ctx)
	if err != nil {
		return nil, err
	}
	images, err := o.images(os.DirFS(dir))
	if err != nil {
		return nil, err
	}
	m := &meter{options: o, photos: images.Len()}
	// The requested number of photos, spread over the folder, or repeated if it has fewer.
	indices := make([]int, o.samples)
	for i := range indices {
		indices[i] = i % m.photos
		if m.photos > o.samples {
			indices[i] = i * m.photos / o.samples
		}
	}
	m.ds, err = dataset.Subset(images, indices)
	return m, err
}

// folder returns the folder of photos, which it makes up if none is given.
func (o options) folder(ctx context.Context) (dir string, err error) {
	if o.dir != "" {
		return o.dir, nil
	}
	root, err := data.Root()
	if err != nil {
		return "", err
	}
	return data.Photos(ctx, root, 334)
}

// images returns the photos of a file system, transformed by the preset.
func (o options) images(fsys fs.FS) (dataset.Dataset, error) {
	folder, err := dataset.ImageFolder(fsys)
	if err != nil {
		return nil, err
	}
	preset := transform.Eval(o.size)
	if o.train {
		preset = transform.Train(o.size)
	}
	return transform.Images(folder, preset)
}

// String describes what is measured.
func (m *meter) String() string {
	preset := map[bool]string{false: "Eval", true: "Train"}[m.train]
	s := fmt.Sprintf("%d of %d photos, %s(%d), %d settings in %d rounds", min(m.samples, m.photos), m.photos, preset, m.size,
		len(m.workers)*len(m.batches), m.turns)
	if m.consumer > 0 {
		s += fmt.Sprintf(", for a simulated loop of %.0f samples/s", m.consumer)
	}
	return s
}

// warm loads all samples once, so that the files are in the page cache in all rounds. It fails if no
// photo can be read.
func (m *meter) warm(ctx context.Context) error {
	_, err := m.epoch(ctx, nil, loader.BatchSize(m.batches[0]))
	return err
}

// epoch measures an epoch of a new loader, which leaves out photos that cannot be read.
func (m *meter) epoch(ctx context.Context, body func(context.Context, *loader.Batch) error, options ...loader.Option) (result.Measured, error) {
	l, err := loader.New(m.ds, append(options, loader.Shuffle(m.train), loader.Skip(loader.NoLimit))...)
	if err != nil {
		return result.Measured{}, err
	}
	defer l.Close()
	measured, err := bench.Epoch(ctx, l.Epoch(ctx, 0), body)
	if s := l.Stats(); s.Dropped > 0 {
		m.left, m.failure = s.Dropped, s.Failures[0]
	}
	if err == nil && measured.Samples == 0 {
		err = fmt.Errorf("no photo could be read: %w", m.failure)
	}
	return measured, err
}

// A candidate is a setting with its time in seconds per sample, for every round.
type candidate struct {
	analysis.Setting
	times []float64
}

// rounds measures all settings in turns, in reverse order in every second round. With an error, such as that of a context
// that is done, they have the times that were measured before it.
func (m *meter) rounds(ctx context.Context) (all []candidate, err error) {
	for _, b := range m.batches {
		for _, w := range m.workers {
			all = append(all, candidate{Setting: analysis.Setting{Batch: b, Workers: w}})
		}
	}
	for round := range m.turns {
		for k := range all {
			if round%2 == 1 {
				k = len(all) - 1 - k
			}
			seconds, err := m.measure(ctx, all[k].Setting)
			if err != nil {
				return all, err
			}
			all[k].times = append(all[k].times, seconds)
		}
	}
	return all, nil
}

// measure returns the seconds per loaded sample of an epoch of a new loader, including the wait for
// the first batch and the loop's own time.
func (m *meter) measure(ctx context.Context, s analysis.Setting) (float64, error) {
	runtime.GC() // so that slabs of the setting before are not collected in this one's time
	var body func(context.Context, *loader.Batch) error
	if m.consumer > 0 {
		body = func(ctx context.Context, b *loader.Batch) error {
			_, err := bench.Simulate(ctx, m.consumer, b.Len(), 0)
			return err
		}
	}
	measured, err := m.epoch(ctx, body, loader.Workers(s.Workers), loader.BatchSize(s.Batch))
	if err != nil {
		return 0, err
	}
	return measured.Seconds / float64(measured.Samples), nil
}
