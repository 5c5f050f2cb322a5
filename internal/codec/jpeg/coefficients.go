package jpeg

import "image"

// A Frame is what coefficients need to become pixels.
type Frame struct {
	Width, Height int         // in pixels
	Model         Model       // Gray, YCbCr or RGB
	Orientation   int         // as in Config
	Sampling      [4]Sampling // by component; 1 and 1 in a gray image
	Quant         [4]Block    // by component: the quantisation table
}

// Rows gives the coefficients of an image that is not a JPEG file.
type Rows interface {
	// Row returns a component's blocks in row y of MCUs: rows of blocks, one after the
	// other, as wide as the image's MCUs. last has an index for every block, in zigzag
	// order: all later coefficients are zero. The slices stay valid until the next call
	// for the same component.
	Row(component, y int) (blocks []Block, last []uint8, err error)
}

// Open prepares d for an image whose coefficients come from rows. Decode asks only for
// the rows of MCUs that its window needs, in their order, and passes on their errors.
func (d *Decoder) Open(f Frame, rows Rows) (Config, error) {
	d.ready, d.rows = false, nil
	d.data = nil
	n := 3
	if f.Model == Gray {
		n = 1
	}
	d.config = Config{Width: f.Width, Height: f.Height, Components: n, Orientation: f.Orientation, Sampling: f.Sampling}
	d.components = d.store[:n]
	for i := range d.components {
		c := &d.components[i]
		c.h, c.v, c.quant = f.Sampling[i].H, f.Sampling[i].V, f.Quant[i]
	}
	d.buffered = false
	if err := d.checkFrame(0); err != nil {
		return Config{}, err
	}
	d.config.Model = f.Model
	d.ready, d.rows = true, rows
	return d.config, nil
}

// Rows returns which rows of MCUs the window of an image needs: from up to, but not
// including, to. A header must have been read, and the window be in the image.
func (d *Decoder) Rows(window image.Rectangle) (from, to int) {
	v := d.viewOf(window)
	return v.y0, v.y1
}

// Coefficients decodes the whole image of the file that Header has read. For every row
// y of MCUs it calls row with the blocks of each component, as in [Rows]. They may
// change after the call.
//
// A progressive file of which libjpeg estimates coefficients, because no scan has all
// of their bits, is an error that wraps errors.ErrUnsupported.
func (d *Decoder) Coefficients(row func(y int, blocks *[4][]Block) error) (Frame, error) {
	if !d.ready || d.rows != nil {
		return Frame{}, errNoHeader
	}
	if err := d.begin(); err != nil {
		return Frame{}, err
	}
	if d.buffered && d.smooth {
		return Frame{}, unsupported(len(d.data), "coefficients without their last bits")
	}
	var blocks [4][]Block
	for y := range d.mcuHigh {
		if !d.buffered {
			if err := d.decodeRow(0, d.mcuWide); err != nil {
				return Frame{}, err
			}
		}
		for i := range d.components {
			c := &d.components[i]
			n := c.across * c.v
			if d.buffered {
				blocks[i] = c.coefficients[y*n:][:n]
				if d.zigzag {
					c.row = grow(c.row, n)
					d.natural(c.row, blocks[i])
					blocks[i] = c.row
				}
			} else {
				blocks[i] = c.row[:n]
			}
		}
		if err := row(y, &blocks); err != nil {
			return Frame{}, err
		}
	}
	return d.frame(), nil
}

// frame is the Frame of the file whose scans have been read.
func (d *Decoder) frame() Frame {
	f := Frame{Width: d.config.Width, Height: d.config.Height, Model: d.config.Model, Orientation: d.config.Orientation}
	for i := range d.components {
		c := &d.components[i]
		f.Sampling[i] = Sampling{c.h, c.v}
		if c.latched { // otherwise no scan has the component, and all of it is zero
			f.Quant[i] = c.quant
		}
	}
	return f
}
