package transform_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/penstock-go/penstock/loader"
	"github.com/penstock-go/penstock/transform"
)

// TestTileFuncIsACropAResizeAndAPadding compares it with steps that do this one after the other.
func TestTileFuncIsACropAResizeAndAPadding(t *testing.T) {
	_, files := sizedPhotos(t)
	filter, fill := transform.Interpolation(transform.Bicubic), transform.Fill(9, 99, 200)
	symmetric := transform.PaddingMode(transform.Symmetric)
	resize := transform.Resize([2]int{15, 20}, filter)
	for i, data := range files {
		w, h := raggedSizes[i].X, raggedSizes[i].Y
		for _, c := range []struct {
			tile    transform.Tile
			options []transform.Option
			steps   []transform.Item
		}{
			{
				transform.Tile{Crop: [4]int{1, 2, h - 3, w - 4}, Resize: [2]int{15, 20}, Top: -3, Left: 2, Size: [2]int{21, 12}}, []transform.Option{filter, fill},
				[]transform.Item{transform.Crop(1, 2, h-3, w-4), resize, transform.Pad([4]int{0, 3, 0, 3}, fill), transform.Crop(0, 2, 21, 12)},
			},
			{transform.Tile{Resize: [2]int{15, 20}}, []transform.Option{filter}, []transform.Item{resize}},
			{
				transform.Tile{Resize: [2]int{15, 20}, Top: -20, Size: [2]int{70, 45}}, []transform.Option{filter, symmetric},
				[]transform.Item{resize, transform.Pad([4]int{0, 20, 25, 35}, symmetric)},
			},
			{transform.Tile{Size: [2]int{h + 1, w}}, nil, []transform.Item{transform.Pad([4]int{0, 0, 0, 1})}},
			{transform.Tile{}, nil, nil},
		} {
			values := func(steps ...transform.Item) []float32 {
				p, err := transform.Compile(slices.Concat([]transform.Item{transform.RandomVerticalFlip(1)}, steps, []transform.Item{transform.ToTensor(), transform.Ragged()})...)
				if err != nil {
					t.Fatal(err)
				}
				out, _, _, err := p.Append(nil, transform.File(data))
				if err != nil {
					t.Fatal(err)
				}
				return out
			}
			step := transform.TileFunc("rule", func(height, width int) transform.Tile {
				if height != h || width != w {
					t.Errorf("an image of %d×%d, want %d×%d", height, width, h, w)
				}
				return c.tile
			}, c.options...)
			if !slices.Equal(values(step), values(c.steps...)) {
				t.Errorf("image %d, %v: other values", i, c.tile)
			}
		}
	}
}

func TestWrongTileFuncIsAnError(t *testing.T) {
	_, files := sizedPhotos(t)
	one := func(tile transform.Tile) transform.Step {
		return transform.TileFunc("one", func(_, _ int) transform.Tile { return tile })
	}
	for _, c := range []struct {
		step transform.Step
		want string
	}{
		{transform.TileFunc("none", nil), "TileFunc(none): the function is nil"},
		{one(transform.Tile{Size: [2]int{0, 5}}), "TileFunc(one): a tile of 0×5 pixels"},
		{one(transform.Tile{Size: [2]int{-1, -1}}), "TileFunc(one): a tile of -1×-1 pixels"},
		{one(transform.Tile{Size: [2]int{1 << 20, 1 << 20}}), "more than the limit"},
		{one(transform.Tile{Resize: [2]int{5, -1}}), "TileFunc(one): 30×40 pixels (height×width) would become 5×-1"},
		{one(transform.Tile{Crop: [4]int{0, 30, 10, 11}}), "TileFunc(one): a crop to"},
	} {
		p, err := transform.Compile(c.step, transform.ToTensor(), transform.Ragged())
		if err == nil {
			_, _, _, err = p.Append(nil, transform.File(files[0]))
		}
		if err == nil || !strings.Contains(err.Error(), c.want) || !strings.HasPrefix(err.Error(), "transform: ") {
			t.Errorf("error %v, want %s", err, c.want)
		}
	}
}

// TestTileFuncAfterToTensorPadsWithZeros compares the values with those of the image alone.
func TestTileFuncAfterToTensorPadsWithZeros(t *testing.T) {
	const h, w, top, left, th, tw = 5, 7, 2, 3, 9, 10
	pix := make([]uint8, 3*h*w)
	for i := range pix {
		pix[i] = uint8(37 * i)
	}
	pad := transform.TileFunc("around", func(_, _ int) transform.Tile {
		return transform.Tile{Top: -top, Left: -left, Size: [2]int{th, tw}}
	})
	values := func(steps ...transform.Item) []float32 {
		p, err := transform.Compile(slices.Concat([]transform.Item{transform.ToTensor()}, steps, []transform.Item{transform.Ragged()})...)
		if err != nil {
			t.Fatal(err)
		}
		out, _, _, err := p.Append(nil, transform.RGB(pix, w, h))
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	normalize := transform.Normalize([]float32{0.5, 0.2, 0.1}, []float32{0.25, 3, 7})
	for _, axes := range []transform.Axes{transform.CHW, transform.HWC} {
		image, got := values(normalize, transform.Layout(axes)), values(normalize, pad, transform.Layout(axes))
		at := func(c, y, x, h, w int) int {
			if axes == transform.CHW {
				return (c*h+y)*w + x
			}
			return (y*w+x)*3 + c
		}
		for i := range 3 * th * tw {
			c, y, x := i/th/tw, i/tw%th, i%tw
			want := float32(0)
			if y >= top && y < top+h && x >= left && x < left+w {
				want = image[at(c, y-top, x-left, h, w)]
			}
			if v := got[at(c, y, x, th, tw)]; v != want {
				t.Fatalf("%v: channel %d at row %d, column %d is %v, want %v", axes, c, y, x, v, want)
			}
		}
	}
	for _, c := range []struct {
		step transform.Step
		want string
	}{
		{transform.TileFunc("less", func(h, w int) transform.Tile { return transform.Tile{Size: [2]int{h, w - 1}} }), "TileFunc(less): the image has 5×7 pixels"},
		{transform.TileFunc("resize", func(h, w int) transform.Tile { return transform.Tile{Resize: [2]int{2 * h, w}} }), "TileFunc(resize): after ToTensor it cannot crop and resize"},
		{transform.TileFunc("grey", func(h, w int) transform.Tile { return transform.Tile{} }, transform.Fill(9)), "TileFunc(grey, Fill(9)): want no options after ToTensor"},
		{transform.Compose(pad, pad), "must come only once"},
		{transform.Compose(transform.Patches(1), pad), "not with Patches"},
	} {
		p, err := transform.Compile(transform.ToTensor(), c.step, transform.Ragged())
		if err == nil {
			_, _, _, err = p.Append(nil, transform.RGB(pix, w, h))
		}
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("error %v, want %s", err, c.want)
		}
	}
}

// TestPatchesOfTilesFollowEachOther compares the rows of tiles of several sizes with those of each alone.
func TestPatchesOfTilesFollowEachOther(t *testing.T) {
	_, files := sizedPhotos(t)
	patches := []transform.Item{transform.ToTensor(), transform.Patches(4, transform.Merge(2)), transform.Ragged()}
	tiles := []transform.Tile{{Resize: [2]int{16, 8}, Size: [2]int{16, 8}}, {Size: [2]int{8, 8}}, {Top: 8, Left: 3, Size: [2]int{8, 24}}, {}}
	values := func(data []byte, step transform.Item) []float32 {
		p, err := transform.Compile(append([]transform.Item{step}, patches...)...)
		if err != nil {
			t.Fatal(err)
		}
		out, _, _, err := p.Append(nil, transform.File(data))
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	for i, data := range files {
		var want []float32
		for _, tile := range tiles {
			if tile.Size == [2]int{} {
				tile.Size = [2]int{8, 16}
			}
			want = append(want, values(data, transform.TileFunc("alone", func(_, _ int) transform.Tile { return tile }))...)
		}
		got := values(data, transform.Tiles([2]int{8, 16}, "four", func(_, _ int) []transform.Tile { return tiles }))
		if !slices.Equal(got, want) {
			t.Errorf("image %d: other rows", i)
		}
	}
}

func TestAnImageMayHaveNoTiles(t *testing.T) {
	photos, _ := sizedPhotos(t)
	ds, err := transform.Images(photos, transform.Tiles([2]int{8, 16}, "of large ones", func(h, w int) []transform.Tile {
		if max(h, w) < 64 {
			return []transform.Tile{}
		}
		return []transform.Tile{{}, {}}
	}), transform.ToTensor(), transform.Ragged(), transform.Sizes("size"))
	if err != nil {
		t.Fatal(err)
	}
	l, err := loader.New(ds, loader.BatchSize(5))
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	for batch, err := range l.Epoch(t.Context(), 0) {
		if err != nil {
			t.Fatal(err)
		}
		ends := batch.Offsets("image")
		for row, i := range batch.Indices() {
			want := int64(0)
			if size := raggedSizes[i]; max(size.X, size.Y) >= 64 {
				want = 2
			}
			if got := int64(ends[row+1] - ends[row]); got != want {
				t.Errorf("image %d: %d tiles, want %d", i, got, want)
			}
		}
	}
}

// An image becomes a square, in the middle of grey.
func ExampleTileFunc() {
	square := transform.TileFunc("a square around it", func(h, w int) transform.Tile {
		n := max(h, w)
		return transform.Tile{Top: -(n - h) / 2, Left: -(n - w) / 2, Size: [2]int{n, n}}
	}, transform.Fill(128))
	fmt.Println(square)
	fmt.Println(first(square)["image"].Shape())
	fmt.Println(first(square, transform.Crop(0, 0, 1, 1))["image"].Data())
	// Output:
	// TileFunc(a square around it, Fill(128))
	// (8, 8, 3)
	// [128 128 128]
}
