// Clips loads clips of 8 frames and draws a batch in clips.png, a clip per row. All frames of a clip have the same random
// crop, flip and colours.
//
//	go run ./examples/clips [-dir FOLDER] [-sheet FILE]
//
// Without -dir the clips are GIF files that the program paints. With it they are of the videos in a folder, at any depth,
// which needs ffmpeg; if there is none, folders of frames are clips.
package main

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"image"
	"image/color"
	"image/gif"
	"log"
	"math/rand/v2"
	"os"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/dataset/video"
	"github.com/penstock-go/penstock/loader"
	"github.com/penstock-go/penstock/transform"
	"github.com/penstock-go/penstock/transform/sheet"
)

const (
	frames = 8 // of a clip
	side   = 112
	rows   = 6 // clips in a batch
)

// painted is a dataset of n GIF files, in which a disc moves over stripes.
func painted(n int) dataset.Dataset {
	spec := dataset.Spec{{Name: "image", Dtype: dataset.Uint8, Ragged: true, Kind: dataset.Image}} // a file
	return dataset.Func(n, spec, func(_ context.Context, i int, dst dataset.Slot) error {
		var file bytes.Buffer
		if err := gif.EncodeAll(&file, paint(rand.New(rand.NewPCG(uint64(i), 5)))); err != nil {
			return err
		}
		copy(dataset.Grow[uint8](dst, 0, file.Len()), file.Bytes())
		return nil
	})
}

// paint paints 20 to 39 frames. Each but the first holds only the part that has changed.
func paint(r *rand.Rand) *gif.GIF {
	const w, h, radius = 200, 150, 28
	var palette color.Palette
	for range 4 {
		palette = append(palette, color.RGBA{uint8(r.IntN(256)), uint8(r.IntN(256)), uint8(r.IntN(256)), 255})
	}
	width, slope := 8+r.IntN(20), 1+r.IntN(2)
	x, y, dx, dy := radius+r.IntN(w-2*radius), radius+r.IntN(h-2*radius), 3+r.IntN(4), 2+r.IntN(4)
	all := &gif.GIF{Config: image.Config{Width: w, Height: h}}
	changed := image.Rect(0, 0, w, h)
	for range 20 + r.IntN(20) {
		m := image.NewPaletted(changed, palette)
		for py := changed.Min.Y; py < changed.Max.Y; py++ {
			for px := changed.Min.X; px < changed.Max.X; px++ {
				c := (px + slope*py) / width % 2
				if (px-x)*(px-x)+(py-y)*(py-y) < radius*radius {
					c = 2 + (px-x+radius)/16%2
				}
				m.SetColorIndex(px, py, uint8(c))
			}
		}
		all.Image, all.Delay = append(all.Image, m), append(all.Delay, 4)
		if x+dx < radius || x+dx > w-radius {
			dx = -dx
		}
		if y+dy < radius || y+dy > h-radius {
			dy = -dy
		}
		before := image.Rect(x-radius, y-radius, x+radius, y+radius)
		x, y = x+dx, y+dy
		changed = before.Union(before.Add(image.Pt(dx, dy))).Intersect(image.Rect(0, 0, w, h))
	}
	return all
}

// opened are clips of the videos in a folder, or of its folders of frames.
func opened(ctx context.Context, dir string) (dataset.Dataset, error) {
	sampling := video.ClipsAtRandomIndices(1, frames, video.NumIndicesBetweenFrames(3))
	videos, err := video.Open(ctx, dir, sampling, video.NoClasses())
	if err == nil {
		return videos, nil
	}
	folder, other := dataset.ImageFolder(os.DirFS(dir), dataset.NoClasses())
	if other != nil {
		return nil, fmt.Errorf("no videos: %w; no frames: %w", err, other)
	}
	return video.Frames(folder, sampling)
}

func main() {
	log.SetFlags(0)
	dir := flag.String("dir", "", "`folder` of videos or of folders of frames (default: painted GIF files)")
	file := flag.String("sheet", "clips.png", "PNG `file`: where to draw the first batch")
	flag.Parse()
	if flag.NArg() > 0 {
		log.Fatalf("%q is no flag: see -h", flag.Arg(0))
	}
	if err := run(context.Background(), *dir, *file); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context, dir, file string) error {
	clips, err := painted(24), error(nil)
	if dir != "" {
		if clips, err = opened(ctx, dir); err != nil {
			return err
		}
	}
	ds, err := transform.Images(clips, transform.UniformTemporalSubsample(frames),
		transform.RandomResizedCrop(side, transform.Scale(0.3, 1)), transform.RandomHorizontalFlip(0.5), transform.ColorJitter(0.4, 0.4, 0.4, 0.1), transform.ToTensor())
	if err != nil {
		return err
	}
	fmt.Println(ds)
	l, err := loader.New(ds, loader.BatchSize(rows), loader.Shuffle(true), loader.Seed(1))
	if err != nil {
		return err
	}
	defer l.Close()
	for batch, err := range l.Epoch(ctx, 0) {
		if err != nil {
			return err
		}
		values := loader.Values[float32](batch, "image") // (rows, frames, 3, side, side)
		s := sheet.New(frames, batch.Len(), side, side)
		for k := range batch.Len() * frames {
			s.Image(k, values[k*3*side*side:], side, side)
		}
		fmt.Printf("%d clips of %d frames are drawn in %s\n", batch.Len(), frames, file)
		return s.Save(file)
	}
	return nil
}
