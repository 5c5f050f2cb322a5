package jpeg

import (
	"bytes"
	"encoding/binary"
	"math"
)

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
