package dicom

import "encoding/binary"

// Values extracts the stored values from raw, which Decode has filled. A value is the Stored bits from bit High down, with
// a sign if Signed. Dst has one element per value; if it or raw has fewer, these are extracted.
func (m *Image) Values(dst []int64, raw []byte) {
	dst = dst[:min(len(dst), len(raw)/(m.Bits/8))]
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

// Range is the smallest and the largest value that can be stored.
func (m *Image) Range() (least, most int64) {
	if m.Signed {
		return -1 << (m.Stored - 1), 1<<(m.Stored-1) - 1
	}
	return 0, 1<<m.Stored - 1
}
