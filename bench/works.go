package bench

import (
	"context"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"

	"github.com/penstock-go/penstock/bench/data"
	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/dataset/classic"
	"github.com/penstock-go/penstock/dataset/packed"
	"github.com/penstock-go/penstock/dataset/tokens"
	"github.com/penstock-go/penstock/dataset/video"
	"github.com/penstock-go/penstock/dataset/volume"
	"github.com/penstock-go/penstock/transform"
)

// Data returns the folder of a cell's data below root, which it makes up if there is none.
func (c Cell) Data(ctx context.Context, root string) (string, error) {
	switch c.Work {
	case "bytes", "slow", "eval", "train", "decode":
		return data.Photos(ctx, root, 334)
	case "items":
		return data.Items(ctx, root, 2048, dataset.Uint8, c.Size)
	case "preprocessed":
		return data.Items(ctx, root, 256, dataset.Float32, c.Size)
	case "cifar100":
		return data.CIFAR100(ctx, root, 50_000)
	case "volumes":
		return data.Volumes(ctx, root, 8)
	case "clips":
		return data.Clips(ctx, root, min(clips, c.Samples), data.H264, 30)
	case "clips, long GOP":
		return data.Clips(ctx, root, min(clips, c.Samples), data.H264, 250)
	case "clips, VP9":
		return data.Clips(ctx, root, min(clips, c.Samples), data.VP9, 30)
	case "rows", "documents":
		return data.Tokens(ctx, root, 62_000)
	}
	return "", fmt.Errorf("bench: %s: there is no such work", c.Work)
}

const clips = 256 // videos, at most

// Open returns the cell's dataset, repeated to its number of samples. Its first field is the one whose mean
// other libraries must have, too.
//
// The works are bytes, photos as uint8 of shape (3, size, size); slow, the same from files as slow as over a network; eval and train, photos with these presets as
// float32; decode, whole photos of bytes, (height, width, 3), from files in memory; items and preprocessed, files of uint8 and float32, one for each sample; cifar100; volumes, the
// slices of patients in three views; clips, 16 frames of a video as uint8 of shape (16, 3, size, size), each the second after the one before; and as int64 rows, of tokens and one that follows, and documents packed into rows as by Megatron.
func (c Cell) Open(ctx context.Context) (dataset.Dataset, error) {
	ds, err := c.open(ctx, os.DirFS(c.Folder))
	if err != nil || c.Samples == ds.Len() {
		return ds, err
	}
	indices := make([]int, c.Samples)
	for i := range indices {
		indices[i] = i % ds.Len()
	}
	return dataset.Subset(ds, indices)
}

func (c Cell) open(ctx context.Context, fsys fs.FS) (dataset.Dataset, error) {
	switch c.Work {
	case "bytes":
		return photos(fsys, transform.Compose(transform.Resize((c.Size*256+112)/224), transform.CenterCrop(c.Size), transform.PILToTensor()))
	case "slow":
		c.Work = "bytes"
		return c.open(ctx, slow.FS(fsys))
	case "eval":
		return photos(fsys, transform.Eval(c.Size))
	case "train":
		return photos(fsys, transform.Train(c.Size))
	case "decode":
		files, err := dataset.ImageFolder(fsys)
		if err != nil {
			return nil, err
		}
		memory, err := dataset.Cached(files, math.MaxInt64)
		if err != nil {
			return nil, err
		}
		return transform.Images(memory, transform.PILToTensor(), transform.Layout(transform.HWC), transform.Ragged(), transform.Sizes("size"))
	case "items":
		return packed.Items(fsys, "*.raw", data.Image(dataset.Uint8, c.Size))
	case "preprocessed":
		return packed.Items(fsys, "*.raw", data.Image(dataset.Float32, c.Size))
	case "cifar100":
		images, err := classic.CIFAR100(fsys, classic.Train)
		if err != nil {
			return nil, err
		}
		half := []float32{0.5, 0.5, 0.5}
		return transform.Images(images, transform.ToTensor(), transform.Normalize(half, half))
	case "volumes":
		var sources []volume.Option
		for _, v := range data.VolumeNames {
			source := volume.Scan
			if v.Mask {
				source = volume.Mask
			}
			sources = append(sources, source(v.Name, "{patient}/"+v.Name+".nrrd"))
		}
		cohort, err := volume.Open(fsys, sources...)
		if err != nil {
			return nil, err
		}
		return cohort.Slices(ctx, volume.Views("axial", "coronal", "sagittal"), volume.SliceShape(data.VolumeShape[1], data.VolumeShape[2]))
	case "clips", "clips, long GOP", "clips, VP9":
		frames, err := video.Open(ctx, c.Folder, video.ClipsAtRandomIndices(1, 16, video.NumIndicesBetweenFrames(2)), video.NoClasses(), video.Index(c.Folder+".index"))
		if err != nil {
			return nil, err
		}
		return transform.Images(frames, transform.UniformTemporalSubsample(16), transform.Resize([2]int{c.Size, c.Size}), transform.PILToTensor())
	case "rows":
		f, err := tokens.Open(fsys, "tokens.bin", tokens.Raw(dataset.Uint16), tokens.As(dataset.Int64))
		if err != nil {
			return nil, err
		}
		return f.Rows(Length+1, Length)
	case "documents":
		f, err := tokens.Open(fsys, "tokens.idx", tokens.As(dataset.Int64))
		if err != nil {
			return nil, err
		}
		lengths, err := f.Lengths(ctx)
		if err != nil {
			return nil, err
		}
		return tokens.Pack(f, lengths, Length, tokens.Wrap, tokens.Megatron(c.Samples, 1234),
			tokens.Fields("input_ids", "labels", "position_ids", "loss_mask"))
	}
	return nil, fmt.Errorf("bench: %s: there is no such work", c.Work)
}

const packedName = "photos.packed"

// photos are those of a folder, or of the file that PackPhotos has made there.
func photos(fsys fs.FS, steps ...transform.Item) (dataset.Dataset, error) {
	var ds dataset.Dataset
	var err error
	if _, missing := fs.Stat(fsys, packedName); missing == nil {
		ds, err = packed.Open(fsys, packedName)
	} else {
		ds, err = dataset.ImageFolder(fsys)
	}
	if err != nil {
		return nil, err
	}
	return transform.Images(ds, steps...)
}

// PackPhotos codes the photos of a folder anew into one file in another folder, which Open then reads.
func PackPhotos(ctx context.Context, from, to string, level packed.Level) error {
	ds, err := dataset.ImageFolder(os.DirFS(from))
	if err != nil {
		return err
	}
	photos, err := packed.Photos(ds, level)
	if err != nil {
		return err
	}
	f, err := os.Create(filepath.Join(to, packedName))
	if err != nil {
		return err
	}
	defer f.Close()
	if err := packed.Write(ctx, f, photos); err != nil {
		return err
	}
	return f.Close()
}
