package presets

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/transform"
)

// This file has the classes that cut images into tiles.

// maxTiles is the greatest number of tiles of a grid.
const maxTiles = 1 << 10

// grid is rows×columns tiles of h×w pixels, of an image that is resized to height×width and then in the middle of them.
func grid(rows, columns, h, w, height, width int) (all []transform.Tile) {
	if rows > maxTiles || rows*columns > maxTiles {
		return nil
	}
	top, left := (rows*h-height)/2, (columns*w-width)/2
	for k := range rows * columns {
		all = append(all, transform.Tile{Resize: [2]int{height, width}, Top: k/columns*h - top, Left: k%columns*w - left})
	}
	return all
}

// whole is the whole image as one tile.
func whole(h, w int) transform.Tile { return transform.Tile{Resize: [2]int{h, w}} }

// tiled is the step for such tiles, and the field that has the number of something.
func (c *processor) tiled(h, w int, text string, of func(h, w int) []transform.Tile, field string, number func(tiles int) int) []transform.Step {
	return []transform.Step{
		transform.Tiles([2]int{h, w}, text, of, filtered(c.filter)...),
		transform.SizesFunc(field, nil, func(image, _ [2]int, out []int64) { out[0] = int64(number(len(of(image[0], image[1])))) }),
	}
}

func gotOCR2Keys(c *processor, o object) {
	c.tiles = o.flag("crop_to_patches", false)
	c.fewest, c.most = o.few("min_patches", 1), o.few("max_patches", 12)
	if c.fewest > c.most {
		o.fail("min_patches", "%d is more than max_patches, %d", c.fewest, c.most)
	}
	c.tiles = c.tiles && c.most > 1
	c.canvas = c.tiles
}

// gotOCR2Sizes cuts the image into the grid whose ratio is nearest, with the whole image after it.
func gotOCR2Sizes(c *processor, _ object) []transform.Step {
	h, w := c.size.height, c.size.width
	if !c.tiles || !c.size.fixed() {
		return nil
	}
	var grids [][2]int // columns and rows
	for x := 1; x <= c.most; x++ {
		for y := max(1, (c.fewest+x-1)/x); x*y <= c.most; y++ {
			grids = append(grids, [2]int{x, y})
		}
	}
	slices.SortStableFunc(grids, func(a, b [2]int) int { return a[0]*a[1] - b[0]*b[1] })
	text := fmt.Sprintf("%d to %d tiles, and the whole image", c.fewest, c.most)
	return c.tiled(h, w, text, func(height, width int) []transform.Tile {
		best, least := [2]int{1, 1}, math.Inf(1)
		ratio, area := float64(width)/float64(height), float64(width*height)
		for _, g := range grids {
			d := math.Abs(ratio - float64(g[0])/float64(g[1]))
			if d < least || d == least && area > 0.5*float64(h*w*g[0]*g[1]) {
				best, least = g, d
			}
		}
		columns, rows := best[0], best[1]
		all := grid(rows, columns, h, w, rows*h, columns*w)
		if len(all) > 1 {
			all = append(all, whole(h, w))
		}
		return all
	}, "num_patches", func(n int) int { return n })
}

func gemma3Keys(c *processor, o object) {
	c.tiles = o.flag("do_pan_and_scan", false)
	c.canvas = c.tiles
	c.least, c.most = o.whole("pan_and_scan_min_crop_size"), o.whole("pan_and_scan_max_num_crops")
	c.ratio = o.number("pan_and_scan_min_ratio_to_activate", -1)
	switch {
	case !c.tiles:
	case c.least == 0 || c.most == 0 || c.ratio < 0:
		o.fail("do_pan_and_scan", "want pan_and_scan_min_crop_size, pan_and_scan_max_num_crops and pan_and_scan_min_ratio_to_activate with it")
	case c.most > maxTiles:
		o.fail("pan_and_scan_max_num_crops", "want a whole number from 1 to %d, not %d", maxTiles, c.most)
	}
}

// gemma3Sizes has the whole image first, and parts along its longer side if that is much longer.
func gemma3Sizes(c *processor, _ object) []transform.Step {
	if !c.tiles || !c.size.fixed() {
		return nil
	}
	to := [2]int{c.size.height, c.size.width}
	parts := func(long, short int) int {
		ratio := float64(long) / float64(short)
		if ratio < c.ratio {
			return 0
		}
		return min(c.most, max(2, min(long/c.least, int(ratio+0.5))))
	}
	text := fmt.Sprintf("the whole image, and up to %d parts", c.most)
	return c.tiled(to[0], to[1], text, func(h, w int) []transform.Tile {
		all := []transform.Tile{whole(to[0], to[1])}
		rows, columns := 1, 1
		if w >= h {
			columns = parts(w, h)
		} else {
			rows = parts(h, w)
		}
		if rows*columns == 0 {
			return all
		}
		high, wide := (h+rows-1)/rows, (w+columns-1)/columns
		if min(high, wide) < c.least {
			return all
		}
		for k := range rows * columns {
			top, left := k/columns*high, k%columns*wide
			all = append(all, transform.Tile{Crop: [4]int{top, left, min(high, h-top), min(wide, w-left)}, Resize: to})
		}
		return all
	}, "num_crops", func(n int) int { return n - 1 })
}

// llavaNextKeys takes the sizes to which an image may be resized before it is cut.
func llavaNextKeys(c *processor, o object) {
	c.canvas = true
	text, ok := o.take("image_grid_pinpoints")
	if !ok {
		return
	}
	c.pinpoints = nil
	if json.Unmarshal(text, &c.pinpoints) != nil || len(c.pinpoints) == 0 || len(c.pinpoints) > maxTiles {
		o.fail("image_grid_pinpoints", "want a list of up to %d heights and widths, not %s", maxTiles, brief(text))
	}
}

// llavaNextSizes has the whole image first, and then tiles of the size that wastes least of it.
func llavaNextSizes(c *processor, o object) []transform.Step {
	n := c.size.shortest
	if c.size.fixed() && c.size.height == c.size.width {
		n = c.size.height
	}
	switch {
	case n == 0:
		return nil
	case c.crop != (area{}) && c.crop != area{n, n}:
		o.fail("crop_size", "want that of size, %d×%d", n, n)
	}
	c.center = false
	for _, p := range c.pinpoints {
		if min(p[0], p[1]) < 1 || max(p[0], p[1]) > maxTiles*n || p[0]%n != 0 || p[1]%n != 0 || (p[0]/n)*(p[1]/n) > maxTiles {
			o.fail("image_grid_pinpoints", "want multiples of the size, %d, with up to %d tiles, not %v", n, maxTiles, p)
			return []transform.Step{}
		}
	}
	points := c.pinpoints
	tiles := transform.Tiles(n, fmt.Sprintf("the whole image, and one of %d grids", len(points)), func(h, w int) []transform.Tile {
		best := bestResolution(points, h, w)
		if best[0] == 0 {
			return nil
		}
		y, x := float64(best[0])/float64(h), float64(best[1])/float64(w)
		th, tw := best[0], min(int(math.Ceil(float64(w)*y)), best[1])
		if x < y {
			th, tw = min(int(math.Ceil(float64(h)*x)), best[0]), best[1]
		}
		return append([]transform.Tile{whole(n, n)}, grid(best[0]/n, best[1]/n, n, n, th, tw)...)
	}, filtered(c.filter)...)
	return []transform.Step{tiles, transform.SizesFunc("image_sizes", dataset.Shape{2}, func(image, _ [2]int, out []int64) {
		out[0], out[1] = int64(image[0]), int64(image[1])
	})}
}

// bestResolution is the size at which most of an image of h×w pixels is kept, and of these the smallest.
func bestResolution(points [][2]int, h, w int) (best [2]int) {
	most, least := 0, math.MaxInt
	for _, p := range points {
		scale := min(float64(p[1])/float64(w), float64(p[0])/float64(h))
		kept := min(int(float64(w)*scale)*int(float64(h)*scale), w*h)
		if wasted := p[0]*p[1] - kept; kept > most || kept == most && wasted < least {
			most, least, best = kept, wasted, p
		}
	}
	return best
}

func idefics3Keys(c *processor, o object) {
	c.tiles, c.canvas = o.flag("do_image_splitting", true), true
	o.without("return_row_col_info")
	if s, ok := o.object("max_image_size"); ok {
		c.least = s.whole("longest_edge")
		s.end()
	}
	if c.least == 0 {
		o.fail("max_image_size", "want longest_edge")
		c.least = 1
	}
}

// idefics3Sizes resizes the image twice, and cuts it into tiles, with the whole image after them.
func idefics3Sizes(c *processor, _ object) []transform.Step {
	const most = 4096
	edge, n := c.size.longest, c.least
	if edge == 0 {
		return nil
	}
	first := rule{fmt.Sprintf("longest edge %d, up to %d", edge, most), func(h, w int) (int, int) {
		even := func(v float64) int { return max(1, int(v)+int(v)&1) }
		ratio := float64(w) / float64(h)
		if w >= h {
			w, h = edge, even(float64(edge)/ratio)
		} else {
			w, h = even(float64(edge)*ratio), edge
		}
		ratio = float64(w) / float64(h)
		switch {
		case w >= h && w > most:
			w, h = most, int(most/ratio)
		case h > w && h > most:
			w, h = int(most*ratio), most
		}
		return max(h, 1), max(w, 1)
	}}
	if !c.tiles {
		return []transform.Step{first.step(c.filter), transform.Resize([2]int{n, n}, filtered(c.filter)...)}
	}
	second := rule{fmt.Sprintf("multiples of %d", n), func(h, w int) (int, int) {
		ratio := float64(w) / float64(h)
		if w >= h {
			w = upTo(w, n)
			return upTo(int(float64(w)/ratio), n), w
		}
		h = upTo(h, n)
		return h, upTo(int(float64(h)*ratio), n)
	}}
	tiles := transform.Tiles(n, "a grid, and the whole image", func(h, w int) []transform.Tile {
		all := grid(h/n, w/n, n, n, h, w)
		if len(all) > 1 {
			all = append(all, whole(n, n))
		}
		return all
	}, filtered(c.filter)...)
	return []transform.Step{first.step(c.filter), second.step(c.filter), tiles}
}
