package azure_test

import (
	"context"
	"fmt"
	"log"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/dataset/objects"
	"github.com/penstock-go/penstock/dataset/objects/azure"
)

// A folder of images in a container. The credentials are those of the environment, of the
// machine's identity or of the program az.
func Example() {
	photos, err := azure.Open("https://myaccount.blob.core.windows.net/photos")
	if err != nil {
		log.Fatal(err)
	}
	client, err := objects.NewClient(photos)
	if err != nil {
		log.Fatal(err)
	}
	fsys, err := objects.NewFS(context.Background(), client, "train")
	if err != nil {
		log.Fatal(err)
	}
	images, err := dataset.ImageFolder(fsys)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(images)
}
