package presets

import (
	"encoding/json"
	"fmt"
	"math"
	"math/big"
	"slices"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/transform"
)

// This file has the classes that cut images into tiles.

// A tiling is what a class that cuts images into tiles says about their number.
type tiling struct {
	tiles        bool     // it cuts
	fewest, most int      // min_patches; max_patches, and other names of it
	pinpoints    [][2]int // image_grid_pinpoints, or split_resolutions
	ratio        float64  // pan_and_scan_min_ratio_to_activate
	covering     bool     // use_covering_area_grid
	dense        density
}

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

// filled is grid for an image that fills all tiles.
func filled(rows, columns, h, w int) []transform.Tile {
	return grid(rows, columns, h, w, rows*h, columns*w)
}

// gridsOf is all pairs of numbers up to side whose product is from fewest to most.
func gridsOf(fewest, most, side int) (all [][2]int) {
	for a := 1; a <= min(most, side); a++ {
		for b := max(1, (fewest+a-1)/a); a*b <= most && b <= side; b++ {
			all = append(all, [2]int{a, b})
		}
	}
	return all
}

// byTiles sorts grids by how many tiles they have.
func byTiles(grids [][2]int) [][2]int {
	slices.SortStableFunc(grids, func(a, b [2]int) int { return a[0]*a[1] - b[0]*b[1] })
	return grids
}

// nearest is the grid, columns and rows, of tiles of h×w pixels whose ratio is nearest to that of an image.
func nearest(grids [][2]int, height, width, h, w int) [2]int {
	best, least := [2]int{1, 1}, math.Inf(1)
	ratio, area := float64(width)/float64(height), float64(width*height)
	for _, g := range grids {
		d := math.Abs(ratio - float64(g[0])/float64(g[1]))
		if d < least || d == least && area > 0.5*float64(h*w*g[0]*g[1]) {
			best, least = g, d
		}
	}
	return best
}

// number is a field of one number, and pair of two, which follow from the size of the image.
func number(field string, of func(h, w int) int) transform.Step {
	return transform.SizesFunc(field, nil, func(image, _ [2]int, out []int64) { out[0] = int64(of(image[0], image[1])) })
}

func pair(field string, of func(h, w int) (int, int)) transform.Step {
	return transform.SizesFunc(field, dataset.Shape{2}, func(image, _ [2]int, out []int64) {
		a, b := of(image[0], image[1])
		out[0], out[1] = int64(a), int64(b)
	})
}

// whole is the whole image as one tile.
func whole(h, w int) transform.Tile { return transform.Tile{Resize: [2]int{h, w}} }

// withWhole adds it to several tiles.
func withWhole(all []transform.Tile, h, w int) []transform.Tile {
	if len(all) > 1 {
		all = append(all, whole(h, w))
	}
	return all
}

// tiled is the step for such tiles, and the field that has the number of something.
func (c *processor) tiled(h, w int, text string, of func(h, w int) []transform.Tile, field string, count func(tiles int) int) []transform.Step {
	return []transform.Step{
		transform.Tiles([2]int{h, w}, text, of, filtered(c.filter)...),
		number(field, func(h, w int) int { return count(len(of(h, w))) }),
	}
}

// readPatches takes the least and the greatest number of tiles.
func (t *tiling) readPatches(o object, fewest, most int) {
	t.fewest, t.most = o.few("min_patches", fewest), o.few("max_patches", most)
	if t.fewest > t.most {
		o.fail("min_patches", "%d is more than max_patches, %d", t.fewest, t.most)
	}
}

func gotOCR2Keys(c *processor, o object) {
	c.tiles = o.flag("crop_to_patches", false)
	c.readPatches(o, 1, 12)
	c.tiles = c.tiles && c.most > 1
}

// gotOCR2Sizes cuts the image into the grid whose ratio is nearest, with the whole image after it.
func gotOCR2Sizes(c *processor, _ object) []transform.Step {
	h, w := c.size.height, c.size.width
	if !c.tiles || !c.size.fixed() {
		return nil
	}
	grids := byTiles(gridsOf(c.fewest, c.most, c.most))
	text := fmt.Sprintf("%d to %d tiles, and the whole image", c.fewest, c.most)
	return c.tiled(h, w, text, func(height, width int) []transform.Tile {
		g := nearest(grids, height, width, h, w)
		return withWhole(filled(g[1], g[0], h, w), h, w)
	}, "num_patches", func(n int) int { return n })
}

// eomtTiles cuts an image along its longer side into squares, which overlap equally.
func eomtTiles(n int, f transform.Filter) []transform.Step {
	tiles := transform.Tiles(n, "squares along the longer side", func(h, w int) (all []transform.Tile) {
		long := max(h, w)
		several := (long + n - 1) / n
		overlap := 0.0
		if several > 1 {
			overlap = float64(several*n-long) / float64(several-1)
		}
		if several > maxTiles {
			return nil
		}
		for k := range several {
			start := int(float64(k) * (float64(n) - overlap))
			if h > w {
				all = append(all, transform.Tile{Top: start})
			} else {
				all = append(all, transform.Tile{Left: start})
			}
		}
		return all
	})
	return []transform.Step{transform.Resize(n, filtered(f)...), tiles}
}

func gemma3Keys(c *processor, o object) {
	c.tiles = o.flag("do_pan_and_scan", false)
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
func gemma3Sizes(c *processor, o object) []transform.Step {
	if c.tiles && !c.size.fixed() {
		o.fail("size", "want height and width with do_pan_and_scan")
	}
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
	c.readPoints(o, "image_grid_pinpoints")
}

// readPoints takes a list of heights and widths.
func (c *processor) readPoints(o object, key string) {
	text, ok := o.take(key)
	if !ok {
		return
	}
	c.pinpoints = nil
	var list [][]int
	if json.Unmarshal(text, &list) != nil || len(list) == 0 || len(list) > maxTiles ||
		slices.ContainsFunc(list, func(p []int) bool { return len(p) != 2 }) {
		o.fail(key, "want a list of up to %d heights and widths, not %s", maxTiles, brief(text))
		return
	}
	for _, p := range list {
		c.pinpoints = append(c.pinpoints, [2]int(p))
	}
}

// multiples notes whether one of the heights and widths is not a multiple of n.
func (c *processor) multiples(o object, key string, n int) bool {
	for _, p := range c.pinpoints {
		if min(p[0], p[1]) < 1 || max(p[0], p[1]) > maxTiles*n || p[0]%n != 0 || p[1]%n != 0 || (p[0]/n)*(p[1]/n) > maxTiles {
			o.fail(key, "want multiples of the size, %d, with up to %d tiles, not %v", n, maxTiles, p)
			return false
		}
	}
	return true
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
	if !c.multiples(o, "image_grid_pinpoints", n) {
		return []transform.Step{}
	}
	points := c.pinpoints
	tiles := transform.Tiles(n, fmt.Sprintf("the whole image, and one of %d grids", len(points)), func(h, w int) []transform.Tile {
		all := bestGrid(points, h, w, n)
		if all == nil {
			return nil
		}
		return append([]transform.Tile{whole(n, n)}, all...)
	}, filtered(c.filter)...)
	return []transform.Step{tiles, pair("image_sizes", func(h, w int) (int, int) { return h, w })}
}

// bestGrid is tiles of n×n pixels of an image in the middle of the size at which most of it is kept.
func bestGrid(points [][2]int, h, w, n int) []transform.Tile {
	best := bestResolution(points, h, w)
	if best[0] == 0 {
		return nil
	}
	y, x := float64(best[0])/float64(h), float64(best[1])/float64(w)
	th, tw := best[0], min(int(math.Ceil(float64(w)*y)), best[1])
	if x < y {
		th, tw = min(int(math.Ceil(float64(h)*x)), best[0]), best[1]
	}
	return grid(best[0]/n, best[1]/n, n, n, th, tw)
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
		return withWhole(grid(h/n, w/n, n, n, h, w), n, n)
	}, filtered(c.filter)...)
	return []transform.Step{first.step(c.filter), second.step(c.filter), tiles}
}

func mllamaKeys(c *processor, o object) {
	c.most, c.canvas = o.few("max_image_tiles", 4), true
	if !o.flag("do_pad", true) {
		o.fail("do_pad", "want true")
	}
}

// mllamaSizes enlarges the image as little as a grid allows, or else makes it as large as fits, and puts it into the upper left
// corner of the grid.
func mllamaSizes(c *processor, _ object) []transform.Step {
	n, grids := c.size.height, gridsOf(1, c.most, c.most)
	if !c.size.fixed() || c.size.width != n {
		return nil
	}
	canvas := func(h, w int) (at int) { // of grids: rows and columns
		best, fewest := 0.0, 0
		for k, g := range grids {
			scale, tiles := min(float64(g[0]*n)/float64(h), float64(g[1]*n)/float64(w)), g[0]*g[1]
			better := scale > best
			if best >= 1 {
				better = scale >= 1 && scale < best
			}
			if k == 0 || better || scale == best && tiles < fewest {
				at, best, fewest = k, scale, tiles
			}
		}
		return at
	}
	tiles := transform.Tiles(n, fmt.Sprintf("up to %d tiles, with the image in their upper left corner", c.most), func(h, w int) (all []transform.Tile) {
		g := grids[canvas(h, w)]
		th, tw := min(max(h, n), g[0]*n), min(max(w, n), g[1]*n)
		y, x := float64(th)/float64(h), float64(tw)/float64(w)
		if x < y {
			th = min(max(int(float64(h)*x), 1), th)
		} else {
			tw = min(max(int(float64(w)*y), 1), tw)
		}
		for k := range g[0] * g[1] {
			all = append(all, transform.Tile{Resize: [2]int{th, tw}, Top: k / g[1] * n, Left: k % g[1] * n})
		}
		return all
	}, filtered(c.filter)...)
	count := func(h, w int) int { g := grids[canvas(h, w)]; return g[0] * g[1] }
	return []transform.Step{
		tiles,
		number("aspect_ratio_ids", func(h, w int) int { return canvas(h, w) + 1 }),
		transform.SizesFunc("aspect_ratio_mask", dataset.Shape{c.most}, func(image, _ [2]int, out []int64) {
			for k := range count(image[0], image[1]) {
				out[k] = 1
			}
		}),
		number("num_tiles", count),
	}
}

func ovis2Keys(c *processor, o object) {
	gotOCR2Keys(c, o)
	c.covering = o.flag("use_covering_area_grid", true)
}

// ovis2Sizes has the whole image first, and then the grid that covers it, or whose ratio is nearest.
func ovis2Sizes(c *processor, o object) []transform.Step {
	h, w := c.size.height, c.size.width
	switch {
	case !c.tiles || !c.size.fixed():
		return nil
	case c.center:
		o.fail("do_center_crop", "want false with crop_to_patches")
	}
	text, grids := fmt.Sprintf("the whole image, and %d to %d tiles", c.fewest, c.most), byTiles(gridsOf(c.fewest, c.most, c.most))
	choose := func(height, width int) [2]int { return nearest(grids, height, width, h, w) }
	if c.covering {
		text, grids = fmt.Sprintf("the whole image, and up to %d tiles that cover it", c.most), byTiles(gridsOf(1, c.most, c.most))
		choose = func(height, width int) [2]int { return covering(grids, height, width, h) }
	}
	tiles := transform.Tiles([2]int{h, w}, text, func(height, width int) []transform.Tile {
		g := choose(height, width)
		all := filled(g[1], g[0], h, w)
		if len(all) > 1 {
			all = append([]transform.Tile{whole(h, w)}, all...)
		}
		return all
	}, filtered(c.filter)...)
	return []transform.Step{tiles, pair("grids", func(h, w int) (int, int) { g := choose(h, w); return g[1], g[0] })}
}

// covering is the grid with the fewest parts that cover more than 9 of 10 pixels, where a part that is longer than side shrinks to
// that, or else the one that covers most. As in transformers, the first number is that of rows here, and of columns later.
func covering(grids [][2]int, h, w, side int) (best [2]int) {
	most, fewest, enough := -1.0, 0, false
	for _, g := range grids {
		rows, columns := g[0], g[1]
		if enough && rows*columns > fewest {
			break
		}
		sum := 0.0
		for k := range rows * columns {
			y, x := h/rows, w/columns
			if k/columns == rows-1 {
				y = h - y*(rows-1)
			}
			if k%columns == columns-1 {
				x = w - x*(columns-1)
			}
			long, short := float64(max(y, x)), float64(min(y, x))
			if long > float64(side) {
				short, long = short/long*float64(side), float64(side)
			}
			sum += float64(long * short)
		}
		if part := sum / float64(h*w); part > most {
			best, most, fewest, enough = g, part, rows*columns, part > 0.9
		}
	}
	return best
}

func graniteKeys(c *processor, o object) {
	const most = 1 << 10
	o.without("do_resize", "fine_route") // transformers ignores the first, and the second adds a field that says only that it is true
	c.tiles = o.flag("crop_to_patches", true)
	c.readPatches(o, 1, 32)
	d := &c.dense
	d.most, d.scale = read(o, "dense_max_patches", "a whole number", 0), o.number("dense_max_scale", 0)
	d.least, d.greatest = o.number("dense_min_aspect", 0), o.number("dense_max_aspect", 0)
	if d.most < 0 || d.most > most || d.most > 0 && d.most < c.fewest {
		o.fail("dense_max_patches", "want 0, or min_patches to %d, not %d", most, d.most)
	}
}

// A density says which pages have more tiles than others: those that would shrink below a scale, of ratios in a range. What is 0
// does not count.
type density struct {
	most                   int
	scale, least, greatest float64
}

// of reports whether a page of h×w pixels has, with that number of columns of tiles of w pixels.
func (d density) of(height, width, columns, w int) bool {
	ratio := float64(width) / float64(height)
	switch {
	case d.most == 0 || d.scale <= 0 && d.least <= 0, d.least > 0 && ratio <= d.least, d.greatest > 0 && ratio > d.greatest:
		return false
	}
	return d.scale <= 0 || float64(columns*w)/float64(width) < d.scale
}

// graniteSizes cuts the image into the grid whose ratio is nearest, with the whole image after it. Without tiles it is one.
func graniteSizes(c *processor, _ object) []transform.Step {
	const side = 16
	h, w, d, alone := c.size.height, c.size.width, c.dense, !c.tiles || c.most == 1
	if !c.size.fixed() {
		return nil
	}
	usual, dense := byTiles(gridsOf(c.fewest, c.most, side)), byTiles(gridsOf(c.fewest, d.most, side))
	choose := func(height, width int) [2]int {
		if alone {
			return [2]int{1, 1}
		}
		g := nearest(usual, height, width, h, w)
		if d.of(height, width, g[0], w) {
			return nearest(dense, height, width, h, w)
		}
		return g
	}
	tiles := transform.Tiles([2]int{h, w}, fmt.Sprintf("%d to %d tiles, and the whole image", c.fewest, max(c.most, d.most)), func(height, width int) []transform.Tile {
		g := choose(height, width)
		return withWhole(filled(g[1], g[0], h, w), h, w)
	}, filtered(c.filter)...)
	return []transform.Step{
		tiles,
		number("rows", func(h, w int) int { return choose(h, w)[1] }),
		number("cols", func(h, w int) int { return choose(h, w)[0] }),
	}
}

func ariaKeys(c *processor, o object) {
	o.without("size", "do_resize") // transformers ignores them
	n := o.wholeOr("max_image_size", 980)
	if n != 490 && n != 980 {
		o.fail("max_image_size", "want 490 or 980, not %d", n)
	}
	c.size, c.least = both(n), o.wholeOr("min_image_size", 336)
	if c.least > n {
		o.fail("min_image_size", "%d is more than max_image_size, %d", c.least, n)
	}
	c.tiles = o.flag("split_image", false)
	c.readPoints(o, "split_resolutions")
}

// ariaSizes makes the longer side as long as size says, and pads the other one, or cuts the image into tiles.
func ariaSizes(c *processor, o object) []transform.Step {
	n, least, points := c.size.height, c.least, c.pinpoints
	if c.tiles {
		if !c.multiples(o, "split_resolutions", n) {
			return []transform.Step{}
		}
		text := fmt.Sprintf("one of %d grids", len(points))
		return c.tiled(n, n, text, func(h, w int) []transform.Tile { return bestGrid(points, h, w, n) }, "num_crops", func(n int) int { return n })
	}
	size := func(h, w int) (int, int) {
		scale := float64(n) / float64(max(h, w))
		if w >= h {
			return max(int(float64(h)*scale), least), n
		}
		return n, max(int(float64(w)*scale), least)
	}
	text := fmt.Sprintf("longest edge %d, no edge shorter than %d", n, least)
	return []transform.Step{rule{text, size}.step(c.filter), transform.Crop(0, 0, n, n), pair("pixel_mask_size", size)}
}

func miniCPMKeys(c *processor, o object) {
	o.without("use_image_id", "size")
	c.canvas, c.tiles = true, o.flag("slice_mode", true)
	if c.most = o.few("max_slice_nums", 9); c.most > maxSlices {
		o.fail("max_slice_nums", "want 1 to %d, not %d", maxSlices, c.most)
	}
	c.least, c.cut.side = o.wholeOr("scale_resolution", 448), o.few("patch_size", 14)
	switch mode := o.word("downsample_mode"); mode {
	case "", "16x":
		c.block = 4 * c.cut.side
	case "4x":
		c.block = 2 * c.cut.side
	default:
		o.fail("downsample_mode", "want 16x or 4x, not %s", mode)
	}
}

// maxSlices is the greatest number of slices of MiniCPM-V.
const maxSlices = 64

// miniCPMSizes has patches of the whole image first, and then those of the tiles of a larger one.
func miniCPMSizes(c *processor, _ object) []transform.Step {
	n, most, side := float64(c.least), c.most, c.cut.side
	if !c.tiles {
		most = 1
	}
	grids := newSlicing(c.least, most)
	divided := func(length float64, by int) int { return max(round(length/float64(by))*by, by) }
	resized := func(h, w float64, enlarge bool) [2]int {
		if float64(h*w) > n*n || enlarge {
			ratio := w / h
			h = math.Trunc(n / math.Sqrt(ratio))
			w = math.Trunc(h * ratio)
		}
		return [2]int{divided(h, c.block), divided(w, c.block)}
	}
	first := func(h, w int) [2]int { return resized(float64(h), float64(w), grids.of(h, w) == [2]int{}) }
	slice := func(h, w int, g [2]int) [2]int {
		return resized(float64(divided(float64(h), g[0]))/float64(g[0]), float64(divided(float64(w), g[1]))/float64(g[1]), true)
	}
	text := fmt.Sprintf("the whole image, and up to %d tiles", most)
	tiles := transform.Tiles(c.block, text, func(h, w int) []transform.Tile {
		size := first(h, w)
		all := []transform.Tile{{Resize: size, Size: size}}
		if g := grids.of(h, w); g != [2]int{} {
			size := slice(h, w, g)
			for _, tile := range filled(g[0], g[1], size[0], size[1]) {
				tile.Size = size
				all = append(all, tile)
			}
		}
		return all
	}, filtered(c.filter)...)
	c.cut.fields = func(*cutting) []transform.Step {
		return []transform.Step{
			transform.SizesFunc("target_sizes", dataset.Shape{2, 2}, func(image, _ [2]int, out []int64) {
				size := first(image[0], image[1])
				out[0], out[1] = int64(size[0]/side), int64(size[1]/side)
				if g := grids.of(image[0], image[1]); g != [2]int{} {
					size = slice(image[0], image[1], g)
					out[2], out[3] = int64(size[0]/side), int64(size[1]/side)
				}
			}),
			pair("grids", func(h, w int) (int, int) { g := grids.of(h, w); return g[0], g[1] }),
		}
	}
	return []transform.Step{tiles}
}

// A slicing is how MiniCPM-V chooses a grid: that whose ratio is nearest to the image's on a logarithmic scale, of those with about
// as many slices as the image has times the pixels of one.
type slicing struct {
	pixels float64 // of a slice
	most   int
	grids  [][2]int  // rows and columns
	logs   []float64 // of columns over rows
}

func newSlicing(side, most int) *slicing {
	s := &slicing{pixels: float64(side) * float64(side), most: most, grids: byTiles(gridsOf(2, most, most))}
	for _, g := range s.grids {
		s.logs = append(s.logs, logarithm(float64(g[1])/float64(g[0])))
	}
	return s
}

// of is the grid for an image. Zeros say that it has not more pixels than a slice.
func (s *slicing) of(h, w int) (best [2]int) {
	several := int(min(math.Ceil(float64(w)*float64(h)/s.pixels), float64(s.most)))
	if several <= 1 {
		return best
	}
	ratio, least := logarithm(float64(w)/float64(h)), math.Inf(1)
	best = [2]int{1, 1}
	for k, g := range s.grids {
		if n := g[0] * g[1]; n < several-1 || n > several+1 {
			continue
		}
		off := math.Abs(ratio - s.logs[k])
		if off < least || off == least && g[0] > best[0] {
			best, least = g, off
		}
	}
	return best
}

// logarithm rounds to the nearest number, as C's does but in rare cases. math.Log is off by one in the last place more often, which
// decides between grids that are equally near, such as 1×3 and 3×1 for a square.
func logarithm(x float64) float64 {
	const precision = 120
	m, k := math.Frexp(x)
	if m < math.Sqrt2/2 {
		m, k = 2*m, k-1
	}
	number := func(v float64) *big.Float { return new(big.Float).SetPrec(precision).SetFloat64(v) }
	z, one, sum, odd := number(m-1), number(1), number(0), number(0)
	z.Quo(z, one.Add(one, number(m)))
	term, square := number(0).Set(z), number(0).Mul(z, z)
	for n := 1.0; n < 40; n += 2 { // the series of 2·artanh((m-1)/(m+1))
		sum.Add(sum, z.Quo(term, odd.SetFloat64(n)))
		term.Mul(term, square)
	}
	sum.Add(sum.Add(sum, sum), z.Mul(ln2, odd.SetFloat64(float64(k))))
	v, _ := sum.Float64()
	return v
}

var ln2, _, _ = big.ParseFloat("0.693147180559945309417232121458176568075500134360255", 10, 120, big.ToNearestEven)

func deepseekOCR2Keys(c *processor, o object) {
	c.tiles, c.canvas = o.flag("crop_to_patches", true), true
	c.readPatches(o, 2, 6)
	c.block = o.wholeOr("tile_size", 768)
	if text := o.left["background_color"]; o.has("background_color") && text[0] != '[' {
		o.fail("background_color", "want a list of three numbers, not %s", brief(text))
	}
	c.background = o.colours("background_color", [3]float64{127, 127, 127})
	for _, v := range c.background {
		if v != math.Trunc(v) || v < 0 || v > 255 {
			o.fail("background_color", "want whole numbers from 0 to 255, not %v", v)
		}
	}
}

// deepseekOCR2Sizes has the whole image on a square, and as the other tensor tiles of images that are larger than one.
func deepseekOCR2Sizes(c *processor, _ object) []transform.Step {
	n, side := c.block, c.block
	if !c.size.fixed() {
		return nil
	}
	grids := byTiles(gridsOf(c.fewest, c.most, c.most))
	of := func(h, w int) []transform.Tile {
		if !c.tiles || max(h, w) <= n {
			return []transform.Tile{}
		}
		g := nearest(grids, h, w, n, n)
		return filled(g[1], g[0], n, n)
	}
	if c.other {
		text := fmt.Sprintf("%d to %d tiles of images larger than one", c.fewest, c.most)
		return c.tiled(n, n, text, of, "num_local_patches", func(n int) int { return n })
	}
	if c.tiles {
		side = c.size.height
	}
	all := square(side, 0, c.filter, c.background[:])
	return append(all, number("num_local_patches", func(h, w int) int { return len(of(h, w)) }))
}
