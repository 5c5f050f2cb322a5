package prefetch_test

import (
	"context"
	"fmt"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"testing/fstest"
	"time"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/dataset/objects"
	"github.com/penstock-go/penstock/dataset/objects/cache"
	"github.com/penstock-go/penstock/dataset/objects/prefetch"
	"github.com/penstock-go/penstock/loader"
)

// Two epochs over images on a web server. The local disk has room for all of them.
func Example() {
	day := time.Date(2026, 1, 2, 0, 0, 0, 0, time.UTC)
	files, names := fstest.MapFS{}, []objects.Object(nil)
	for i := range 100 {
		data := fmt.Appendf(nil, "\xff\xd8 image %d", i)
		name := fmt.Sprintf("class%d/%d.jpg", i%10, i)
		files[name] = &fstest.MapFile{Data: data, ModTime: day}
		names = append(names, objects.Object{Name: name, Size: int64(len(data)), Version: day.Format(http.TimeFormat)})
	}
	web := httptest.NewServer(http.FileServerFS(files))
	defer web.Close()
	dir, err := os.MkdirTemp("", "photos")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)

	ctx := context.Background()
	server, err := objects.HTTP(web.URL, objects.Listing(names...))
	if err != nil {
		log.Fatal(err)
	}
	client, err := objects.NewClient(server, objects.Hedge(0))
	if err != nil {
		log.Fatal(err)
	}
	disk, err := cache.New(client, dir, 10<<30)
	if err != nil {
		log.Fatal(err)
	}
	defer disk.Close()
	ahead, err := prefetch.New(disk, prefetch.MaxBytes(64<<20))
	if err != nil {
		log.Fatal(err)
	}
	fsys, err := objects.NewFS(ctx, ahead, "")
	if err != nil {
		log.Fatal(err)
	}
	photos, err := dataset.ImageFolder(fsys)
	if err != nil {
		log.Fatal(err)
	}
	l, err := loader.New(photos, loader.BatchSize(10), loader.Shuffle(true))
	if err != nil {
		log.Fatal(err)
	}
	defer l.Close()
	for epoch := range 2 {
		before := client.Stats().Requests
		images := 0
		for batch, err := range l.Epoch(ctx, epoch) {
			if err != nil {
				log.Fatal(err)
			}
			images += batch.Len()
		}
		fmt.Println(images, "images,", client.Stats().Requests-before, "requests")
	}
	// Output:
	// 100 images, 100 requests
	// 100 images, 0 requests
}
