package jpeg

import (
	"errors"
	"io"
)

// load decodes all scans of an image that comes in several into coefficients.
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
	// A block takes a bit or more of the component's first scan, so that a
	// whole file of n bytes has at most 8n blocks. A truncated one may have
	// more, but not without end.
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
		c.latched = false
		for k := range c.progress {
			c.progress[k] = -1
		}
	}

	d.scans, d.visits = 0, 0
	err := d.readScans(blocks)
	if err != nil && !(d.AllowTruncated && errors.Is(err, io.ErrUnexpectedEOF)) {
		return err
	}
	// libjpeg takes that for a gray image. Other components may be missing.
	if d.components[0].progress[0] < 0 && !d.AllowTruncated {
		return corrupt(len(d.data), "no scan of the first component")
	}
	d.checkSmooth()
	return nil
}

// maxPasses bounds how often the scans together may go over the image.
// Encoders get by with about ten passes; a thousand take a hostile file a few
// bytes each and the decoder seconds.
const maxPasses = 100

// readScans decodes scan after scan of an image of so many blocks.
func (d *Decoder) readScans(blocks int) error {
	at := d.scanAt
	for at >= 0 {
		from, err := d.readScanHeader(at)
		if err != nil {
			return err
		}
		for _, ci := range d.scan.components {
			d.visits += ceil(d.components[ci].wide, 8) * ceil(d.components[ci].high, 8)
		}
		if d.visits > maxPasses*blocks {
			return corrupt(at, "scans go over the image more than %d times", maxPasses)
		}
		d.scans++
		d.stream.fill(d.data, from)
		d.start()
		if err := d.decodeScan(); err != nil {
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

// decodeScan decodes a scan into the coefficients. Where it ends early and may,
// it notes in which MCU row.
func (d *Decoder) decodeScan() error {
	s := &d.scan
	d.whole = d.mcuHigh
	if len(s.components) == 1 {
		ci := s.components[0]
		c := &d.components[ci]
		wide, high := ceil(c.wide, 8), ceil(c.high, 8)
		for y := range high {
			row := c.coefficients[y*c.across:][:wide]
			for x := range row {
				if err := d.between(); err != nil {
					return err
				}
				ok := d.decodeBlock(0, &row[x])
				if done, err := d.judge(ok); done || err != nil {
					d.whole = y / d.config.Sampling[ci].V
					return err
				}
			}
		}
		return nil
	}
	for my := range d.mcuHigh {
		for mx := range d.mcuWide {
			if err := d.between(); err != nil {
				return err
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
		}
	}
	return nil
}

// judge looks at an MCU that has been read: ok reports whether its code was
// sound. The scan is done where the file ends and may end.
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

// mayEnd reports whether the stream's last interval is cut off by the end of the
// file and that is allowed.
func (d *Decoder) mayEnd() bool {
	return d.AllowTruncated && d.stream.cut && d.stream.next >= len(d.stream.ends)
}

// decodeBlock reads what the scan has of one block of its i-th component.
func (d *Decoder) decodeBlock(i int, b *block) bool {
	s := &d.scan
	switch {
	case !d.config.Progressive:
		return s.reader.block(b, s.dc[i], s.ac[i], &s.predicted[i]) >= 0
	case s.from == 0 && s.high == 0:
		return s.reader.firstDC(b, s.dc[i], &s.predicted[i], s.low)
	case s.from == 0:
		s.reader.refineDC(b, s.low)
		return true
	case s.high == 0:
		return s.firstAC(b)
	default:
		return s.refineAC(b)
	}
}
