package s3_test

import (
	"context"
	"fmt"
	"log"

	awss3 "github.com/aws/aws-sdk-go-v2/service/s3"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/dataset/objects"
	"github.com/penstock-go/penstock/dataset/objects/s3"
)

// A folder of images in a bucket of a service that has the API of S3. The environment names
// its endpoint (AWS_ENDPOINT_URL_S3) and the credentials.
func Example() {
	ctx := context.Background()
	bucket, err := s3.Open(ctx, "photos", s3.Client(func(o *awss3.Options) { o.UsePathStyle = true }))
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
