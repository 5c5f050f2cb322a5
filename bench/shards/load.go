package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/penstock-go/penstock/dataset/objects"
	"github.com/penstock-go/penstock/dataset/objects/cache"
	"github.com/penstock-go/penstock/dataset/objects/prefetch"
	"github.com/penstock-go/penstock/dataset/shards"
	"github.com/penstock-go/penstock/dataset/shards/parquet"
	"github.com/penstock-go/penstock/loader"
	"github.com/penstock-go/penstock/sampler"
	"github.com/penstock-go/penstock/transform"
)

const batchSize = 32

// loadSide measures a side of penstock and prints a line of JSON per epoch.
func loadSide(ctx context.Context, o options) error {
	side, err := openSide(ctx, o)
	if err != nil {
		return err
	}
	defer side.close()
	pixels, err := transform.Images(side.ds, transform.Resize(256), transform.CenterCrop(224), transform.ToTensor(),
		transform.Normalize(transform.ImageNetMean, transform.ImageNetStd))
	if err != nil {
		return err
	}
	order, err := orderOf(o, side.ds)
	if err != nil {
		return err
	}
	l, err := loader.New(pixels, loader.Workers(o.workers), loader.BatchSize(batchSize), loader.Sampler(order))
	if err != nil {
		return err
	}
	defer l.Close()
	r := recorder{o: o, side: &side}
	if r.opening, err = control(o.endpoint, counts); err != nil {
		return err
	}
	r.begin(0)
	for batch, err := range l.Epochs(ctx, 0, o.epochs) {
		if err != nil {
			return err
		}
		batches, err := l.Len(l.Position(batch.Epoch()))
		if err != nil {
			return err
		}
		r.batch(batch.Len())
		if batch.Number() < batches-1 {
			continue
		}
		if err := r.end(); err != nil {
			return err
		}
		r.begin(batch.Epoch() + 1)
	}
	return nil
}

// orderOf is the order of all samples, or that of a rank if the side's name says "rank 0 of 2".
func orderOf(o options, ds *shards.Dataset) (sampler.Sampler, error) {
	_, text, ok := strings.Cut(o.side, "rank ")
	if !ok {
		return sampler.Grouped(ds.Ends(), 1, sampler.Together(8)), nil
	}
	var rank, world int
	if _, err := fmt.Sscanf(text, "%d of %d", &rank, &world); err != nil {
		return nil, fmt.Errorf("side %q: %w", o.side, err)
	}
	return sampler.Shard(sampler.Grouped(ds.Ends(), 1, sampler.Together(8), sampler.Lanes(world)), rank, world, sampler.PadToEven)
}

// control asks the server what it has counted since the last time.
func control(endpoint, path string) (t traffic, err error) {
	resp, err := http.Get(endpoint + path)
	if err != nil {
		return t, err
	}
	defer resp.Body.Close()
	return t, json.NewDecoder(resp.Body).Decode(&t)
}

// An opened side of penstock.
type opened struct {
	ds     *shards.Dataset
	bytes  int64           // of all blocks
	cache  *cache.Cache    // nil if it has none
	client *objects.Client // nil if the side is local
}

func (s *opened) close() {
	if s.cache != nil {
		s.cache.Close()
	}
}

// cacheStats are zeros without a cache.
func (s *opened) cacheStats() (stats cache.Stats) {
	if s.cache != nil {
		stats = s.cache.Stats()
	}
	return stats
}

// hedges is how many requests were sent a second time, because the first was slow.
func (s *opened) hedges() int64 {
	if s.client == nil {
		return 0
	}
	return s.client.Stats().Hedges
}

// openSide opens the shards as the side's name says: "local" in the folder, "tar", "mds" and
// "parquet" on the server, "cached" with a cache on the disk, "half" with one for half of the data.
// Blocks take less memory than an epoch needs, so that the second one reads them again.
func openSide(ctx context.Context, o options) (s opened, err error) {
	has := func(word string) bool { return strings.Contains(o.side, word) }
	format := "tar"
	for _, other := range []string{"mds", "parquet"} {
		if has(other) {
			format = other
		}
	}
	for _, name := range names(o.dir) {
		if info, err := os.Stat(filepath.Join(o.dir, name)); err == nil && path.Ext(name) == "."+format {
			s.bytes += info.Size()
		}
	}
	store := objects.Folder(o.dir)
	if !has("local") {
		client, err := newClient(o)
		if err != nil {
			return s, err
		}
		store, s.client = client, client
		if has("cached") {
			limit := int64(16 << 30)
			if has("half") {
				limit = s.bytes / 2
			}
			if s.cache, err = cache.New(client, "cache", limit, cache.BlockSize(16<<20)); err != nil {
				return s, err
			}
			store = s.cache
		}
		if store, err = prefetch.New(store); err != nil {
			return s, err
		}
	}
	memory := shards.MaxBytes(64 << 20)
	if format != "tar" { // has an index of its own
		of, list := shards.MDS(), "mds/index.json"
		if format == "parquet" {
			of, list = parquet.Format(), "parquet/*.parquet"
		}
		index, err := shards.Scan(ctx, store, of, []string{list}, shards.BlockSize(4<<20))
		if err != nil {
			return s, err
		}
		s.ds, err = shards.Open(store, index, []shards.Field{shards.Bytes("image", "image"), shards.Scalar[int64]("label", "label")}, memory)
		return s, err
	}
	index, err := readIndex(o)
	if err != nil {
		return s, err
	}
	options := []shards.Option{memory}
	if has("local") {
		options = append(options, shards.AnyVersion()) // it is that of the server
	}
	s.ds, err = shards.Open(store, index, []shards.Field{shards.Bytes("image", "jpg"), shards.Scalar[int64]("label", "cls")}, options...)
	return s, err
}

func newClient(o options) (*objects.Client, error) {
	server, err := objects.HTTP(o.endpoint+"/"+bucket, objects.Names(names(o.dir)...))
	if err != nil {
		return nil, err
	}
	return objects.NewClient(server)
}

// writeIndex saves the index of the tar shards of the server, as a user does once.
func writeIndex(ctx context.Context, o options) error {
	client, err := newClient(o)
	if err != nil {
		return err
	}
	index, err := shards.Scan(ctx, client, shards.WebDataset(), []string{"*.tar"}, shards.BlockSize(4<<20))
	if err != nil {
		return err
	}
	f, err := os.Create(filepath.Join(o.dir, "tar.index"))
	if err != nil {
		return err
	}
	_, err = index.WriteTo(f)
	return errors.Join(err, f.Close())
}

// readIndex reads the index from the server, by one request.
func readIndex(o options) (*shards.Index, error) {
	resp, err := http.Get(o.endpoint + "/" + bucket + "/tar.index")
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	return shards.ReadIndex(resp.Body, shards.WebDataset())
}

// names are the files with samples, and what lists them.
func names(dir string) []string {
	var list []string
	for _, pattern := range []string{"*.tar", "mds/*", "parquet/*"} {
		found, _ := fs.Glob(os.DirFS(dir), pattern) // the patterns are right
		list = append(list, found...)
	}
	return list
}
