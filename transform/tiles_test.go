package transform_test

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/loader"
	"github.com/penstock-go/penstock/transform"
)

// twoByTwo is four tiles of 10×12 pixels of a part of the image, with black around them, and the whole image.
func twoByTwo(h, w int) (all []transform.Tile) {
	for k := range 4 {
		all = append(all, transform.Tile{Crop: [4]int{1, 2, h - 3, w - 4}, Resize: [2]int{15, 20}, Top: k/2*10 - 3, Left: k%2*12 - 2})
	}
	all = append(all, transform.Tile{Resize: [2]int{10, 12}})
	if w > 50 {
		all = append(all, transform.Tile{Top: 500})
	}
	return all
}

func TestTilesArePartsOfTheImage(t *testing.T) {
	photos, files := sizedPhotos(t)
	filter := transform.Interpolation(transform.Bicubic)
	normalize := transform.Normalize(transform.ImageNetMean, transform.ImageNetStd)
	for _, axes := range []transform.Axes{transform.CHW, transform.HWC} {
		list := []transform.Item{
			transform.RandomHorizontalFlip(1), transform.Tiles([2]int{10, 12}, "two by two", twoByTwo, filter), transform.ToTensor(), normalize,
			transform.Layout(axes), transform.Ragged(),
		}
		p, err := transform.Compile(list...)
		if err != nil {
			t.Fatal(err)
		}
		x, err := transform.Images(photos, append(list, transform.Sizes("size"))...)
		if err != nil {
			t.Fatal(err)
		}
		l, err := loader.New(x, loader.Workers(2), loader.BatchSize(5))
		if err != nil {
			t.Fatal(err)
		}
		for batch, err := range l.Epoch(t.Context(), 0) {
			if err != nil {
				t.Fatal(err)
			}
			all, ends := loader.Values[float32](batch, "image"), batch.Offsets("image")
			for row, i := range batch.Indices() {
				values, h, w, err := p.Append(nil, transform.File(files[i]))
				if err != nil || h != 10 || w != 12 {
					t.Fatal(h, w, err)
				}
				if got := all[360*ends[row] : 360*ends[row+1]]; !slices.Equal(got, values) {
					t.Errorf("image %d: %d values, other ones than the %d of Append", i, len(got), len(values))
				}
				size := raggedSizes[i]
				tiles := twoByTwo(size.Y, size.X)
				if len(values) != 360*len(tiles) {
					t.Fatalf("image %d: %d values of %d tiles", i, len(values), len(tiles))
				}
				for k, tile := range tiles {
					alone := []transform.Item{transform.RandomHorizontalFlip(1)}
					if c := tile.Crop; c[2] > 0 {
						alone = append(alone, transform.Crop(c[0], c[1], c[2], c[3]))
					}
					if tile.Resize[0] > 0 {
						alone = append(alone, transform.Resize(tile.Resize, filter))
					}
					q, err := transform.Compile(append(alone, transform.Crop(tile.Top, tile.Left, 10, 12), transform.ToTensor(), normalize, transform.Layout(axes))...)
					if err != nil {
						t.Fatal(err)
					}
					want := make([]float32, 360)
					if err := q.Into(want, transform.File(files[i])); err != nil {
						t.Fatal(err)
					}
					if !slices.Equal(values[360*k:][:360], want) {
						t.Errorf("image %d, tile %d: other values", i, k)
					}
				}
			}
		}
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// TestSizesFuncSeesTheImageThatIsCut has a step before Tiles that changes the size.
func TestSizesFuncSeesTheImageThatIsCut(t *testing.T) {
	sizes := func(image, result [2]int, out []int64) {
		out[0], out[1], out[2], out[3] = int64(image[0]), int64(image[1]), int64(result[0]), int64(result[1])
	}
	p, err := transform.Compile(transform.Resize([2]int{20, 30}), transform.Tiles([2]int{10, 12}, "two by two", twoByTwo), transform.ToTensor(),
		transform.SizesFunc("sizes", dataset.Shape{4}, sizes), transform.Ragged())
	if err != nil {
		t.Fatal(err)
	}
	_, numbers, err := p.AppendAll(nil, nil, transform.RGB(make([]uint8, 3*50*40), 50, 40))
	if want := []int64{20, 30, 10, 12}; err != nil || !slices.Equal(numbers, want) {
		t.Errorf("sizes %v, error %v, want %v", numbers, err, want)
	}
}

func TestWrongTilesAreErrors(t *testing.T) {
	_, files := sizedPhotos(t)
	one := func(tile transform.Tile, more ...transform.Item) []transform.Item {
		of := func(_, _ int) []transform.Tile { return []transform.Tile{tile} }
		return append([]transform.Item{transform.Tiles(8, "one", of), transform.Ragged()}, more...)
	}
	none := func(_, _ int) []transform.Tile { return nil }
	for _, c := range []struct {
		list []transform.Item
		want string
	}{
		{one(transform.Tile{}, transform.CenterCrop(4)), `CenterCrop(4): must come before Tiles(8, one)`},
		{one(transform.Tile{}, transform.ToTensor(), transform.RandomErasing(1)), `must come before Tiles`},
		{one(transform.Tile{}, transform.ToTensor(), transform.Patches(4, transform.MaxPatches(9))), `Patches(4, MaxPatches(9)): want no MaxPatches with Tiles`},
		{one(transform.Tile{Size: [2]int{6, 8}}, transform.ToTensor(), transform.Patches(4)), `Patches: the image has 6×8 pixels (height×width): want multiples of 4`},
		{one(transform.Tile{Size: [2]int{4, 8}}, transform.ToTensor()), `Tiles(8, one): a tile of 4×8 pixels, want the size of all unless Patches follows`},
		{one(transform.Tile{Size: [2]int{-4, 8}}, transform.ToTensor(), transform.Patches(4)), `Tiles(8, one): a tile of -4×8 pixels`},
		{one(transform.Tile{}, transform.ToTensor(), transform.PadTo(9)), `PadTo(9): must come before Tiles`},
		{one(transform.Tile{})[:1], `the size varies from image to image after Tiles(8, one): add Ragged()`},
		{[]transform.Item{transform.ToTensor(), transform.Tiles(8, "one", none), transform.Ragged()}, "must come before ToTensor"},
		{[]transform.Item{transform.Tiles(0, "one", none), transform.Ragged()}, "want a positive size"},
		{[]transform.Item{transform.Tiles(8, "one", nil), transform.Ragged()}, "the function is nil"},
		{[]transform.Item{transform.Tiles(8, "none", none), transform.ToTensor(), transform.Ragged()}, `Tiles(8, none): an image of 30×40 pixels (height×width) has no tiles`},
		{one(transform.Tile{Crop: [4]int{0, 30, 10, 11}}, transform.ToTensor()), "is not within"},
		{one(transform.Tile{Crop: [4]int{0, 0, 10, 0}}, transform.ToTensor()), "is not within"},
		{one(transform.Tile{Resize: [2]int{0, 5}}, transform.ToTensor()), "would become 0×5"},
		{one(transform.Tile{Crop: [4]int{math.MaxInt/2 + 1, math.MaxInt/2 + 1, math.MaxInt/2 + 1, math.MaxInt/2 + 1}}, transform.ToTensor()), "is not within"},
		{[]transform.Item{transform.Tiles(800, "many", twoByTwo), transform.ToTensor(), transform.Ragged(), transform.MaxPixels(1 << 20)}, "5 tiles are more pixels than the limit"},
	} {
		p, err := transform.Compile(c.list...)
		if err == nil {
			_, _, _, err = p.Append(nil, transform.File(files[0]))
		}
		if err == nil || !strings.Contains(err.Error(), c.want) || !strings.HasPrefix(err.Error(), "transform: ") {
			t.Errorf("%v: error %v, want %s", c.list, err, c.want)
		}
	}
}

// A large image becomes tiles at its own size, with a small picture of the whole first.
func ExampleTiles() {
	tiles := transform.Tiles(2, "the whole, and all of it", func(h, w int) []transform.Tile {
		all := []transform.Tile{{Resize: [2]int{2, 2}}}
		for top := 0; top < h; top += 2 {
			for left := 0; left < w; left += 2 {
				all = append(all, transform.Tile{Top: top, Left: left})
			}
		}
		return all
	})
	sample := first(tiles, transform.ToTensor(), transform.Ragged(), transform.Sizes("size"))
	fmt.Println(len(dataset.ValuesOf[float32](sample["image"]))/12, sample["size"].Data())
	// Output: 13 [2 2]
}
