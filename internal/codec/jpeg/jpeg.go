// Package jpeg decodes baseline, extended sequential and progressive JPEG
// files of 8 bits per sample (ITU-T T.81) to the same pixels as libjpeg-turbo
// with its default settings.
//
// A Decoder can decode only a window of the image. It then reads the entropy code
// up to the window's last row, and computes samples only where the window needs
// them.
//
// A file that libjpeg-turbo refuses is an error. A file that it decodes without a
// warning decodes here too, even if no encoder writes such files. There are
// exceptions, which are errors: arithmetic and lossless coding, scans that go over the
// image far more often than encoders do and the file's size justifies, and an image
// without its first component, which libjpeg shows gray. Entropy code that ends early or is invalid is also an error, though
// libjpeg-turbo only warns about it. A file without an end marker ends too early,
// unless it is one of the few that Pillow still decodes.
package jpeg

import (
	"errors"
	"fmt"
	"image"

	"github.com/penstock-go/penstock/internal/budget"
)

// DefaultMaxPixels is the limit of a Decoder whose MaxPixels is 0. Pillow has the
// same limit: it refuses images of more than twice its MAX_IMAGE_PIXELS.
const DefaultMaxPixels = 178956970

// A Decoder decodes one file after the other and keeps its memory between
// them. After an image of some size, another of that size needs no allocation. The
// zero value is ready for use by one goroutine at a time.
type Decoder struct {
	// MaxPixels is the limit of width × height. 0 means DefaultMaxPixels. A file with more
	// than one scan takes 2.2 bytes of memory per pixel and component until the next one,
	// also for a window.
	MaxPixels int

	// AllowTruncated makes a file that ends early decode as Pillow decodes it
	// with LOAD_TRUNCATED_IMAGES. Missing blocks are gray, or black in CMYK
	// files where the black ink is missing.
	AllowTruncated bool

	// Tables is a JPEG stream that has only tables. A TIFF file has one for all
	// of its strips or tiles. Tables in the file replace them.
	Tables []byte

	// Budget is what decoding may take besides what the pixels justify, if the file is part
	// of a larger one. If it is nil, the file's size decides.
	Budget *budget.Budget

	// Colours says how the components are read. The default is FromFile.
	Colours Colours

	// Stop is asked before every row of MCUs that Decode reads, of every scan.
	Stop func() error

	data   []byte
	config Config
	ready  bool // data holds an image up to its first scan, or rows the coefficients
	rows   Rows // of an image that is not a JPEG file, or nil

	components []component // of the image
	store      [4]component
	quant      [4]block
	hasQuant   [4]bool
	tables     [8]huffman
	hasDC      [4]bool
	hasAC      [4]bool

	interval  int // MCUs between restarts, or 0
	hMax      int
	vMax      int
	mcuWide   int // MCUs of an interleaved scan
	mcuHigh   int
	lag       int    // rows of output that need the next MCU row
	exif      []byte // of the first APP1 segments
	xmp       []byte
	jfif      bool
	adobe     int // colour transform, or -1
	scan      scan
	scanAt    int  // offset of the first scan's header
	buffered  bool // coefficients of all scans are read before samples are computed
	loaded    bool // coefficients of all scans are in memory
	loadError error
	scans     int  // read so far
	whole     int  // the MCU row in which the last scan ended
	smooth    bool // coefficients are missing that libjpeg estimates
	zigzag    bool // stored coefficients are in the stream's order
	irregular bool // a scan has read coefficients again, or beyond its selection
	stream    stream
	stretch   stretch
	endError  error // the error of what follows the only scan
	exhausted bool  // the file ended early, and the rest is gray
	window    image.Rectangle
	view      view
	painter   painter

	progression *progression // nil before the first progressive image
}

// A Model says what a file's components are.
type Model uint8

// The models. Decode turns all of them into RGB.
const (
	Gray Model = iota
	YCbCr
	RGB
	CMYK // inverted inks
	YCCK // inverted inks, three of them coded as YCbCr
	Four // four components of unknown meaning, see AsStored
)

// Colours says how a file's components are read.
type Colours uint8

// FromFile follows the file. AsYCbCr reads 3 components as YCbCr, even if the
// file says otherwise. AsStored converts nothing: Decode writes 3 components
// instead of red, green and blue, and 4 instead of red, green, blue and 255.
const (
	FromFile Colours = iota
	AsYCbCr
	AsStored
)

// A Config is what a file's headers say about its image.
type Config struct {
	Width, Height int // in pixels
	Components    int // 1, 3 or 4
	Model         Model
	Orientation   int // from Exif or XMP, 1 to 8, or 0 if there is none; Decode does not apply it
	Progressive   bool
	Sampling      [4]Sampling // one per component
}

// Sampling is a component's resolution relative to the other components': its
// factors in the frame header, 1 to 4.
type Sampling struct{ H, V int }

// A component is a colour plane.
type component struct {
	id       uint8
	table    uint8 // quantisation table
	h, v     int   // sampling factors
	hx, vx   int   // upsampling factors
	filter   filter
	wide     int // samples, without padding
	high     int
	across   int // blocks, with the padding of an interleaved scan
	down     int
	quant    block
	latched  bool     // quant is set: later tables do not change it
	progress [64]int8 // by coefficient in zigzag order: bits still missing, or -1 before its first scan

	before [smoothed]int8 // progress before the component's latest scan

	coefficients []block // of all scans, if the image is buffered
	// By block: the places of the AC coefficients that differ from zero, as a mask, if the
	// image is progressive and regular.
	nonzero []uint64

	row    []block // of one MCU row within the view
	last   []uint8 // by block of row: zigzag index of its last coefficient
	span   int     // samples of a row within the view
	stride int     // bytes of a strip's row
}

// Header reads data, a whole file, up to its first scan. The Decoder keeps data
// until the next call of Header.
func (d *Decoder) Header(data []byte) (Config, error) {
	d.ready, d.rows = false, nil
	d.data = data
	if err := d.readHeader(); err != nil {
		return Config{}, err
	}
	d.ready = true
	return d.config, nil
}

var (
	errNoHeader = errors.New("jpeg: decode: no header has been read")
	errRoom     = errors.New("jpeg: decode: destination is too small for the window")
)

// Decode writes the window, which is the whole image or a part of it, with 4 bytes
// per pixel: red, green, blue and 255. dst[0] is the window's top left, and stride
// is the distance in bytes between its rows. The pixels are those of the whole
// image, cropped. Decode may be called again for other windows.
//
// A file that ends too early is an error for every window. So is an error between
// the only scan of a sequential file and its end. Damaged entropy code is an error
// if it comes before the end of the window's last row. After an error dst is only
// partly written.
func (d *Decoder) Decode(dst []byte, stride int, window image.Rectangle) error {
	if err := d.check(window); err != nil || window.Empty() {
		return err
	}
	if stride < 4*window.Dx() || len(dst) < (window.Dy()-1)*stride+4*window.Dx() {
		return errRoom
	}
	if err := d.open(window); err != nil {
		return err
	}
	p := &d.painter
	p.open(d)
	p.dst, p.stride, p.top = dst, stride, window.Min.Y
	return d.decodeWindow()
}

// Memory is how many bytes decoding a window of the file whose header was read takes, beside tables and the window.
func (d *Decoder) Memory(window image.Rectangle) int64 {
	if window.Empty() {
		return 0
	}
	const perBlock = 2*64 + 1 // coefficients, and the last one
	v := d.viewOf(window)
	n := int64(len(d.data)) + slack
	if d.rows != nil {
		n = 0
	}
	if d.config.Progressive { // the refiner has its bytes reversed
		n *= 2
	}
	for i := range d.components {
		c := &d.components[i]
		if d.buffered {
			n += int64(c.across) * int64(c.down) * (2*64 + 8)
		}
		wide := int64(v.x1-v.x0) * int64(c.h)
		n += wide*int64(c.v)*perBlock + wide*perBlock // of a row of MCUs, and of the painter
		n += (8*wide+margin)*int64(8*c.v+1) + 8*int64(v.x1-v.x0)*int64(d.hMax)
	}
	return n
}

// stopped is the error of Stop.
func (d *Decoder) stopped() error {
	if d.Stop == nil {
		return nil
	}
	if err := d.Stop(); err != nil {
		return fmt.Errorf("jpeg: decode: %w", err)
	}
	return nil
}

// check reports whether the open file has the window.
func (d *Decoder) check(window image.Rectangle) error {
	if !d.ready {
		return errNoHeader
	}
	if !window.In(image.Rect(0, 0, d.config.Width, d.config.Height)) {
		return fmt.Errorf("jpeg: decode: window %v exceeds the image's %d×%d", window, d.config.Width, d.config.Height)
	}
	return nil
}

// open prepares the decoding of a window.
func (d *Decoder) open(window image.Rectangle) error {
	if err := d.begin(); err != nil {
		return err
	}
	d.window, d.view = window, d.viewOf(window)
	for i := range d.components {
		d.components[i].setView(d.view)
	}
	return nil
}

// begin prepares what rows of MCUs are decoded from.
func (d *Decoder) begin() error {
	switch {
	case d.rows != nil:
		return nil
	case d.buffered:
		return d.load()
	}
	return d.openScan()
}

// grow returns a slice of n elements, in the memory of s if that is large enough.
func grow[T any](s []T, n int) []T {
	if cap(s) < n {
		return make([]T, n)
	}
	return s[:n]
}
