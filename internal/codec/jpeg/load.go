package jpeg

import (
	"errors"
	"io"

	"github.com/penstock-go/penstock/internal/budget"
)

// load decodes all scans of a buffered image into coefficients.
func (d *Decoder) load() error {
	if !d.loaded {
		d.loadError = d.loadScans()
		d.loaded = true
	}
	return d.loadError
}

func (d *Decoder) loadScans() error {
	blocks := 0
	for i := range d.components {
		blocks += ceil(d.components[i].wide, 8) * ceil(d.components[i].high, 8)
	}
	// A block takes at least one bit of the component's first scan, so a whole
	// file of n bytes has at most 8n blocks. A truncated file may have more, up
	// to this limit.
	limit := 8 * len(d.data)
	if d.AllowTruncated {
		limit *= 16
	}
	if blocks > limit {
		return truncated(len(d.data), "entropy code")
	}
	for i := range d.components {
		c := &d.components[i]
		n := c.across * c.down
		c.coefficients = grow(c.coefficients, n)
		clear(c.coefficients)
		if d.config.Progressive {
			c.nonzero = grow(c.nonzero, n)
			clear(c.nonzero)
		}
		c.latched = false
		for k := range c.progress {
			c.progress[k] = -1
		}
	}

	d.scans, d.irregular = 0, false
	d.zigzag, d.scan.place = d.config.Progressive && pairsKernel() && !d.stretch.off, &zigzag
	if d.zigzag {
		d.scan.place = &inOrder
	}
	err := d.readScans(blocks)
	if err != nil && !(d.AllowTruncated && errors.Is(err, io.ErrUnexpectedEOF)) {
		return err
	}
	// libjpeg shows such an image gray. Other components may be missing.
	if d.components[0].progress[0] < 0 && !d.AllowTruncated {
		return corrupt(len(d.data), "no scan of the first component")
	}
	d.checkSmooth()
	return nil
}

// What scans take of the budget, in its steps.
const (
	// Encoders go over a progressive image about ten times, and some dozen times at most. The
	// pixels justify that even if the file is short, because its scans say little. Further
	// scans must be justified by their bytes.
	passes = 32
	// The tables of a scan take about as long as that many blocks.
	scanSteps = 1 << 10
)

// readScans decodes all scans of an image with this number of blocks.
func (d *Decoder) readScans(blocks int) error {
	own := budget.For(int64(len(d.data)))
	justified := d.Budget
	if justified == nil {
		justified = &own
	}
	justified.Grant(0, passes*int64(blocks))
	at := d.scanAt
	for at >= 0 {
		from, err := d.readScanHeader(at)
		if err != nil {
			return err
		}
		if err := justified.Work(d.scanWork()); err != nil {
			return corrupt(at, "scans: %w", err)
		}
		d.scans++
		d.stream.fill(d.data, from)
		d.start()
		if d.config.Progressive {
			err = d.decodeProgressive()
		} else {
			err = d.decodeScan()
		}
		if err != nil {
			return err
		}
		d.advance()
		at, err = d.readMarkers(d.stream.to)
		if err != nil {
			return err
		}
	}
	return nil
}

// scanWork is how many steps the scan takes whose header was read. Nearly all of its blocks may
// be in a few runs.
func (d *Decoder) scanWork() int64 {
	blocks := int64(0)
	for _, ci := range d.scan.components {
		c := &d.components[ci]
		blocks += int64(ceil(c.wide, 8)) * int64(ceil(c.high, 8))
	}
	each := int64(1)
	if d.irregular && d.scan.high > 0 { // it looks at each coefficient
		each = 6 + int64(d.scan.to-d.scan.from)/6
	}
	return scanSteps + each*blocks
}

// decodeScan decodes a sequential scan into the coefficients. If it ends early and that is
// allowed, whole becomes the MCU row in which it ends.
func (d *Decoder) decodeScan() error {
	s := &d.scan
	d.whole = d.mcuHigh
	if len(s.components) == 1 {
		ci := s.components[0]
		c := &d.components[ci]
		wide, high := ceil(c.wide, 8), ceil(c.high, 8)
		for y := range high {
			row := c.coefficients[y*c.across:][:wide]
			portable := 0
			for x := 0; x < wide; {
				if err := d.between(); err != nil {
					return err
				}
				if x >= portable {
					n, ok := d.fast(wide-x, true)
					if ok {
						d.stretch.store(row[x:], d.stretch.unread, 0, 1, n)
						x += n
						continue
					}
					portable = x + n
				}
				ok := d.decodeBlock(0, &row[x])
				if done, err := d.judge(ok); done || err != nil {
					d.whole = y / d.config.Sampling[ci].V
					return err
				}
				x++
			}
		}
		return nil
	}
	for my := range d.mcuHigh {
		portable := 0
		for mx := 0; mx < d.mcuWide; {
			if err := d.between(); err != nil {
				return err
			}
			if mx >= portable {
				n, ok := d.fast(d.mcuWide-mx, true)
				if ok {
					d.storeBuffered(mx, my, n)
					mx += n
					continue
				}
				portable = mx + n
			}
			ok := true
			for i, ci := range s.components {
				c := &d.components[ci]
				for y := range c.v {
					first := (my*c.v+y)*c.across + mx*c.h
					for j := first; j < first+c.h; j++ {
						ok = d.decodeBlock(i, &c.coefficients[j]) && ok
					}
				}
			}
			if done, err := d.judge(ok); done || err != nil {
				d.whole = my
				return err
			}
			mx++
		}
	}
	return nil
}

// storeBuffered stores a stretch of n MCUs of an interleaved scan of a buffered image.
func (d *Decoder) storeBuffered(mx, my, n int) {
	first := 0
	for _, ci := range d.scan.components {
		c := &d.components[ci]
		for y := range c.v {
			row := c.coefficients[(my*c.v+y)*c.across+mx*c.h:]
			d.stretch.store(row, d.stretch.unread, first+y*c.h, c.h, n)
		}
		first += c.h * c.v
	}
}

// judge is called after every MCU. Ok says whether its code was valid. The scan is
// done if the file has ended and may end early.
func (d *Decoder) judge(ok bool) (done bool, err error) {
	if d.scan.reader.overrun() {
		if d.mayEnd() {
			return true, nil
		}
		return false, d.cutShort()
	}
	if !ok {
		return false, d.broken()
	}
	return false, nil
}

// mayEnd reports whether this is the last interval of a truncated file, and such
// files are allowed.
func (d *Decoder) mayEnd() bool {
	return d.AllowTruncated && d.stream.cut && d.stream.next >= len(d.stream.ends)
}

// decodeBlock reads one block of the i-th component of a sequential scan. It reports
// whether the code is valid.
func (d *Decoder) decodeBlock(i int, b *block) bool {
	s := &d.scan
	if s.again {
		return s.blockAgain(b, i)
	}
	return s.reader.block(b, s.dc[i], s.ac[i], &s.predicted[i]) >= 0
}

// blockAgain reads one block of a sequential scan of a component that has been scanned
// before. As in libjpeg, coefficients that it does not have stay.
func (s *scan) blockAgain(b *block, i int) bool {
	fresh := block{b[0]}
	ok := s.reader.block(&fresh, s.dc[i], s.ac[i], &s.predicted[i]) >= 0
	b[0] = fresh[0]
	for k, v := range fresh[1:] {
		if v != 0 {
			b[1+k] = v
		}
	}
	return ok
}
