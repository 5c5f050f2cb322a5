// Shards packs images into tar shards for WebDataset, and loads them from a web server: read ahead, in blocks, and
// with a cache on the local disk, so that the second epoch asks the server for nothing.
//
//	go run ./examples/shards [-dir DIR] [-work DIR]
//
// It writes the shards, their index and the cache into the folder shards-example (-work). The server is in this
// program, and answers as late as one that is far away.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"log"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"sync/atomic"
	"time"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/dataset/objects"
	"github.com/penstock-go/penstock/dataset/objects/cache"
	"github.com/penstock-go/penstock/dataset/objects/prefetch"
	"github.com/penstock-go/penstock/dataset/shards"
	"github.com/penstock-go/penstock/loader"
	"github.com/penstock-go/penstock/sampler"
	"github.com/penstock-go/penstock/transform"
)

var (
	dir  = flag.String("dir", "examples/images/photos", "`folder` of images, with a folder per class")
	work = flag.String("work", "shards-example", "`folder` for the shards and the cache")
)

func main() {
	log.SetFlags(0)
	flag.Parse()
	if flag.NArg() > 0 {
		log.Fatalf("%q is no flag: see -h", flag.Arg(0))
	}
	if err := run(context.Background()); err != nil {
		log.Fatal(err)
	}
}

// pack writes the images of the folder as shards, in a random order, and returns the shards' names. A call that was
// interrupted is continued by the next one.
func pack(ctx context.Context, web string) (names []string, err error) {
	if err := os.MkdirAll(web, 0o777); err != nil {
		return nil, err
	}
	photos, err := dataset.ImageFolder(os.DirFS(*dir))
	if err != nil {
		return nil, err
	}
	order, list := sampler.Shuffle(photos.Len(), 3).Epoch(0), make([]int, photos.Len())
	for k := range list {
		list[k] = order.At(k)
	}
	mixed, err := dataset.Subset(photos, list) // so that a block has images of all classes
	if err != nil {
		return nil, err
	}
	columns := []shards.Column{{Field: "image", Extension: "jpg"}, {Field: "label", Extension: "cls"}}
	complete := filepath.Join(web, "complete")
	if _, err := os.Stat(complete); err != nil {
		err := shards.WriteTar(ctx, filepath.Join(web, "train-%04d.tar"), mixed, columns, shards.MaxShardBytes(256<<10), shards.Origin(*dir))
		if err != nil {
			return nil, err
		}
		if err := os.WriteFile(complete, nil, 0o666); err != nil {
			return nil, err
		}
	}
	return fs.Glob(os.DirFS(web), "train-*.tar")
}

func run(ctx context.Context) (err error) {
	web := filepath.Join(*work, "web")
	names, err := pack(ctx, web)
	if err != nil {
		return err
	}
	var requests atomic.Int64
	files := http.FileServer(http.Dir(web))
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		requests.Add(1)
		time.Sleep(30 * time.Millisecond)
		files.ServeHTTP(w, r)
	})}
	go server.Serve(listener)
	defer server.Close()
	var listing []objects.Object
	for _, name := range names {
		listing = append(listing, objects.Object{Name: name, Size: -1}) // the server is asked for the size
	}
	remote, err := objects.HTTP("http://"+listener.Addr().String(), objects.Listing(listing...))
	if err != nil {
		return err
	}
	client, err := objects.NewClient(remote) // which asks again, and a second server if there is one
	if err != nil {
		return err
	}
	// The server has another port in every run, so the cache is told that it is the same.
	cached, err := cache.New(client, filepath.Join(*work, "cache"), 64<<20, cache.BlockSize(1<<20), cache.Identity("shards"))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, cached.Close()) }()
	ahead, err := prefetch.New(cached)
	if err != nil {
		return err
	}
	fields := []shards.Field{shards.Bytes("image", "jpg"), shards.Scalar[int64]("label", "cls")}
	ds, err := shards.OpenSaved(ctx, ahead, shards.WebDataset(), names, filepath.Join(*work, "index"), fields, shards.BlockSize(64<<10))
	if err != nil {
		return err
	}
	images, err := transform.Images(ds, transform.Train(224))
	if err != nil {
		return err
	}
	order := sampler.Grouped(ds.Ends(), 7, sampler.Together(8)) // of whole blocks, eight of them mixed at a time
	l, err := loader.New(images, loader.BatchSize(8), loader.Sampler(order), loader.Skip(loader.NoLimit))
	if err != nil {
		return err
	}
	defer l.Close()
	for epoch := range 2 {
		begun, before, n := time.Now(), requests.Load(), 0
		for batch, err := range l.Epoch(ctx, epoch) {
			if err != nil {
				return err
			}
			n += batch.Len()
		}
		fmt.Printf("epoch %d: %d images in %v, %d requests\n", epoch, n, time.Since(begun).Round(time.Millisecond), requests.Load()-before)
	}
	fmt.Printf("ahead: %v\ncache: %v\n", ahead.Stats(), cached.Stats())
	return nil
}
