// Blockcode generates the AVX2 and AVX-512 kernels of internal/codec/blockcode.
package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

func main() {
	ConstraintExpr("amd64,!purego")
	flatten64()
	expand64()
	flatten32()
	expand32()
	readLanes()
	Generate()
}

// An expander fills blocks one after the other.
type expander struct {
	blocks, last, n                 GPVirtual
	lengths, dcs, masks, flat, wide GPVirtual
	dc, all                         GPVirtual

	// fill writes a block without its DC coefficient. Bit k of the mask is
	// coefficient k. It may change the mask, and has to advance flat.
	fill func(mask GPVirtual)
}

// expand writes a function that fills n blocks with two of them in a round.
func expand(name, needs string, prepare func(e *expander, tables GPVirtual)) {
	TEXT(name, NOSPLIT, "func(blocks *int16, last *uint8, n int, lengths, dcs, masks *byte, flat *int8, wide *byte, tables *uint8) uint64")
	Pragma("noescape")
	Doc(name+" fills n blocks, without patches, and returns all masks in one number. It reads 7",
		"bytes beyond the masks, 63 elements beyond flat and 2 bytes beyond wide. It needs "+needs+".")
	load := func(param string) GPVirtual {
		r := GP64()
		Load(Param(param), r)
		return r
	}
	e := &expander{
		blocks: load("blocks"), last: load("last"), n: load("n"), lengths: load("lengths"), dcs: load("dcs"),
		masks: load("masks"), flat: load("flat"), wide: load("wide"), dc: GP64(), all: GP64(),
	}
	prepare(e, load("tables"))
	XORL(e.dc.As32(), e.dc.As32())
	XORQ(e.all, e.all)

	Label("blocks")
	e.block(func(length GPVirtual) {
		MOVBLZX(Mem{Base: e.lengths}, length.As32())
		ANDL(U8(15), length.As32())
	})
	DECQ(e.n)
	JZ(LabelRef("done"))
	e.block(func(length GPVirtual) {
		MOVBLZX(Mem{Base: e.lengths}, length.As32())
		SHRL(U8(4), length.As32())
		INCQ(e.lengths)
	})
	DECQ(e.n)
	JNZ(LabelRef("blocks"))
	Label("done")
	Store(e.all, ReturnIndex(0))
	VZEROUPPER()
	RET()
}

// block fills a block and advances.
func (e *expander) block(next func(length GPVirtual)) {
	length, mask, place := GP64(), GP64(), GP64()
	next(length)
	MOVQ(Mem{Base: e.masks}, mask)
	ADDQ(length, e.masks)
	SHLL(U8(3), length.As32())
	BZHIQ(length, mask, mask)
	ORQ(mask, e.all)
	ADDQ(mask, mask) // without an invalid coefficient 64
	MOVQ(mask, place)
	ORQ(U8(1), place)
	BSRQ(place, place)
	MOVB(place.As8(), Mem{Base: e.last})
	INCQ(e.last)

	e.fill(mask)

	difference, wide, after := GP64(), GP64(), GP64()
	MOVBLSX(Mem{Base: e.dcs}, difference.As32())
	INCQ(e.dcs)
	MOVWLZX(Mem{Base: e.wide}, wide.As32())
	LEAQ(Mem{Base: e.wide, Disp: 2}, after)
	CMPL(difference.As32(), I8(-128))
	CMOVLEQ(wide.As32(), difference.As32())
	CMOVQEQ(after, e.wide)
	ADDL(difference.As32(), e.dc.As32())
	MOVW(e.dc.As16(), Mem{Base: e.blocks})
	ADDQ(U32(128), e.blocks)
}

// expand64 handles a block as one vector of bytes.
func expand64() {
	expand("expand64", "AVX-512 VBMI2", func(e *expander, tables GPVirtual) {
		order := ZMM()
		VMOVDQU8(Mem{Base: tables}, order)
		e.fill = func(mask GPVirtual) {
			k, x, head := K(), ZMM(), ZMM()
			KMOVQ(mask, k)
			VMOVDQU8(Mem{Base: e.flat}, x)
			VPEXPANDB_Z(x, k, x)
			VPERMB(x, order, x)
			VPMOVSXBW(x.AsY(), head)
			VEXTRACTI64X4(U8(1), x, x.AsY())
			VPMOVSXBW(x.AsY(), x)
			VMOVDQU16(head, Mem{Base: e.blocks})
			VMOVDQU16(x, Mem{Base: e.blocks, Disp: 64})
			POPCNTQ(mask, mask)
			ADDQ(mask, e.flat)
		}
	})
}

// bytesOf repeats a byte in a vector of this size.
func bytesOf(name string, v byte, size int) Mem {
	m := GLOBL(name, RODATA|NOPTR)
	for i := range size {
		DATA(i, U8(v))
	}
	return m
}

// flatten64 unpacks 64 values at once.
func flatten64() {
	TEXT("flatten64", NOSPLIT, "func(flat *int8, values *byte, n int, escapes *byte, most int) int")
	Pragma("noescape")
	Doc("flatten64 unpacks n values, and takes an escape for each that is zero. It stops when it has",
		"taken more than most. It returns how many it took. It reads 31 bytes beyond the values and",
		"64 beyond the escapes, and writes 63 elements beyond the last. It needs AVX-512 VBMI2.")
	flat, values, n := Load(Param("flat"), GP64()), Load(Param("values"), GP64()), Load(Param("n"), GP64())
	escapes, most := Load(Param("escapes"), GP64()), Load(Param("most"), GP64())
	nibble, sign, none := ZMM(), ZMM(), ZMM()
	VMOVDQU64(bytesOf("nibble64", 0x0f, 64), nibble)
	VMOVDQU64(bytesOf("sign64", 8, 64), sign)
	VPXORQ(none, none, none)
	used := GP64()
	XORQ(used, used)

	Label("values")
	valid := GP64()
	MOVQ(I32(-1), valid)
	CMPQ(n, U8(64))
	JGE(LabelRef("full"))
	BZHIQ(n, valid, valid)
	Label("full")
	x, high, raw := ZMM(), ZMM(), ZMM()
	VPMOVZXBW(Mem{Base: values}, x)
	VPSLLW(U8(4), x, high)
	VPORQ(high, x, x)
	VPANDQ(nibble, x, x)
	isZero, zeros := K(), GP64()
	VPCMPEQB(none, x, isZero)
	KMOVQ(isZero, zeros)
	ANDQ(valid, zeros)
	KMOVQ(zeros, isZero)
	POPCNTQ(zeros, zeros)
	VPXORQ(sign, x, x)
	VPSUBB(sign, x, x)
	VMOVDQU8(Mem{Base: escapes, Index: used, Scale: 1}, raw)
	VPEXPANDB(raw, isZero, x)
	VMOVDQU8(x, Mem{Base: flat})
	ADDQ(zeros, used)
	ADDQ(U8(32), values)
	ADDQ(U8(64), flat)
	CMPQ(used, most)
	JG(LabelRef("done"))
	SUBQ(U8(64), n)
	JG(LabelRef("values"))
	Label("done")
	Store(used, ReturnIndex(0))
	VZEROUPPER()
	RET()
}

const (
	lanes    = 8
	codeBits = 11
	once     = 56 / codeBits // how many codes a load of 64 bits has at least, without its last bit
)

// A laneReader decodes one code of each lane after the other.
type laneReader struct {
	dst, table, src, at Register
	bits                [lanes]GPVirtual // the next ones; the leading zeros count what has been taken
}

// readLanes decodes Huffman codes, an entry of the table at a time.
func readLanes() {
	TEXT("readLanes", NOSPLIT, "func(dst *byte, n int, table *uint16, src *byte, limit int, at *int) int")
	Pragma("noescape")
	Doc("readLanes decodes n bytes, in turn from each lane. at has the bits before the next one of each",
		"lane. It stops when a lane is beyond bit limit of src, of which it reads 8 bytes more. It",
		"returns how many bytes are left. It needs BMI2 and LZCNT, which all processors with BMI2 have.")
	r := &laneReader{
		dst: Load(Param("dst"), GP64()), table: Load(Param("table"), GP64()),
		src: Load(Param("src"), GP64()), at: Load(Param("at"), GP64()),
	}
	n := NewParamAddr("n", 8)
	for i := range r.bits {
		r.bits[i] = GP64()
		MOVQ(I32(-1), r.bits[i])
	}
	Label("many")
	SUBQ(U8(lanes*once), n)
	JL(LabelRef("rest"))
	r.refill("over")
	for i := range once {
		for lane := range lanes {
			r.code(lane, lanes*i+lane)
		}
	}
	ADDQ(U8(lanes*once), r.dst)
	JMP(LabelRef("many"))

	Label("over")
	ADDQ(U8(lanes*once), n)
	JMP(LabelRef("done"))

	Label("rest")
	ADDQ(U8(lanes*once), n)
	JZ(LabelRef("done"))
	r.refill("done")
	Label("round")
	SUBQ(U8(lanes), n)
	JL(LabelRef("last"))
	for lane := range lanes {
		r.code(lane, lane)
	}
	ADDQ(U8(lanes), r.dst)
	JMP(LabelRef("round"))
	Label("last")
	ADDQ(U8(lanes), n)
	for lane := range lanes - 1 {
		JZ(LabelRef("done"))
		r.code(lane, lane)
		DECQ(n)
	}

	Label("done")
	for i, bits := range r.bits {
		LZCNTQ(bits, bits)
		ADDQ(bits, Mem{Base: r.at, Disp: 8 * i})
	}
	left := GP64()
	MOVQ(n, left)
	Store(left, ReturnIndex(0))
	RET()
}

// refill loads the next bits of all lanes. It jumps to a label if a lane has none.
func (r *laneReader) refill(over string) {
	limit := NewParamAddr("limit", 32)
	for i, bits := range r.bits {
		at, t := Mem{Base: r.at, Disp: 8 * i}, GP64()
		LZCNTQ(bits, bits)
		ADDQ(at, bits)
		MOVQ(bits, at)
		MOVQ(bits, t)
		MOVQ(I32(-1), bits) // nothing has been taken
		CMPQ(t, limit)
		JG(LabelRef(over))
		MOVQ(t, bits)
		SHRQ(U8(3), bits)
		MOVQ(Mem{Base: r.src, Index: bits, Scale: 1}, bits)
		ANDL(U8(7), t.As32())
		SHRXQ(t, bits, bits)
		BTSQ(U8(63), bits)
	}
}

// code decodes a code. The lower byte of an entry is the code's length, and the upper
// one the symbol.
func (r *laneReader) code(lane, to int) {
	bits, symbol, t := r.bits[lane], GP64(), GP64()
	MOVL(bits.As32(), t.As32())
	ANDL(U32(1<<codeBits-1), t.As32())
	MOVBLZX(Mem{Base: r.table, Index: t, Scale: 2, Disp: 1}, symbol.As32())
	MOVBLZX(Mem{Base: r.table, Index: t, Scale: 2}, t.As32())
	SHRXQ(t, bits, bits)
	MOVB(symbol.As8(), Mem{Base: r.dst, Disp: to})
}

// The layout of kernelTables in internal/codec/blockcode.
const (
	tableShuffles = 64  // eight of 32 bytes
	tableSpread   = 320 // 256 of 8 bytes
)

// flatten32 is flatten64 for AVX2. It moves eight escapes at a time to their places.
func flatten32() {
	TEXT("flatten32", NOSPLIT, "func(flat *int8, values *byte, n int, escapes *byte, most int, tables *uint8) int")
	Pragma("noescape")
	Doc("flatten32 is flatten64 with AVX2 and BMI2.")
	flat, values, n := Load(Param("flat"), GP64()), Load(Param("values"), GP64()), Load(Param("n"), GP64())
	escapes, most := Load(Param("escapes"), GP64()), Load(Param("most"), GP64())
	tables := Load(Param("tables"), GP64())
	nibble, sign, none := YMM(), YMM(), YMM()
	VMOVDQU(bytesOf("nibble32", 0x0f, 32), nibble)
	VMOVDQU(bytesOf("sign32", 8, 32), sign)
	VPXOR(none, none, none)
	used := GP64()
	XORQ(used, used)

	Label("values")
	x, high, isZero, zeros := YMM(), YMM(), YMM(), GP64()
	VPMOVZXBW(Mem{Base: values}, x)
	VPSLLW(U8(4), x, high)
	VPOR(high, x, x)
	VPAND(nibble, x, x)
	VPCMPEQB(none, x, isZero)
	VPMOVMSKB(isZero, zeros.As32())
	VPXOR(sign, x, x)
	VPSUBB(sign, x, x)
	CMPQ(n, U8(32))
	JGE(LabelRef("full"))
	BZHIL(n.(GPVirtual).As32(), zeros.As32(), zeros.As32())
	Label("full")
	var parts [4]VecVirtual
	for i := range parts {
		parts[i] = XMM()
		eight := GP64()
		MOVBLZX(zeros.As8(), eight.As32())
		VMOVQ(Mem{Base: escapes, Index: used, Scale: 1}, parts[i])
		VPSHUFB(Mem{Base: tables, Index: eight, Scale: 8, Disp: tableSpread}, parts[i], parts[i])
		POPCNTL(eight.As32(), eight.As32())
		ADDQ(eight, used)
		if i < 3 {
			SHRL(U8(8), zeros.As32())
		}
	}
	VPUNPCKLQDQ(parts[1], parts[0], parts[0])
	VPUNPCKLQDQ(parts[3], parts[2], parts[2])
	VINSERTI128(U8(1), parts[2], parts[0].AsY(), parts[0].AsY())
	VPOR(parts[0].AsY(), x, x)
	VMOVDQU(x, Mem{Base: flat})
	ADDQ(U8(16), values)
	ADDQ(U8(32), flat)
	CMPQ(used, most)
	JG(LabelRef("done"))
	SUBQ(U8(32), n)
	JG(LabelRef("values"))
	Label("done")
	Store(used, ReturnIndex(0))
	VZEROUPPER()
	RET()
}

// expand32 moves eight values at a time to their places, and collects every two rows of
// the block from the four quarters of the zigzag order.
func expand32() {
	expand("expand32", "AVX2 and BMI2", func(e *expander, tables GPVirtual) {
		e.fill = func(mask GPVirtual) {
			var upper, lower VecVirtual // rows 0 to 3, and 4 to 7
			for i := range 4 {
				var halves [2]VecVirtual
				for j := range halves {
					halves[j] = XMM()
					eight := GP64()
					MOVBLZX(mask.As8(), eight.As32())
					VMOVQ(Mem{Base: e.flat}, halves[j])
					VPSHUFB(Mem{Base: tables, Index: eight, Scale: 8, Disp: tableSpread}, halves[j], halves[j])
					POPCNTL(eight.As32(), eight.As32())
					ADDQ(eight, e.flat)
					SHRQ(U8(8), mask)
				}
				VPUNPCKLQDQ(halves[1], halves[0], halves[0])
				quarter := halves[0].AsY()
				VINSERTI128(U8(1), halves[0], quarter, quarter)
				for j, sum := range []*VecVirtual{&upper, &lower} {
					rows := YMM()
					VPSHUFB(Mem{Base: tables, Disp: tableShuffles + 32*(2*i+j)}, quarter, rows)
					if i == 0 {
						*sum = rows
					} else {
						VPOR(rows, *sum, *sum)
					}
				}
			}
			for j, rows := range []VecVirtual{upper, lower} {
				two, other := YMM(), XMM()
				VPMOVSXBW(rows.AsX(), two)
				VEXTRACTI128(U8(1), rows, other)
				VMOVDQU(two, Mem{Base: e.blocks, Disp: 64 * j})
				VPMOVSXBW(other, two)
				VMOVDQU(two, Mem{Base: e.blocks, Disp: 64*j + 32})
			}
		}
	})
}
