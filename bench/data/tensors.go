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

// Image is the spec of a preprocessed image of size×size pixels: a field "image" of shape (3, size, size).
func Image(dtype dataset.Dtype, size int) dataset.Spec {
	return dataset.Spec{{Name: "image", Dtype: dtype, Shape: dataset.Shape{3, size, size}}}
}

// Items makes n preprocessed images (see [Image]) of uint8 or float32, one raw file per image in the machine's byte
// order, as [packed.Items] reads them, and returns the folder in root that holds them. Their content is noise, which
// does not change the time of a copy.
func Items(ctx context.Context, root string, n int, dtype dataset.Dtype, size int) (dir string, err error) {
	return made(root, fmt.Sprintf("items-%v-%d", dtype, size), n, 1_000_000, func(dir string) error {
		return packed.WriteItems(ctx, dir, dataset.Func(n, Image(dtype, size), func(_ context.Context, i int, dst dataset.Slot) error {
			r := rand.NewPCG(uint64(i), 1)
			if dtype == dataset.Uint8 {
				for row := dataset.Row[uint8](dst, 0); len(row) > 0; row = row[1:] {
					row[0] = byte(r.Uint64() >> 56)
				}
				return nil
			}
			for row := dataset.Row[float32](dst, 0); len(row) > 0; row = row[1:] {
				row[0] = float32(r.Uint64()>>40)/(1<<22) - 2
			}
			return nil
		}))
	})
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
