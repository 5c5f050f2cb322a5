package dicom

import "encoding/binary"

// Values are the stored values in raw, which Decode has filled: of every one the bits from High down, as many as are
// Stored, with their sign if it is Signed. dst has a place for each.
func (m *Image) Values(dst []int64, raw []byte) {
	switch m.Bits {
	case 8:
		for i := range dst {
			dst[i] = m.value(uint32(raw[i]))
		}
	case 16:
		for i := range dst {
			dst[i] = m.value(uint32(binary.NativeEndian.Uint16(raw[2*i:])))
		}
	case 32:
		for i := range dst {
			dst[i] = m.value(binary.NativeEndian.Uint32(raw[4*i:]))
		}
	}
}

func (m *Image) value(raw uint32) int64 {
	raw <<= 31 - m.High
	if m.Signed {
		return int64(int32(raw) >> (32 - m.Stored))
	}
	return int64(raw >> (32 - m.Stored))
}

// Range is the least and the largest value that can be stored.
func (m *Image) Range() (least, most int64) {
	if m.Signed {
		return -1 << (m.Stored - 1), 1<<(m.Stored-1) - 1
	}
	return 0, 1<<m.Stored - 1
}
