package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// A writer brings four blocks' columns of words into rows of bytes.
type writer struct {
	flip         Mem // adds 128 to bytes
	upper, lower Mem // four columns' rows 0 to 3 and 4 to 7: a permutation of two vectors
}

func newWriter() writer {
	w := writer{flip: dwords4("four_flip", 0x80808080)}
	for i, m := range []*Mem{&w.upper, &w.lower} {
		*m = GLOBL([]string{"four_upper", "four_lower"}[i], RODATA|NOPTR)
		for d := range 16 { // so that interleaving dwords gives two rows each
			row, b := 4*i+d%4/2*2+d/8, d/4%2*2+d%2
			for c := range 4 {
				DATA(4*d+c, U8(c/2*64+16*b+c%2*8+row))
			}
		}
	}
	return w
}

// write writes columns, eight words per lane, to eight rows of 32 bytes. It moves dst.
func (w writer) write(columns [8]VecVirtual, dst, stride Register) {
	var two [4]VecVirtual // columns of bytes
	for i := range two {
		two[i] = ZMM()
		VPACKSSWB(columns[2*i+1], columns[2*i], two[i])
		VPXORQ(w.flip, two[i], two[i])
	}
	for _, order := range []Mem{w.upper, w.lower} {
		left, right := ZMM(), ZMM()
		VMOVDQU64(order, left)
		VMOVDQU64(order, right)
		VPERMI2B(two[1], two[0], left)
		VPERMI2B(two[3], two[2], right)
		for _, unpack := range []func(ops ...Op){VPUNPCKLDQ, VPUNPCKHDQ} {
			rows := ZMM()
			unpack(right, left, rows)
			VMOVDQU(rows.AsY(), Mem{Base: dst})
			VEXTRACTI64X4(U8(1), rows, Mem{Base: dst, Index: stride, Scale: 1})
			LEAQ(Mem{Base: dst, Index: stride, Scale: 2}, dst)
		}
	}
}

// sorted sorts four blocks by rows. Halves[h][b] are rows 4h to 4h+3 of block b.
func sorted(halves [2][4]VecVirtual) (rows [8]VecVirtual) {
	for h, z := range halves {
		var t [4]VecVirtual
		for i := 0; i < 4; i += 2 {
			t[i], t[i+1] = ZMM(), ZMM()
			VSHUFI64X2(U8(0x44), z[i+1], z[i], t[i])
			VSHUFI64X2(U8(0xee), z[i+1], z[i], t[i+1])
		}
		for i := range 2 {
			rows[4*h+2*i], rows[4*h+2*i+1] = ZMM(), ZMM()
			VSHUFI64X2(U8(0x88), t[2+i], t[i], rows[4*h+2*i])
			VSHUFI64X2(U8(0xdd), t[2+i], t[i], rows[4*h+2*i+1])
		}
	}
	return rows
}
