package jpeg

import (
	"bytes"
	"fmt"
	"io"
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
