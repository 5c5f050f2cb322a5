package jpeg

// smoothed is how many coefficients of a block, in zigzag order, smoothing
// estimates.
const smoothed = 10

// patches are the weights that estimate the coefficients of a block from the DC
// coefficients of 5×5 blocks around it, row by row, in units of 1/256. Source:
// libjpeg-turbo since version 2.1, which extends section K.8 of the standard.
type patches [smoothed][25]int64

// sparse is for components that have some AC coefficients. Those without weights
// stay zero.
var sparse = patches{
	1: {10: -7, 50, 0, -50, 7},
	2: {2: -7, 7: 50, 17: -50, 22: 7},
	3: {2: -1, 7: 13, 12: -24, 17: 13, 22: -1},
	4: {0, -1, 0, 1, 0, -1, 10, 0, -10, 1, 0, 0, 0, 0, 0, 1, -10, 0, 10, -1, 0, 1, 0, -1, 0},
	5: {10: -1, 13, -24, 13, -1},
}

// dense is for components that have only DC coefficients. These change too.
var dense = patches{
	{-2, -6, -8, -6, -2, -6, 6, 42, 6, -6, -8, 42, 152, 42, -8, -6, 6, 42, 6, -6, -2, -6, -8, -6, -2},
	{-1, -1, 0, 1, 1, -3, 13, 0, -13, 3, -3, 38, 0, -38, 3, -3, 13, 0, -13, 3, -1, -1, 0, 1, 1},
	{-1, -3, -3, -3, -1, -1, 13, 38, 13, -1, 0, 0, 0, 0, 0, 1, -13, -38, -13, 1, 1, 3, 3, 3, 1},
	{2: 1, 6: 2, 7, 2, 11: -5, -14, -5, 16: 2, 7, 2, 22: 1},
	{0: -1, 4: 1, 6: 9, 8: -9, 16: -9, 18: 9, 20: 1, 24: -1},
	{6: 2, -5, 2, 10: 1, 7, -14, 7, 1, 16: 2, -5, 2},
	{6: 1, 8: -1, 11: 2, 13: -2, 16: 1, 18: -1},
	{6: 1, -3, 1, 16: -1, 3, -1},
	{6: 1, 8: -1, 11: -3, 13: 3, 16: 1, 18: -1},
	{6: 1, 2, 1, 16: -1, -2, -1},
}

// checkSmooth decides whether libjpeg would estimate coefficients that are missing
// or imprecise after all scans.
func (d *Decoder) checkSmooth() {
	d.smooth = false
	if !d.config.Progressive {
		return
	}
	useful := false
	for i := range d.components {
		c := &d.components[i]
		if c.progress[0] < 0 {
			return
		}
		for k := range smoothed {
			if c.quant[zigzag[k]] == 0 {
				return
			}
			useful = useful || k > 0 && c.progress[k] != 0
		}
	}
	d.smooth = useful
	if d.scans == 1 {
		for i := range d.components {
			d.components[i].before = [smoothed]int8{-1, -1, -1, -1, -1, -1, -1, -1, -1, -1}
		}
	}
}

// smoothRow replaces missing coefficients by estimates in a copy of row at of a
// component's blocks, from column x on.
func (d *Decoder) smoothRow(blocks []block, ci, at, x int) {
	c := &d.components[ci]
	wide, high := ceil(c.wide, 8), ceil(c.high, 8)
	if at >= high {
		return
	}
	v := d.config.Sampling[ci].V
	rows := c.around(at, v, high)
	have := (*[smoothed]int8)(c.progress[:])
	if at/v > d.whole {
		have = &c.before
	}
	set := &dense
	for _, bits := range have[1:] {
		if bits >= 0 {
			set = &sparse
		}
	}
	for i := range min(len(blocks), wide-x) {
		var near [25]int64
		for j, row := range rows {
			for k := range 5 {
				if row != nil {
					near[5*j+k] = int64(row[min(max(x+i+k-2, 0), wide-1)][0])
				}
			}
		}
		c.estimate(&blocks[i], have, set, &near)
	}
}

// around returns five rows of blocks, with row at in the middle. A nil row means
// zeros. At the image's edges a row is its own neighbour. libjpeg finds the edges by
// MCU rows. The last MCU row may have fewer rows of blocks, and then libjpeg counts
// the rows above as if all MCU rows had as few.
func (c *component) around(at, v, high int) (rows [5][]block) {
	last := ceil(high, v) - 1
	n := v
	if at/v == last && high%v != 0 {
		n = high % v
	}
	place, count := at/v*n+at%v, n*(last+1)
	up := min(place, 2)
	down := min(count-1-place, 2)
	for j := range rows {
		y := at + min(max(j-2, -up), down)
		if y < c.down {
			rows[j] = c.coefficients[y*c.across:][:c.across]
		}
	}
	return rows
}

// estimate replaces coefficients that are zero and, by have, imprecise. An estimate
// does not exceed the missing bits.
func (c *component) estimate(b *block, have *[smoothed]int8, set *patches, near *[25]int64) {
	first := int64(uint16(c.quant[0]))
	for k := range smoothed {
		place, bits := zigzag[k], have[k]
		if k > 0 && (bits == 0 || b[place] != 0) || set[k] == [25]int64{} {
			continue
		}
		sum := int64(0)
		for i, w := range set[k] {
			sum += w * near[i]
		}
		quant := int64(uint16(c.quant[place]))
		size := (quant<<7 + first*max(sum, -sum)) / (quant << 8)
		if k > 0 && bits > 0 {
			size = min(size, 1<<bits-1)
		}
		if sum < 0 {
			size = -size
		}
		b[place] = int16(size)
	}
}
