package jpeg

import "fmt"

// maxDimension is libjpeg's JPEG_MAX_DIMENSION.
const maxDimension = 65500

// readFrame reads a frame header: section B.2.2 of the standard.
func (d *Decoder) readFrame(at int, segment []byte) error {
	if len(segment) < 6 {
		return corrupt(at, "frame header of %d bytes", len(segment))
	}
	if segment[0] != 8 {
		return unsupported(at, fmt.Sprintf("samples of %d bits", segment[0]))
	}
	n := int(segment[5])
	if len(segment) != 6+3*n {
		return corrupt(at, "frame header of %d bytes for %d components", len(segment), n)
	}
	if n != 1 && n != 3 && n != 4 {
		return unsupported(at, fmt.Sprintf("%d components", n))
	}
	d.config.Height = int(segment[1])<<8 | int(segment[2])
	d.config.Width = int(segment[3])<<8 | int(segment[4])
	d.config.Components = n
	d.components = d.store[:n]
	for i := range d.components {
		spec := segment[6+3*i:]
		c := &d.components[i]
		c.id, c.h, c.v, c.table = spec[0], int(spec[1]>>4), int(spec[1]&15), spec[2]
		c.latched = false
		if c.h < 1 || c.h > 4 || c.v < 1 || c.v > 4 {
			return corrupt(at, "sampling factors %d×%d", c.h, c.v)
		}
		d.config.Sampling[i] = Sampling{c.h, c.v}
		for k := range c.progress {
			c.progress[k] = -1
		}
	}
	return nil
}

// checkFrame computes the layout of the frame, whose first scan is at offset at.
func (d *Decoder) checkFrame(at int) error {
	width, height := d.config.Width, d.config.Height
	if height == 0 {
		return unsupported(at, "a height that follows the scan")
	}
	if width == 0 || max(width, height) > maxDimension {
		return corrupt(at, "image of %d×%d pixels", width, height)
	}
	limit := d.MaxPixels
	if limit == 0 {
		limit = DefaultMaxPixels
	}
	if int64(width)*int64(height) > int64(limit) {
		return corrupt(at, "image of %d×%d pixels, more than %d", width, height, limit)
	}
	if len(d.components) == 1 {
		d.components[0].h, d.components[0].v = 1, 1
	}
	d.hMax, d.vMax = 1, 1
	for i := range d.components {
		d.hMax = max(d.hMax, d.components[i].h)
		d.vMax = max(d.vMax, d.components[i].v)
	}
	d.mcuWide = ceil(width, 8*d.hMax)
	d.mcuHigh = ceil(height, 8*d.vMax)
	d.lag = 0
	for i := range d.components {
		c := &d.components[i]
		if d.hMax%c.h != 0 || d.vMax%c.v != 0 {
			return unsupported(at, "fractional upsampling")
		}
		c.hx, c.vx = d.hMax/c.h, d.vMax/c.v
		c.wide, c.high = ceil(width, c.hx), ceil(height, c.vx)
		c.across, c.down = d.mcuWide*c.h, d.mcuHigh*c.v
		c.filter = chooseFilter(c.hx, c.vx, c.wide)
		if c.filter == filterV2 || c.filter == filterH2V2 {
			d.lag = 1
		}
	}
	d.config.Model = d.model()
	return nil
}

// model is the meaning of the components, by libjpeg's rules.
func (d *Decoder) model() Model {
	switch len(d.components) {
	case 1:
		return Gray
	case 3:
		switch {
		case d.Colours == AsStored:
			return RGB
		case d.Colours == AsYCbCr:
			return YCbCr
		case d.jfif:
			return YCbCr
		case d.adobe == 0:
			return RGB
		case d.adobe > 0:
			return YCbCr
		case d.components[0].id == 'R' && d.components[1].id == 'G' && d.components[2].id == 'B':
			return RGB
		}
		return YCbCr
	}
	if d.Colours == AsStored {
		return Four
	}
	if d.adobe > 0 {
		return YCCK
	}
	return CMYK
}

// ceil is a/b, rounded up.
func ceil(a, b int) int { return (a + b - 1) / b }
