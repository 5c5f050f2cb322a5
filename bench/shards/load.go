package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/penstock-go/penstock/dataset/objects"
	"github.com/penstock-go/penstock/dataset/objects/cache"
	"github.com/penstock-go/penstock/dataset/objects/prefetch"
	"github.com/penstock-go/penstock/dataset/shards"
	"github.com/penstock-go/penstock/loader"
	"github.com/penstock-go/penstock/sampler"
	"github.com/penstock-go/penstock/transform"
)

const batchSize = 32

// writeIndex saves the index of the tar shards, as a user does once, and lists all files
// for the server.
func writeIndex(ctx context.Context, dir string) error {
	index, err := shards.Scan(ctx, objects.Folder(dir), shards.WebDataset(), []string{"*.tar"}, shards.BlockSize(4<<20))
	if err != nil {
		return err
	}
	f, err := os.Create(filepath.Join(dir, "tar.index"))
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = index.WriteTo(f)
	return err
}

// loadSide measures a side of penstock and prints a line of JSON per epoch.
func loadSide(ctx context.Context, o options) error {
	ds, done, err := openSide(ctx, o)
	if err != nil {
		return err
	}
	defer done()
	pixels, err := transform.Images(ds, transform.Resize(256), transform.CenterCrop(224), transform.ToTensor(),
		transform.Normalize(transform.ImageNetMean, transform.ImageNetStd))
	if err != nil {
		return err
	}
	l, err := loader.New(pixels, loader.Workers(o.workers), loader.BatchSize(batchSize),
		loader.Sampler(sampler.Grouped(ds.Ends(), 1, sampler.Together(8))))
	if err != nil {
		return err
	}
	defer l.Close()
	for epoch := range o.epochs {
		begin, cpu := time.Now(), cpuSeconds()
		m := measurement{Epoch: epoch}
		for batch, err := range l.Epoch(ctx, epoch) {
			if err != nil {
				return err
			}
			m.Images += batch.Len()
		}
		m.Seconds, m.CPU = time.Since(begin).Seconds(), cpuSeconds()-cpu
		if err := json.NewEncoder(os.Stdout).Encode(m); err != nil {
			return err
		}
	}
	return nil
}

// cpuSeconds is the user and system time of the process.
func cpuSeconds() float64 {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return float64(u.Utime.Nano()+u.Stime.Nano()) / 1e9
}

// openSide opens the shards as the side's name says: "local" in the folder, "tar" and "mds"
// on the server, "cached" with a cache on the disk. The blocks take no more memory than an
// epoch needs, so that the second one reads them again.
func openSide(ctx context.Context, o options) (*shards.Dataset, func(), error) {
	done := func() {}
	store := objects.Folder(o.dir)
	if !strings.Contains(o.side, "local") {
		server, err := objects.HTTP(o.web, objects.Names(names(o.dir)...))
		if err != nil {
			return nil, nil, err
		}
		client, err := objects.NewClient(server)
		if err != nil {
			return nil, nil, err
		}
		store = client
		if strings.Contains(o.side, "cached") {
			c, err := cache.New(client, "cache", 1<<30)
			if err != nil {
				return nil, nil, err
			}
			store, done = c, func() { c.Close() }
		}
		if store, err = prefetch.New(store); err != nil {
			return nil, nil, err
		}
	}
	ds, err := openShards(ctx, o, store)
	return ds, done, err
}

func openShards(ctx context.Context, o options, store objects.Store) (*shards.Dataset, error) {
	memory := shards.Memory(64 << 20)
	if strings.Contains(o.side, "mds") {
		index, err := shards.Scan(ctx, store, shards.MDS(), []string{"mds/index.json"}, shards.BlockSize(4<<20))
		if err != nil {
			return nil, err
		}
		return shards.Open(store, index, []shards.Field{shards.Bytes("image", "image"), shards.Scalar[int64]("label", "label")}, memory)
	}
	f, err := os.Open(filepath.Join(o.dir, "tar.index"))
	if err != nil {
		return nil, err
	}
	defer f.Close()
	index, err := shards.ReadIndex(f, shards.WebDataset())
	if err != nil {
		return nil, err
	}
	return shards.Open(store, index, []shards.Field{shards.Bytes("image", "jpg"), shards.Scalar[int64]("label", "cls")}, memory, shards.AnyVersion())
}

// names are all files of the server.
func names(dir string) []string {
	tar, _ := filepath.Glob(filepath.Join(dir, "*.tar")) // the patterns are right
	mds, _ := filepath.Glob(filepath.Join(dir, "mds", "*"))
	var list []string
	for _, name := range tar {
		list = append(list, filepath.Base(name))
	}
	for _, name := range mds {
		list = append(list, path.Join("mds", filepath.Base(name)))
	}
	return list
}

// summarize prints the medians, and what penstock's are compared with the others'.
func summarize(all []measurement) {
	rates := map[string][]float64{}
	var order []string
	for _, m := range all {
		key := fmt.Sprintf("%s, epoch %d", m.Side, m.Epoch)
		if rates[key] == nil {
			order = append(order, key)
		}
		rates[key] = append(rates[key], float64(m.Images)/m.Seconds)
	}
	median := func(key string) float64 {
		list := slices.Sorted(slices.Values(rates[key]))
		return list[len(list)/2]
	}
	fmt.Println("\nmedians")
	for _, key := range order {
		_, epoch, _ := strings.Cut(key, ", ")
		local := median("penstock local, " + epoch)
		fmt.Printf("%-34s %8.1f images/s, %5.1f %% of penstock local\n", key, median(key), 100*median(key)/local)
	}
}
