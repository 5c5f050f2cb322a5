package data_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"strings"

	"github.com/penstock-go/penstock/bench/data"
	"github.com/penstock-go/penstock/dataset/packed"
)

// Everything that the benchmarks load, made small. What is made stays: another
// call finds it.
func Example() {
	ctx := context.Background()
	root, err := data.Root()
	if err != nil {
		log.Fatal(err)
	}
	const size = 16
	for _, make := range []func() (string, error){
		func() (string, error) { return data.Photos(ctx, root, 2*data.Classes) },
		func() (string, error) { return data.Items(ctx, root, 4, size) },
		func() (string, error) { return data.Packed(ctx, root, 4, size) },
		func() (string, error) { return data.CIFAR100(ctx, root, 100) },
		func() (string, error) { return data.Volumes(ctx, root, 1) },
	} {
		path, err := make()
		if err != nil {
			log.Fatal(err)
		}
		relative := strings.TrimPrefix(path, root)
		fmt.Println(filepath.ToSlash(relative))
		if !strings.HasPrefix(filepath.Base(path), "items16-") {
			continue
		}
		items, err := packed.Items(os.DirFS(path), "*.raw", data.Picture(size))
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(items.Len(), "of", items.Spec())
	}
	fmt.Println(data.VolumeShape, data.VolumeNames)
	// Output:
	// /photos-20-v1
	// /items16-4-v1
	// 4 of image float32 (3, 16, 16)
	// /packed16-4-v1/items.bin
	// /cifar100-100-v1
	// /volumes-1-v1
	// [48 128 128] [{ct false} {pet false} {truth true} {prediction true}]
}
