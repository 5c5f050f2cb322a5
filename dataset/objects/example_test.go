package objects_test

import (
	"context"
	"fmt"
	"log"
	"net/http"
	"net/http/httptest"
	"testing/fstest"
	"time"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/dataset/objects"
)

// A folder of images on a web server, which has a list of its files.
func Example() {
	day := time.Date(2026, 1, 2, 0, 0, 0, 0, time.UTC)
	web := httptest.NewServer(http.FileServerFS(fstest.MapFS{
		"photos/cat/tom.jpg":   {Data: []byte("\xff\xd8 tom"), ModTime: day},
		"photos/dog/pluto.jpg": {Data: []byte("\xff\xd8 pluto"), ModTime: day},
		"photos/index.txt":     {Data: []byte("cat/tom.jpg\t6\ndog/pluto.jpg\t8\n"), ModTime: day},
	}))
	defer web.Close()

	ctx := context.Background()
	server, err := objects.HTTP(web.URL+"/photos", objects.Index("index.txt"))
	if err != nil {
		log.Fatal(err)
	}
	client, err := objects.NewClient(server)
	if err != nil {
		log.Fatal(err)
	}
	fsys, err := objects.NewFS(ctx, client, "")
	if err != nil {
		log.Fatal(err)
	}
	photos, err := dataset.ImageFolder(fsys)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(photos, photos.Classes())
	for i := range photos.Len() {
		sample, err := dataset.At(ctx, photos, i)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(photos.Name(i), sample["image"].Shape(), sample["label"].Data())
	}
	stats := client.Stats()
	fmt.Println(stats.Requests, "requests,", stats.Bytes, "bytes")
	// Output:
	// 2 images of 2 classes [cat dog]
	// cat/tom.jpg (6) 0
	// dog/pluto.jpg (8) 1
	// 3 requests, 14 bytes
}

// Objects whose URLs are signed, one by one, by a service or by a key.
func ExampleSign() {
	presign := func(ctx context.Context, name string) (string, error) {
		return "https://bucket.example.org/" + name + "?X-Amz-Signature=…", nil
	}
	server, err := objects.HTTP("", objects.Sign(presign), objects.Listing(objects.Object{Name: "train/0.tar", Size: -1}, objects.Object{Name: "train/1.tar", Size: -1}))
	if err != nil {
		log.Fatal(err)
	}
	client, err := objects.NewClient(server, objects.Silence(20*time.Second), objects.Retries(12))
	if err != nil {
		log.Fatal(err)
	}
	for o, err := range client.List(context.Background(), "train/") {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(o.Name)
	}
	// Output:
	// train/0.tar
	// train/1.tar
}
