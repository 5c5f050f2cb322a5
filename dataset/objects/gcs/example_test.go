package gcs_test

import (
	"context"
	"fmt"
	"log"

	"google.golang.org/api/option"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/dataset/objects"
	"github.com/penstock-go/penstock/dataset/objects/gcs"
)

// A folder of images in a public bucket.
func Example() {
	ctx := context.Background()
	bucket, err := gcs.Open(ctx, "photos", gcs.Client(option.WithoutAuthentication()))
	if err != nil {
		log.Fatal(err)
	}
	client, err := objects.NewClient(bucket)
	if err != nil {
		log.Fatal(err)
	}
	fsys, err := objects.NewFS(ctx, client, "train")
	if err != nil {
		log.Fatal(err)
	}
	images, err := dataset.ImageFolder(fsys)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(images)
}
