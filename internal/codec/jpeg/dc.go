package jpeg

// A line is every step-th block of a row: those at one place of their MCUs.
type line struct {
	blocks    []block
	step      int
	table     *huffman
	predicted *int32 // the last DC coefficient of the component
}

// decodeDC decodes a progressive scan of DC coefficients.
func (d *Decoder) decodeDC() error {
	s := &d.scan
	var store [10]line // the most blocks of an MCU
	if len(s.components) == 1 {
		ci := s.components[0]
		c := &d.components[ci]
		wide, high := ceil(c.wide, 8), ceil(c.high, 8)
		for y := range high {
			lines := append(store[:0], line{c.coefficients[y*c.across:], 1, s.dc[0], &s.predicted[0]})
			if done, err := d.decodeLines(lines, wide); done || err != nil {
				d.whole = y / d.config.Sampling[ci].V
				return err
			}
		}
		return nil
	}
	for my := range d.mcuHigh {
		lines := store[:0]
		for i, ci := range s.components {
			c := &d.components[ci]
			for y := range c.v {
				row := c.coefficients[(my*c.v+y)*c.across:]
				for x := range c.h {
					lines = append(lines, line{row[x:], c.h, s.dc[i], &s.predicted[i]})
				}
			}
		}
		if done, err := d.decodeLines(lines, d.mcuWide); done || err != nil {
			d.whole = my
			return err
		}
	}
	return nil
}

// decodeLines decodes DC coefficients of a row of MCUs. The scan is done if the file has
// ended and may end early.
func (d *Decoder) decodeLines(lines []line, wide int) (done bool, err error) {
	for x := 0; x < wide; {
		n, err := d.within(wide - x)
		if err != nil {
			return false, err
		}
		ok := true
		if d.scan.high == 0 {
			ok = d.scan.firstDC(lines, x, n)
		} else {
			d.scan.refineDC(lines, x, n)
		}
		if done, err := d.judge(ok); done || err != nil {
			return done, err
		}
		x += n
	}
	return false, nil
}

// firstDC reads DC coefficients of n MCUs from MCU x on, without their lowest bits, up
// to an MCU that is invalid or goes beyond the interval. It reports whether the code is
// valid.
func (s *scan) firstDC(lines []line, x, n int) bool {
	r := s.reader
	ok := true
	for m := x; m < x+n; m++ {
		for i := range lines {
			l := &lines[i]
			r.refill()
			e := l.table.pairs.entries[r.acc>>(64-pairBits)]
			if e&63 != 0 {
				power := int64(e) >> 48
				*l.predicted += int32(values[(int64(r.acc>>((64-e)&63))&^power-power)&int64(len(values)-1)])
				r.drop(uint(e & 63))
			} else {
				ok = r.difference(l.table, l.predicted) && ok
			}
			l.blocks[m*l.step][0] = int16(*l.predicted << s.low)
		}
		if !ok || r.overrun() {
			break
		}
	}
	s.reader = r
	return ok
}

// refineDC reads one more bit of DC coefficients of n MCUs from MCU x on, up to an MCU
// that goes beyond the interval.
func (s *scan) refineDC(lines []line, x, n int) {
	r := &s.reader
	for m := x; m < x+n; m++ {
		r.refill()
		for i := range lines {
			l := &lines[i]
			l.blocks[m*l.step][0] |= int16(r.take(1) << s.low)
		}
		if r.overrun() {
			break
		}
	}
}
