package cache_test

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
)

// Images on a web server, which are requested once and then read from disk.
func Example() {
	day := time.Date(2026, 1, 2, 0, 0, 0, 0, time.UTC)
	web := httptest.NewServer(http.FileServerFS(fstest.MapFS{
		"cat/tom.jpg":   {Data: []byte("\xff\xd8 tom"), ModTime: day},
		"dog/pluto.jpg": {Data: []byte("\xff\xd8 pluto"), ModTime: day},
	}))
	defer web.Close()
	dir, err := os.MkdirTemp("", "photos")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)

	ctx := context.Background()
	version := day.Format(http.TimeFormat) // of files that a server serves without an ETag
	server, err := objects.HTTP(web.URL, objects.Listing(
		objects.Object{Name: "cat/tom.jpg", Size: 6, Version: version},
		objects.Object{Name: "dog/pluto.jpg", Size: 8, Version: version},
	))
	if err != nil {
		log.Fatal(err)
	}
	client, err := objects.NewClient(server)
	if err != nil {
		log.Fatal(err)
	}
	blocks, err := cache.New(client, dir, 10<<30)
	if err != nil {
		log.Fatal(err)
	}
	defer blocks.Close()
	fsys, err := objects.NewFS(ctx, blocks, "")
	if err != nil {
		log.Fatal(err)
	}
	photos, err := dataset.ImageFolder(fsys)
	if err != nil {
		log.Fatal(err)
	}
	for range 2 { // epochs
		for i := range photos.Len() {
			if _, err := dataset.At(ctx, photos, i); err != nil {
				log.Fatal(err)
			}
		}
	}
	fmt.Println(client.Stats().Requests, "requests, one for the listing")
	fmt.Println(blocks.Stats())
	// Output:
	// 3 requests, one for the listing
	// 50.0% hits (2 of 4 reads), 14 B read from disk, 14 B from the store; 22 B of 10 GiB used
}
