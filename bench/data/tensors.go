package data

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"path/filepath"
	"strings"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/dataset/packed"
)

// Image is the spec of a preprocessed image of size×size pixels: a field "image" of dtype
// float32 and shape (3, size, size).
func Image(size int) dataset.Spec {
	return dataset.Spec{{Name: "image", Dtype: dataset.Float32, Shape: dataset.Shape{3, size, size}}}
}

// images is a dataset of n normalised images of noise. Their content does not change the time
// of a copy.
func images(n, size int) dataset.Dataset {
	return dataset.Func(n, Image(size), func(_ context.Context, i int, dst dataset.Slot) error {
		r := rand.NewPCG(uint64(i), 1)
		for row := dataset.Row[float32](dst, 0); len(row) > 0; row = row[1:] {
			row[0] = float32(r.Uint64()>>40)/(1<<22) - 2
		}
		return nil
	})
}

// Items makes n preprocessed images (see [Image]), one file of raw float32 per image, as
// [packed.Items] reads them, and returns the folder in root that holds them. The files have the
// machine's byte order. With size 224 a file has 602,112 bytes.
func Items(ctx context.Context, root string, n, size int) (dir string, err error) {
	return made(root, fmt.Sprintf("items%d", size), n, 1_000_000, func(dir string) error {
		return packed.WriteItems(ctx, dir, images(n, size))
	})
}

// Packed makes the same images as [Items] in one file, as [packed.OpenRaw] reads it, and returns
// the file's path.
func Packed(ctx context.Context, root string, n, size int) (file string, err error) {
	const name = "items.bin"
	dir, err := made(root, fmt.Sprintf("packed%d", size), n, 1_000_000, func(dir string) error {
		return create(filepath.Join(dir, name), func(w io.Writer) error {
			return packed.WriteRaw(ctx, w, images(n, size))
		})
	})
	return filepath.Join(dir, name), err
}

// CIFAR100 makes a folder in the format of cifar-100-binary and returns it. Its training part has
// n images (50,000 in the original), and its test part is missing. The images are gradients with
// noise, with one colour per class.
func CIFAR100(ctx context.Context, root string, n int) (dir string, err error) {
	return made(root, "cifar100", n, 1_000_000, func(dir string) error {
		for _, names := range []struct {
			file  string
			count int
		}{{"fine_label_names.txt", 100}, {"coarse_label_names.txt", 20}} {
			if err := create(filepath.Join(dir, names.file), func(w io.Writer) error {
				var b strings.Builder
				for i := range names.count {
					fmt.Fprintf(&b, "class_%02d\n", i)
				}
				_, err := io.WriteString(w, b.String())
				return err
			}); err != nil {
				return err
			}
		}
		return create(filepath.Join(dir, "train.bin"), func(w io.Writer) error {
			b := bufio.NewWriter(w)
			err := dataset.Each(ctx, tiny(n), func(_ int, s dataset.Slot) error {
				b.Write([]byte{byte(dataset.Row[int64](s, 2)[0]), byte(dataset.Row[int64](s, 1)[0])})
				_, err := b.Write(dataset.Row[uint8](s, 0))
				return err
			})
			return errors.Join(err, b.Flush())
		})
	})
}

func tiny(n int) dataset.Dataset {
	spec := dataset.Spec{
		{Name: "image", Dtype: dataset.Uint8, Shape: dataset.Shape{3, 32, 32}},
		{Name: "label", Dtype: dataset.Int64, Shape: dataset.Shape{}},
		{Name: "coarse", Dtype: dataset.Int64, Shape: dataset.Shape{}},
	}
	return dataset.Func(n, spec, func(_ context.Context, i int, dst dataset.Slot) error {
		r := rand.NewPCG(uint64(i), 2)
		class := int64(i % 100)
		row := dataset.Row[uint8](dst, 0)
		for k := 0; k+8 <= len(row); k += 8 {
			y, c := k/32%32, k/1024
			level := uint64(y)*3 + uint64(class)*uint64(c+1)%128
			binary.LittleEndian.PutUint64(row[k:], r.Uint64()&0x1f1f1f1f1f1f1f1f+level*0x0101010101010101&0x7f7f7f7f7f7f7f7f)
		}
		dataset.Set(dst, 1, class)
		dataset.Set(dst, 2, class/5)
		return nil
	})
}
