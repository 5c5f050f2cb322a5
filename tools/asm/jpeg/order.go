package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// zigzag returns the place in the stream of each coefficient, row by row.
func zigzag() (place [64]int) {
	x, y, up := 0, 0, true
	for k := range place {
		place[8*y+x] = k
		switch {
		case up && x == 7:
			y, up = y+1, false
		case up && y == 0:
			x, up = x+1, false
		case up:
			x, y = x+1, y-1
		case y == 7:
			x, up = x+1, true
		case x == 0:
			y, up = y+1, true
		default:
			x, y = x-1, y+1
		}
	}
	return place
}

// A reorderer moves blocks out of zigzag order.
type reorderer struct {
	dst, src, last, n    Register
	dstStep, srcStep, by Register // bytes, bytes, blocks
}

func newReorderer(name string, doc ...string) *reorderer {
	TEXT(name, NOSPLIT, "func(dst, src *int16, last *uint8, n, dstStep, srcStep int)")
	Doc(doc...)
	r := &reorderer{
		dst: Load(Param("dst"), GP64()), src: Load(Param("src"), GP64()), last: Load(Param("last"), GP64()),
		n: Load(Param("n"), GP64()), by: Load(Param("dstStep"), GP64()), srcStep: Load(Param("srcStep"), GP64()),
		dstStep: GP64(),
	}
	SHLQ(U8(7), r.srcStep)
	MOVQ(r.by, r.dstStep)
	SHLQ(U8(7), r.dstStep)
	return r
}

// advance sets the block's last place to 63 if any is true, else 0, and goes to the
// next block.
func (r *reorderer) advance(any func(flag Register)) {
	flag := GP32()
	any(flag.As8())
	MOVBLZX(flag.As8(), flag)
	NEGL(flag)
	ANDL(U8(63), flag)
	MOVB(flag.As8(), Mem{Base: r.last})
	ADDQ(r.dstStep, r.dst)
	ADDQ(r.srcStep, r.src)
	ADDQ(r.by, r.last)
	DECQ(r.n)
	JNZ(LabelRef("block"))
	VZEROUPPER()
	RET()
}

// indices holds the place in the stream of each coefficient.
func indices() Mem {
	order := GLOBL("reorder_order", RODATA|NOPTR)
	for i, k := range zigzag() {
		DATA(2*i, U16(uint16(k)))
	}
	return order
}

// reorder4 takes a block as two vectors of AVX-512.
func reorder4(order Mem) {
	r := newReorderer("reorder4", "reorder4 is reorder with AVX-512 F and BW.")
	upper, lower, zero, ac := ZMM(), ZMM(), ZMM(), K()
	VMOVDQU16(order, upper)
	VMOVDQU16(order.Offset(64), lower)
	VPXORQ(zero, zero, zero)
	mask := GP32()
	MOVL(U32(0xfffffffe), mask)
	KMOVD(mask, ac)
	Label("block")
	a, b, head, tail := ZMM(), ZMM(), ZMM(), ZMM()
	VMOVDQU16(Mem{Base: r.src}, a)
	VMOVDQU16(Mem{Base: r.src, Disp: 64}, b)
	VMOVDQU16(zero, Mem{Base: r.src})
	VMOVDQU16(zero, Mem{Base: r.src, Disp: 64})
	VMOVDQA64(upper, head)
	VMOVDQA64(lower, tail)
	VPERMI2W(b, a, head)
	VPERMI2W(b, a, tail)
	VMOVDQU16(head, Mem{Base: r.dst})
	VMOVDQU16(tail, Mem{Base: r.dst, Disp: 64})
	VMOVDQU16_Z(a, ac, a) // without the DC coefficient
	VPORQ(b, a, a)
	differs := K()
	VPTESTMQ(a, a, differs)
	KORTESTW(differs, differs)
	r.advance(func(flag Register) { SETNE(flag) })
}

// rows says from which vectors of eight words rows y and 7-y are collected, and how. Row
// 7-y has row y's order, backwards and in the vectors counted from the other end, so one
// lane makes row y and the other row 7-y.
type rows struct {
	from  [4][]int // by y: the vectors
	masks [4][]Mem
}

// collecting is the shuffle to eight words of those at these places that are in the vector of eight words, and whether any is.
func collecting(places [8]int, from int) (mask [16]byte, any bool) {
	for i, k := range places {
		mask[2*i], mask[2*i+1] = 0x80, 0x80
		if k/8 == from {
			mask[2*i], mask[2*i+1], any = byte(k%8*2), byte(k%8*2+1), true
		}
	}
	return mask, any
}

func newRows() *rows {
	place, r := zigzag(), &rows{}
	table := GLOBL("reorder_masks", RODATA|NOPTR)
	size := 0
	for y := range 4 {
		for v := range 8 {
			mask, used := collecting([8]int(place[8*y:]), v)
			if !used {
				continue
			}
			r.from[y] = append(r.from[y], v)
			r.masks[y] = append(r.masks[y], table.Offset(size))
			for i, m := range mask {
				DATA(size+i, U8(m))
			}
			for x := range 8 { // the other lane: words of the vector and of the row backwards
				for i := range 2 {
					m := mask[2*(7-x)+i]
					if m != 0x80 {
						m = byte((7-int(m)/2)*2 + i)
					}
					DATA(size+16+2*x+i, U8(m))
				}
			}
			size += 32
		}
	}
	return r
}

// move collects a block's rows, and calls each for every pair of them.
func (r *rows) move(dst, src Register, each func(y int, row VecVirtual)) {
	var vectors [8]VecVirtual
	for v := range vectors {
		if v == 4 || v == 7 { // no row of the upper half needs it
			continue
		}
		vectors[v] = YMM()
		VMOVDQU(Mem{Base: src, Disp: 16 * v}, vectors[v].AsX())
		VINSERTI128(U8(1), Mem{Base: src, Disp: 16 * (7 - v)}, vectors[v], vectors[v])
	}
	for y := range 4 {
		row, t := YMM(), YMM()
		for i, v := range r.from[y] {
			if i == 0 {
				VPSHUFB(r.masks[y][i], vectors[v], row)
				continue
			}
			VPSHUFB(r.masks[y][i], vectors[v], t)
			VPOR(t, row, row)
		}
		VMOVDQU(row.AsX(), Mem{Base: dst, Disp: 16 * y})
		VEXTRACTI128(U8(1), row, Mem{Base: dst, Disp: 16 * (7 - y)})
		each(y, row)
	}
}

func reorder(rows *rows) {
	ac := GLOBL("reorder_ac", RODATA|NOPTR)
	for i := range 4 {
		v := ^uint64(0)
		if i == 0 {
			v <<= 16
		}
		DATA(8*i, U64(v))
	}

	r := newReorderer("reorder",
		"reorder moves n blocks out of zigzag order, writes 63 to their bytes of last, or 0 if only",
		"the DC coefficient differs from zero, and clears them at src. The steps are in blocks.")
	Label("block")
	any := YMM()
	rows.move(r.dst, r.src, func(y int, row VecVirtual) {
		if y == 0 {
			VPAND(ac, row, any)
		} else {
			VPOR(row, any, any)
		}
	})
	zero := YMM()
	VPXOR(zero, zero, zero)
	for i := range 4 {
		VMOVDQU(zero, Mem{Base: r.src, Disp: 32 * i})
	}
	VPTEST(any, any)
	r.advance(func(flag Register) { SETNE(flag) })
}

// natural is for blocks that stay in zigzag order where they are.
func natural(rows *rows) {
	TEXT("natural", NOSPLIT, "func(dst, src *int16, n int)")
	Doc("natural copies n blocks out of zigzag order.")
	dst, src, n := Load(Param("dst"), GP64()), Load(Param("src"), GP64()), Load(Param("n"), GP64())
	Label("block")
	rows.move(dst, src, func(int, VecVirtual) {})
	nextBlock(dst, src, n)
}

func natural4(order Mem) {
	TEXT("natural4", NOSPLIT, "func(dst, src *int16, n int)")
	Doc("natural4 is natural with AVX-512 F and BW.")
	dst, src, n := Load(Param("dst"), GP64()), Load(Param("src"), GP64()), Load(Param("n"), GP64())
	upper, lower := ZMM(), ZMM()
	VMOVDQU16(order, upper)
	VMOVDQU16(order.Offset(64), lower)
	Label("block")
	a, b, head, tail := ZMM(), ZMM(), ZMM(), ZMM()
	VMOVDQU16(Mem{Base: src}, a)
	VMOVDQU16(Mem{Base: src, Disp: 64}, b)
	VMOVDQA64(upper, head)
	VMOVDQA64(lower, tail)
	VPERMI2W(b, a, head)
	VPERMI2W(b, a, tail)
	VMOVDQU16(head, Mem{Base: dst})
	VMOVDQU16(tail, Mem{Base: dst, Disp: 64})
	nextBlock(dst, src, n)
}

// nextBlock goes on with the next of n blocks.
func nextBlock(dst, src, n Register) {
	ADDQ(U32(128), dst)
	ADDQ(U32(128), src)
	DECQ(n)
	JNZ(LabelRef("block"))
	VZEROUPPER()
	RET()
}

// unstuff removes the zeros after bytes of 0xff, 64 bytes at a time.
func unstuff() {
	full := dwords4("stuffed", 0xffffffff)
	TEXT("unstuff64", NOSPLIT, "func(dst, src *byte, n int) (read, written int)")
	Doc("unstuff64 copies bytes without the zeros after bytes of 0xff, of n times 64 bytes and one",
		"more. It ends before 64 bytes that contain a 0xff with another byte than 0 after it. Dst has",
		"room for all bytes. It needs AVX-512 F, BW and VBMI2.")
	dst, src, n := Load(Param("dst"), GP64()), Load(Param("src"), GP64()), Load(Param("n"), GP64())
	firstDst, firstSrc := GP64(), GP64()
	MOVQ(dst, firstDst)
	MOVQ(src, firstSrc)
	ff := ZMM()
	VMOVDQU64(full, ff)
	before := GP64() // 1 if the byte before was 0xff
	XORL(before.As32(), before.As32())
	Label("bytes")
	x, after := ZMM(), ZMM()
	is, other := K(), K()
	VMOVDQU64(Mem{Base: src}, x)
	VMOVDQU64(Mem{Base: src, Disp: 1}, after)
	VPCMPEQB(ff, x, is)
	VPTESTMB(after, after, is, other)
	KORTESTQ(other, other)
	JNZ(LabelRef("marker"))
	stuffed, last := GP64(), GP64()
	KMOVQ(is, stuffed)
	MOVQ(stuffed, last)
	SHRQ(U8(63), last)
	LEAQ(Mem{Base: before, Index: stuffed, Scale: 2}, stuffed)
	MOVQ(last, before)
	NOTQ(stuffed)
	keep := K()
	KMOVQ(stuffed, keep)
	VPCOMPRESSB_Z(x, keep, x)
	VMOVDQU64(x, Mem{Base: dst})
	POPCNTQ(stuffed, stuffed)
	ADDQ(stuffed, dst)
	ADDQ(U8(64), src)
	DECQ(n)
	JNZ(LabelRef("bytes"))
	Label("marker")
	ADDQ(before, src) // its zero
	SUBQ(firstDst, dst)
	SUBQ(firstSrc, src)
	Store(src, ReturnIndex(0))
	Store(dst, ReturnIndex(1))
	VZEROUPPER()
	RET()
}
