package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// lookup writes what tables say of the bytes of one channel, 64 at a time, with
// AVX-512 VBMI. A table of values of size bytes is as many tables of bytes; one
// lookup permutes the two halves of 128 bytes and selects by the highest bit.
//
// Interleaving the bytes of the values works within lanes of 16 bytes. So the bytes
// of the channel are first arranged such that the values come out in order.
func lookup(size int) {
	element := map[int]string{2: "uint16", 4: "float32"}[size]
	pixels, samples := arrangement(fmt.Sprint("pixels", size), size, 4), arrangement(fmt.Sprint("samples", size), size, 1)

	name := fmt.Sprint("lookupPixels", 8*size)
	TEXT(name, NOSPLIT, fmt.Sprintf("func(dst *%s, src *byte, n int, tables *byte, channel int)", element))
	Doc(fmt.Sprintf("%s writes n times 64 values of %d bytes, for a channel of pixels.", name, size))
	dst, src, n := Load(Param("dst"), GP64()), Load(Param("src"), GP64()), Load(Param("n"), GP64())
	tables := loadTables(Load(Param("tables"), GP64()), size)
	index, channel := ZMM(), ZMM()
	VPBROADCASTB(Load(Param("channel"), GP64()).(GPVirtual).As32(), channel)
	VPADDB(pixels, channel, index)
	odd := K()
	alternate := GP32()
	MOVL(U32(0xaa), alternate)
	KMOVW(alternate, odd)
	Label("pixels")
	x, y := ZMM(), ZMM()
	VMOVDQU64(index, x)
	VMOVDQU64(index, y)
	first, second := ZMM(), ZMM()
	VMOVDQU64(Mem{Base: src}, first)
	VPERMI2B(Mem{Base: src, Disp: 64}, first, x)
	VMOVDQU64(Mem{Base: src, Disp: 128}, second)
	VPERMI2B(Mem{Base: src, Disp: 192}, second, y)
	VPBLENDMQ(y, x, odd, x)
	values(x, tables, dst)
	ADDQ(U32(256), src)
	ADDQ(U32(uint32(64*size)), dst)
	DECQ(n)
	JNZ(LabelRef("pixels"))
	VZEROUPPER()
	RET()

	name = fmt.Sprint("lookupSamples", 8*size)
	TEXT(name, NOSPLIT, fmt.Sprintf("func(dst *%s, src *byte, n int, tables *byte)", element))
	Doc(fmt.Sprintf("%s writes n times 64 values of %d bytes, for samples of one channel.", name, size))
	dst, src, n = Load(Param("dst"), GP64()), Load(Param("src"), GP64()), Load(Param("n"), GP64())
	tables = loadTables(Load(Param("tables"), GP64()), size)
	index = ZMM()
	VMOVDQU64(samples, index)
	Label("samples")
	x = ZMM()
	VPERMB(Mem{Base: src}, index, x)
	values(x, tables, dst)
	ADDQ(U32(64), src)
	ADDQ(U32(uint32(64*size)), dst)
	DECQ(n)
	JNZ(LabelRef("samples"))
	VZEROUPPER()
	RET()
}

// arrangement says which byte goes where, of samples that lie step bytes apart. With
// pixels, each half of the register is for half of the pixels: the two permutations
// use the same indices, of 128 bytes.
func arrangement(name string, size, step int) Mem {
	m := GLOBL(name, RODATA|NOPTR)
	part := 16 / size // of a lane, that interleaving puts into one register
	for lane := range 4 {
		for i := range 16 {
			sample := i/part*64/size + lane*part + i%part
			DATA(16*lane+i, U8(uint8(sample*step%128)))
		}
	}
	return m
}

// loadTables loads size tables of 256 bytes.
func loadTables(from Register, size int) (tables [][4]VecVirtual) {
	for t := range size {
		var quarters [4]VecVirtual
		for q := range quarters {
			quarters[q] = ZMM()
			VMOVDQU64(Mem{Base: from, Disp: 256*t + 64*q}, quarters[q])
		}
		tables = append(tables, quarters)
	}
	return tables
}

// values stores the values of the bytes in x.
func values(x VecVirtual, tables [][4]VecVirtual, dst Register) {
	upper := K()
	VPMOVB2M(x, upper)
	var planes []VecVirtual
	for _, t := range tables {
		low, high := ZMM(), ZMM()
		VMOVDQU64(x, low)
		VPERMI2B(t[1], t[0], low)
		VMOVDQU64(x, high)
		VPERMI2B(t[3], t[2], high)
		VPBLENDMB(high, low, upper, low)
		planes = append(planes, low)
	}
	var words []VecVirtual
	for p := 0; p < len(planes); p += 2 {
		low, high := ZMM(), ZMM()
		VPUNPCKLBW(planes[p+1], planes[p], low)
		VPUNPCKHBW(planes[p+1], planes[p], high)
		words = append(words, low, high)
	}
	if len(words) == 2 {
		VMOVDQU64(words[0], Mem{Base: dst})
		VMOVDQU64(words[1], Mem{Base: dst, Disp: 64})
		return
	}
	for i := range 2 {
		low, high := ZMM(), ZMM()
		VPUNPCKLWD(words[2+i], words[i], low)
		VPUNPCKHWD(words[2+i], words[i], high)
		VMOVDQU64(low, Mem{Base: dst, Disp: 128 * i})
		VMOVDQU64(high, Mem{Base: dst, Disp: 128*i + 64})
	}
}
