package main

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"sync/atomic"
	"time"

	"github.com/penstock-go/penstock/bench/data"
	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/dataset/classic"
	"github.com/penstock-go/penstock/dataset/packed"
)

// A load is data and a loop body for which Auto is compared with fixed numbers of workers.
type load struct {
	name    string
	ds      dataset.Dataset
	batch   int
	body    float64         // samples per second of the loop body; 0 is no limit
	latency time.Duration   // of opening a file
	before  []time.Duration // latencies of the time before, which Auto has seen
	moody   *moody          // whose latency that is, or nil
	workers []int           // the fixed numbers
}

// loads returns all loads. A folder of photos with latency is slow files.
func (o options) loads(ctx context.Context) ([]load, error) {
	dir, err := o.folder(ctx)
	if err != nil {
		return nil, err
	}
	photos, err := o.images(os.DirFS(dir))
	if err != nil {
		return nil, err
	}
	files := &moody{FS: os.DirFS(dir)}
	slow, err := o.images(files)
	if err != nil {
		return nil, err
	}
	root, err := data.Root()
	if err != nil {
		return nil, err
	}
	file, err := data.Packed(ctx, root, o.items(), 224)
	if err != nil {
		return nil, err
	}
	items, err := packed.OpenRaw(os.DirFS(filepath.Dir(file)), filepath.Base(file), data.Image(224))
	if err != nil {
		return nil, err
	}
	if dir, err = data.CIFAR100(ctx, root, o.tiny()); err != nil {
		return nil, err
	}
	tiny, err := classic.CIFAR100(os.DirFS(dir), classic.Train)
	if err != nil {
		return nil, err
	}
	few, many := []int{1, 2, 4}, []int{32, 128, 256}
	const far, near = 80 * time.Millisecond, 2 * time.Millisecond
	return []load{
		{name: "photos", ds: photos, batch: 32, workers: few},
		{name: "preprocessed items", ds: items, batch: 64, workers: few},
		{name: "CIFAR-100 in memory", ds: tiny, batch: 64, workers: few},
		{name: "photos, loop of 200 samples/s", ds: photos, batch: 32, body: 200, workers: few},
		{name: "photos, loop of 1000 samples/s", ds: photos, batch: 32, body: 1000, workers: few},
		{name: "photos, loop of 5000 samples/s", ds: photos, batch: 32, body: 5000, workers: few},
		{name: "files of 80 ms", ds: slow, batch: 8, moody: files, latency: far, workers: many},
		{name: "files that were fast, now 80 ms", ds: slow, batch: 8, moody: files, before: []time.Duration{near}, latency: far, workers: many},
		{name: "files of 80 ms, now fast again", ds: slow, batch: 8, moody: files, before: []time.Duration{near, far}, latency: near, workers: []int{4, 8, 32}},
	}, nil
}

// items and tiny are how much data is made up. With few -samples, as in tests, it is little.
func (o options) items() int { return min(256, o.samples) }
func (o options) tiny() int  { return min(50_000, 50*o.samples) }

// A moody file system takes some time to open a file, which may change.
type moody struct {
	fs.FS
	latency atomic.Int64 // nanoseconds
}

func (m *moody) Open(name string) (fs.File, error) {
	time.Sleep(time.Duration(m.latency.Load()))
	return m.FS.Open(name)
}

func (m *moody) ReadDir(name string) ([]fs.DirEntry, error) { return fs.ReadDir(m.FS, name) }

func (m *moody) Stat(name string) (fs.FileInfo, error) { return fs.Stat(m.FS, name) }
