package jpeg

import "encoding/binary"

// orientation finds the orientation in an APP1 segment: 1 to 8, or 0 where
// there is none. Exif 2.3, section 4.6.4: tag 0x112 of the first directory.
func orientation(segment []byte) int {
	if len(segment) < 14 || string(segment[:6]) != "Exif\x00\x00" {
		return 0
	}
	tiff := segment[6:]
	var order binary.ByteOrder
	switch string(tiff[:4]) {
	case "II*\x00":
		order = binary.LittleEndian
	case "MM\x00*":
		order = binary.BigEndian
	default:
		return 0
	}
	at := uint64(order.Uint32(tiff[4:]))
	if at+2 > uint64(len(tiff)) {
		return 0
	}
	entries := tiff[at+2:]
	for range order.Uint16(tiff[at:]) {
		if len(entries) < 12 {
			return 0
		}
		const tag, short = 0x112, 3
		if order.Uint16(entries) == tag {
			value := order.Uint16(entries[8:])
			if order.Uint16(entries[2:]) != short || value < 1 || value > 8 {
				return 0
			}
			return int(value)
		}
		entries = entries[12:]
	}
	return 0
}
