package jpeg

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
)

// The markers' second bytes: table B.1 of the standard.
const (
	markerSOF0  = 0xc0
	markerSOF1  = 0xc1
	markerSOF2  = 0xc2
	markerDHT   = 0xc4
	markerJPG   = 0xc8
	markerDAC   = 0xcc
	markerSOF15 = 0xcf
	markerRST0  = 0xd0
	markerRST7  = 0xd7
	markerSOI   = 0xd8
	markerEOI   = 0xd9
	markerSOS   = 0xda
	markerDQT   = 0xdb
	markerDNL   = 0xdc
	markerDRI   = 0xdd
	markerDHP   = 0xde
	markerEXP   = 0xdf
	markerAPP0  = 0xe0
	markerAPP1  = 0xe1
	markerAPP14 = 0xee
	markerAPP15 = 0xef
	markerCOM   = 0xfe
	markerTEM   = 0x01
)

// errNoMarker means that the file ends where a marker must be.
var errNoMarker = fmt.Errorf("markers: %w", io.ErrUnexpectedEOF)

// readHeader reads up to the first scan's header and checks it.
func (d *Decoder) readHeader() error {
	d.config = Config{}
	d.components = d.store[:0]
	d.hasQuant, d.hasDC, d.hasAC = [4]bool{}, [4]bool{}, [4]bool{}
	d.interval, d.jfif, d.adobe = 0, false, -1
	d.exif, d.xmp = nil, nil
	d.loaded, d.loadError, d.buffered = false, nil, false
	d.stream.from = -1

	if err := d.readTables(); err != nil {
		return err
	}
	if len(d.data) < 2 {
		return truncated(len(d.data), "start of image")
	}
	if d.data[0] != 0xff || d.data[1] != markerSOI {
		return corrupt(0, "not a JPEG file: it starts with %#x", d.data[:2])
	}
	at, err := d.readMarkers(2)
	if err != nil {
		return err
	}
	if at < 0 {
		return corrupt(len(d.data), "file ends without a scan")
	}
	if len(d.components) == 0 {
		return corrupt(at, "scan before its frame")
	}
	if err := d.checkFrame(at); err != nil {
		return err
	}
	d.config.Orientation = Orientation(d.exif, d.xmp)
	d.scanAt = at
	if _, err := d.readScanHeader(at); err != nil {
		return err
	}
	d.buffered = d.config.Progressive || len(d.scan.components) != len(d.components)
	return nil
}

// readTables reads Tables, if there are any.
func (d *Decoder) readTables() error {
	if len(d.Tables) == 0 {
		return nil
	}
	file := d.data
	d.data = d.Tables
	defer func() { d.data = file }()
	if len(d.data) < 2 || d.data[0] != 0xff || d.data[1] != markerSOI {
		return corrupt(0, "the tables are not a JPEG stream: they start with %#x", d.data[:min(2, len(d.data))])
	}
	at, err := d.readMarkers(2)
	if err == nil && (at >= 0 || len(d.components) > 0) {
		return corrupt(0, "tables with an image")
	}
	return err
}

// readMarkers reads segments from offset at to the next scan. It returns the
// offset of the scan's header, after the marker, or -1 at the end of the image.
// Bytes between segments are skipped, as in libjpeg.
func (d *Decoder) readMarkers(at int) (int, error) {
	for {
		at = nextMarker(d.data, at)
		if at == len(d.data) {
			return 0, &Error{Offset: at, Err: errNoMarker}
		}
		marker := d.data[at]
		at++
		switch {
		case marker == markerSOI:
			return 0, corrupt(at, "second start of image")
		case marker == markerTEM, marker >= markerRST0 && marker <= markerRST7:
			continue
		case marker == markerEOI:
			return -1, nil
		case marker == markerSOS:
			return at, nil
		}
		if err := d.checkMarker(marker, at); err != nil {
			return 0, err
		}
		segment, err := d.segment(at)
		if err != nil {
			return 0, err
		}
		if n := int(d.data[at])<<8 | int(d.data[at+1]); n < 2 && (marker < markerAPP0 && marker != markerDNL) {
			return 0, corrupt(at, "segment of %d bytes", n)
		}
		if err := d.readSegment(marker, at, segment); err != nil {
			return 0, err
		}
		at += 2 + len(segment)
	}
}

// nextMarker returns the offset of the second byte of the first marker at or
// after offset at, or the length of data.
func nextMarker(data []byte, at int) int {
	for at < len(data) {
		i := bytes.IndexByte(data[at:], 0xff)
		if i < 0 {
			break
		}
		at += i + 1
		for at < len(data) && data[at] == 0xff {
			at++
		}
		if at < len(data) && data[at] != 0 {
			return at
		}
	}
	return len(data)
}

// checkMarker checks that a segment with this marker may come here. Its length
// field is at offset at.
func (d *Decoder) checkMarker(marker uint8, at int) error {
	switch marker {
	case markerSOF0, markerSOF1, markerSOF2:
		if len(d.components) > 0 {
			return corrupt(at, "second frame")
		}
	case 0xc3:
		return unsupported(at, "lossless coding")
	case 0xc5, 0xc6, 0xc7, markerDHP, markerEXP:
		return unsupported(at, "hierarchical coding")
	case 0xc9, 0xca, 0xcb, 0xcd, 0xce, markerSOF15, markerDAC:
		return unsupported(at, "arithmetic coding")
	case markerJPG:
		return unsupported(at, "JPG extension")
	default:
		if marker < markerSOF0 || marker > markerAPP15 && marker != markerCOM {
			return corrupt(at, "marker %#x", marker)
		}
	}
	return nil
}

// segment returns what follows the length field at offset at. A length below 2,
// which does not even count the field itself, means an empty segment, as in
// libjpeg.
func (d *Decoder) segment(at int) ([]byte, error) {
	if len(d.data)-at < 2 {
		return nil, truncated(len(d.data), "length of a segment")
	}
	n := max(2, int(d.data[at])<<8|int(d.data[at+1]))
	if len(d.data)-at < n {
		return nil, truncated(len(d.data), "segment")
	}
	return d.data[at+2 : at+n], nil
}

// readSegment reads the segment of a marker. Its length field is at offset at.
func (d *Decoder) readSegment(marker uint8, at int, segment []byte) error {
	switch marker {
	case markerSOF0, markerSOF1, markerSOF2:
		d.config.Progressive = marker == markerSOF2
		return d.readFrame(at, segment)
	case markerDHT:
		return d.readHuffman(at, segment)
	case markerDQT:
		return d.readQuant(at, segment)
	case markerDRI:
		if len(segment) != 2 {
			return corrupt(at, "restart interval of %d bytes", len(segment))
		}
		d.interval = int(segment[0])<<8 | int(segment[1])
	case markerAPP0:
		if len(segment) >= 14 && string(segment[:5]) == "JFIF\x00" {
			d.jfif = true
		}
	case markerAPP1:
		d.readAPP1(segment)
	case markerAPP14:
		if len(segment) >= 12 && string(segment[:5]) == "Adobe" {
			d.adobe = int(segment[11])
		}
	}
	return nil
}

// readAPP1 keeps what may contain the image's orientation. Exif data can be spread
// over several segments.
func (d *Decoder) readAPP1(segment []byte) {
	const exifID, xmpID = "Exif\x00\x00", "http://ns.adobe.com/xap/1.0/\x00"
	switch {
	case !bytes.HasPrefix(segment, []byte(exifID)):
		if bytes.HasPrefix(segment, []byte(xmpID)) {
			d.xmp = segment[len(xmpID):]
		}
	case d.exif == nil:
		d.exif = segment[:len(segment):len(segment)]
	default:
		d.exif = append(d.exif, segment[len(exifID):]...)
	}
}

// readQuant reads quantisation tables.
func (d *Decoder) readQuant(at int, segment []byte) error {
	for len(segment) > 0 {
		wide, id := min(1, int(segment[0]>>4)), segment[0]&15 // in libjpeg, all but 0 means 16 bits
		if id > 3 {
			return corrupt(at, "quantisation table %#x", segment[0])
		}
		size := 64 << wide
		if len(segment) < 1+size {
			return corrupt(at, "quantisation table of %d bytes", len(segment)-1)
		}
		for k := range 64 {
			if wide == 0 {
				d.quant[id][zigzag[k]] = int16(segment[1+k])
			} else {
				d.quant[id][zigzag[k]] = int16(uint16(segment[1+2*k])<<8 | uint16(segment[2+2*k]))
			}
		}
		d.hasQuant[id] = true
		segment = segment[1+size:]
	}
	return nil
}

// readHuffman reads Huffman tables.
func (d *Decoder) readHuffman(at int, segment []byte) error {
	for len(segment) > 0 {
		if len(segment) < 17 {
			return corrupt(at, "Huffman table of %d bytes", len(segment))
		}
		class, id := segment[0]>>4, segment[0]&15
		if class > 1 || id > 3 {
			return corrupt(at, "Huffman table %#x", segment[0])
		}
		count := (*[16]uint8)(segment[1:])
		total := 0
		for _, n := range count {
			total += int(n)
		}
		if total > 256 || len(segment) < 17+total {
			return corrupt(at, "Huffman table of %d symbols in %d bytes", total, len(segment)-17)
		}
		d.setHuffman(class == 0, id, count, segment[17:17+total])
		segment = segment[17+total:]
	}
	return nil
}

// setHuffman builds the table that scans call id. If it is invalid, only the scans
// that use it are errors.
func (d *Decoder) setHuffman(dc bool, id uint8, count *[16]uint8, symbol []uint8) {
	table, has := &d.tables[4+id], &d.hasAC[id]
	if dc {
		table, has = &d.tables[id], &d.hasDC[id]
	}
	table.build(count, symbol, dc)
	*has = true
}

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

const orientationTag = 0x112 // Exif 2.3, section 4.6.4

// Orientation is the orientation of an image in Exif's numbers, 1 to 8, or 0 if there is none, by the
// rules of Pillow's ImageOps.exif_transpose. Files of other formats have Exif and XMP data, too. The
// prefix "Exif" of the Exif data may be missing. The XMP packet is used only if the
// Exif data have no orientation. Both may be nil.
func Orientation(exif, xmp []byte) int {
	v, ok := inDirectory(exif)
	if !ok {
		v = inPacket(xmp)
	}
	if v < 1 || v > 8 {
		return 0
	}
	return v
}

// inDirectory reads the orientation from the first directory of Exif data, up to the
// first field that is not complete. If there are several, it is the last one.
func inDirectory(data []byte) (value int, ok bool) {
	for bytes.HasPrefix(data, []byte("Exif\x00\x00")) {
		data = data[6:]
	}
	if len(data) < 8 {
		return 0, false
	}
	var order binary.ByteOrder
	switch string(data[:4]) {
	case "II*\x00", "II\x00*":
		order = binary.LittleEndian
	case "MM\x00*", "MM*\x00":
		order = binary.BigEndian
	default:
		return 0, false
	}
	at := uint64(order.Uint32(data[4:]))
	if at+2 > uint64(len(data)) {
		return 0, false
	}
	entries := data[at+2:]
	for range order.Uint16(data[at:]) {
		if len(entries) < 12 {
			break
		}
		field, whole := fieldOf(data, entries[:12], order)
		if !whole {
			break
		}
		if order.Uint16(entries) == orientationTag && len(field) > 0 {
			value, ok = number(field, order.Uint16(entries[2:]), order), true
		}
		entries = entries[12:]
	}
	return value, ok
}

// exifSizes are the exifSizes in bytes of the types of values. 0 means that Pillow does not
// know the type.
var exifSizes = [...]uint64{1: 1, 2: 1, 3: 2, 4: 4, 5: 8, 6: 1, 7: 1, 8: 2, 9: 4, 10: 8, 11: 4, 12: 8, 13: 4, 16: 8}

// fieldOf returns the values of a directory's entry, and whether the data hold all of
// them. They are empty if Pillow does not know their type.
func fieldOf(data, entry []byte, order binary.ByteOrder) (field []byte, whole bool) {
	kind := int(order.Uint16(entry[2:]))
	if kind >= len(exifSizes) || exifSizes[kind] == 0 {
		return nil, true
	}
	size := exifSizes[kind] * uint64(order.Uint32(entry[4:]))
	if size <= 4 {
		return entry[8 : 8+size], true
	}
	at := uint64(order.Uint32(entry[8:]))
	if at+size > uint64(len(data)) {
		return nil, false
	}
	return data[at : at+size], true
}

// number is the first value of a field, or 0 if it is not a small whole number.
func number(field []byte, kind uint16, order binary.ByteOrder) int {
	switch kind {
	case 3: // SHORT
		return int(order.Uint16(field))
	case 4, 13: // LONG, IFD
		return int(order.Uint32(field))
	case 6: // SBYTE
		return int(int8(field[0]))
	case 8: // SSHORT
		return int(int16(order.Uint16(field)))
	case 9: // SLONG
		return int(int32(order.Uint32(field)))
	case 11: // FLOAT
		if f := math.Float32frombits(order.Uint32(field)); f == float32(int8(f)) {
			return int(f)
		}
	}
	return 0
}

// inPacket finds tiff:Orientation="6" or tiff:Orientation>6 in XMP.
func inPacket(xmp []byte) int {
	name := []byte("tiff:Orientation")
	for {
		i := bytes.Index(xmp, name)
		if i < 0 {
			return 0
		}
		xmp = xmp[i+len(name):]
		value, ok := bytes.CutPrefix(xmp, []byte(`="`))
		if !ok {
			value, ok = bytes.CutPrefix(xmp, []byte(">"))
		}
		if ok && len(value) > 0 && '0' <= value[0] && value[0] <= '9' {
			return int(value[0] - '0')
		}
	}
}

// An Error says what is wrong with a file and where. It wraps
// io.ErrUnexpectedEOF if the file ends too early, and errors.ErrUnsupported if it
// uses a part of the standard that the decoder does not implement.
type Error struct {
	Offset int // in bytes from the start of the file
	Err    error
}

func (e *Error) Error() string { return fmt.Sprintf("jpeg: at byte %d: %v", e.Offset, e.Err) }

func (e *Error) Unwrap() error { return e.Err }

func corrupt(offset int, format string, args ...any) error {
	return &Error{Offset: offset, Err: fmt.Errorf(format, args...)}
}

func truncated(offset int, where string) error {
	return &Error{Offset: offset, Err: fmt.Errorf("%s: %w", where, io.ErrUnexpectedEOF)}
}

func unsupported(offset int, what string) error {
	return &Error{Offset: offset, Err: fmt.Errorf("%s: %w", what, errors.ErrUnsupported)}
}
