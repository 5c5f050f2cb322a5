// Package jpeg decodes baseline, extended sequential and progressive JPEG
// files of 8 bits per sample (ITU-T T.81) to the same pixels as libjpeg-turbo
// with its default settings.
//
// A Decoder can decode a window of the picture alone: it reads the entropy
// code down to the window's last row, and computes samples only where the
// window needs them.
//
// What libjpeg-turbo refuses is an error, and what it takes without a warning
// decodes, down to files that no encoder writes; but for arithmetic and lossless
// coding, more than 100 passes over a picture, and a picture without its first
// component, which libjpeg shows gray. Where it only warns, because the entropy
// code ends early or is no code, there is an error. A file without an end marker
// is cut short, unless it is one of those few that Pillow decodes all the same.
package jpeg

import (
	"errors"
	"fmt"
	"image"
)

// DefaultMaxPixels is the limit of a Decoder whose MaxPixels is 0: twice
// Pillow's MAX_IMAGE_PIXELS, where Pillow refuses a picture too.
const DefaultMaxPixels = 178956970

// A Decoder decodes one file after the other and keeps its memory between
// them: once it has seen a picture of some size, another of that size takes no
// allocation. The zero value is ready for use by one goroutine at a time.
type Decoder struct {
	// MaxPixels bounds width × height; 0 means DefaultMaxPixels.
	MaxPixels int

	// AllowTruncated makes a file that ends early decode as Pillow decodes it
	// with LOAD_TRUNCATED_IMAGES: blocks that never came are gray, or black
	// where black ink is missing from a file of inks.
	AllowTruncated bool

	// Tables is a stream of tables alone, as a TIFF file has for all of its strips
	// or tiles. They hold until the file brings others.
	Tables []byte

	// Colours says what the components are, if not the file.
	Colours Colours

	data   []byte
	config Config
	ready  bool // data holds a picture up to its first scan

	components []component // of the picture
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
	lag       int    // rows of output that wait for the next MCU row
	exif      []byte // of the first APP1 segments
	xmp       []byte
	jfif      bool
	adobe     int // colour transform, or -1
	scan      scan
	scanAt    int // offset of the first scan's header
	buffered  bool
	loaded    bool // coefficients of all scans are in memory
	loadError error
	scans     int  // read so far
	visits    int  // of blocks by scans
	whole     int  // the last MCU row that the last scan has not missed
	smooth    bool // coefficients are missing that libjpeg estimates
	blocks    []block
	stream    stream
	endError  error // what is wrong with the end of the only scan
	exhausted bool  // the file ended early, and the rest is gray
	view      view
	lastFlags []uint8
	planes    [4][]byte
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
	Four // anything, see AsStored
)

// Colours is who says what a file's components are.
type Colours uint8

// Whatever a file says of its colours, AsYCbCr takes 3 components for YCbCr, and
// AsStored takes them for what they are to be: Decode then writes 3 components
// like RGB, and 4 of them in the place of red, green, blue and 255.
const (
	FromFile Colours = iota
	AsYCbCr
	AsStored
)

// A Config is what a file's headers say about its picture.
type Config struct {
	Width, Height int // in pixels
	Components    int // 1, 3 or 4
	Model         Model
	Orientation   int // by Exif or XMP, 1 to 8, or 0 where there is none; Decode does not apply it
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
	latched  bool
	progress [64]int8 // by coefficient in zigzag order: bits still missing, or -1 before its first scan

	before [smoothed]int8 // progress before the component's latest scan

	coefficients []block // of all scans, where the picture is buffered
	row          []block // of one MCU row within the view
	last         []uint8 // by block of row: zigzag place of its last coefficient
	strip        []byte  // samples of one MCU row within the view, and one row above
	stride       int
}

// Header reads data, a whole file, up to its first scan. The Decoder keeps data
// until the next call of Header.
func (d *Decoder) Header(data []byte) (Config, error) {
	d.ready = false
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

// Decode writes the window of the picture, which is the whole one or a part of
// it, as 4 bytes per pixel: red, green, blue and 255. dst[0] is the window's
// top left, and stride the distance in bytes between its rows. The pixels are
// those of the whole picture, cropped. It may be called again for other windows.
//
// A file that is cut short is an error whatever the window, and so is what is
// wrong between the only scan and the end of a sequential file. Entropy code
// that is damaged is an error where the window needs it, or what comes after it
// up to the window's last row. After an error dst is only partly written.
func (d *Decoder) Decode(dst []byte, stride int, window image.Rectangle) error {
	if !d.ready {
		return errNoHeader
	}
	if window.Empty() {
		return nil
	}
	if !window.In(image.Rect(0, 0, d.config.Width, d.config.Height)) {
		return fmt.Errorf("jpeg: decode: window %v exceeds the picture's %d×%d", window, d.config.Width, d.config.Height)
	}
	if stride < 4*window.Dx() || len(dst) < (window.Dy()-1)*stride+4*window.Dx() {
		return errRoom
	}
	if d.buffered {
		if err := d.load(); err != nil {
			return err
		}
	} else if err := d.openScan(); err != nil {
		return err
	}
	return d.decodeWindow(dst, stride, window)
}

// grow returns a slice of n elements, s itself if it has room.
func grow[T any](s []T, n int) []T {
	if cap(s) < n {
		return make([]T, n)
	}
	return s[:n]
}
