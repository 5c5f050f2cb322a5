package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// upsample doubles rows by the triangle filter, 16 samples at a time. Every sample
// has a neighbour on both sides.
func upsample() {
	three := words("three", 3)
	one, two := words("up1", 1), words("up2", 2)
	seven, eight := words("up7", 7), words("up8", 8)
	upsampleH2("upsampleH2x16", 16, YMM, three, one, two)
	Doc("upsampleH2x16 doubles the 16·n samples from src on.")
	upsampleH2V2("upsampleH2V2x16", 16, YMM, three, seven, eight)
	Doc("upsampleH2V2x16 mixes and doubles the 16·n samples from near and from far on.")
}

// upsample512 doubles rows 32 samples at a time.
func upsample512() {
	constant := func(name string, v int16) Mem { return pairs4(name, v, v) }
	three := constant("four_three", 3)
	one, two := constant("four_up1", 1), constant("four_up2", 2)
	seven, eight := constant("four_up7", 7), constant("four_up8", 8)
	upsampleH2("upsampleH2x32", 32, ZMM, three, one, two)
	Doc("upsampleH2x32 doubles the 32·n samples from src on. It needs AVX-512 F and BW.")
	upsampleH2V2("upsampleH2V2x32", 32, ZMM, three, seven, eight)
	Doc("upsampleH2V2x32 mixes and doubles the 32·n samples from near and from far on. It needs",
		"AVX-512 F and BW.")
}

func upsampleH2(name string, wide uint32, vector func() VecVirtual, threes, ones, twos Mem) {
	TEXT(name, NOSPLIT, "func(dst, src *byte, n int)")
	dst, src, n := Load(Param("dst"), GP64()), Load(Param("src"), GP64()), Load(Param("n"), GP64())
	three, one, two := kept(vector, threes), kept(vector, ones), kept(vector, twos)
	Label("row")
	before, here, after := vector(), vector(), vector()
	VPMOVZXBW(Mem{Base: src, Disp: -1}, before)
	VPMOVZXBW(Mem{Base: src}, here)
	VPMOVZXBW(Mem{Base: src, Disp: 1}, after)
	double(dst, here, before, after, three, one, two, 2)
	ADDQ(U32(wide), src)
	ADDQ(U32(2*wide), dst)
	DECQ(n)
	JNZ(LabelRef("row"))
	VZEROUPPER()
	RET()
}

func upsampleH2V2(name string, wide uint32, vector func() VecVirtual, threes, sevens, eights Mem) {
	TEXT(name, NOSPLIT, "func(dst, near, far *byte, n int)")
	dst, n := Load(Param("dst"), GP64()), Load(Param("n"), GP64())
	near, far := Load(Param("near"), GP64()), Load(Param("far"), GP64())
	three, seven, eight := kept(vector, threes), kept(vector, sevens), kept(vector, eights)
	Label("rows")
	var mixed [3]VecVirtual
	for i := range mixed {
		mixed[i] = vector()
		other := vector()
		VPMOVZXBW(Mem{Base: near, Disp: i - 1}, mixed[i])
		VPMOVZXBW(Mem{Base: far, Disp: i - 1}, other)
		VPMULLW(three, mixed[i], mixed[i])
		VPADDW(other, mixed[i], mixed[i])
	}
	double(dst, mixed[1], mixed[0], mixed[2], three, eight, seven, 4)
	ADDQ(U32(wide), near)
	ADDQ(U32(wide), far)
	ADDQ(U32(2*wide), dst)
	DECQ(n)
	JNZ(LabelRef("rows"))
	VZEROUPPER()
	RET()
}

// kept loads a constant before a loop.
func kept(vector func() VecVirtual, constant Mem) VecVirtual {
	v := vector()
	if v.Size() == 64 {
		VMOVDQU64(constant, v)
	} else {
		VMOVDQU(constant, v)
	}
	return v
}

// double writes (3·here + before + left) and (3·here + after + right) alternately,
// shifted. It overwrites its arguments, except for the constants.
func double(dst Register, here, before, after, three, left, right VecVirtual, shift uint64) {
	VPMULLW(three, here, here)
	VPADDW(here, before, before)
	VPADDW(here, after, after)
	VPADDW(left, before, before)
	VPADDW(right, after, after)
	VPSRLW(U8(shift), before, before)
	VPSRLW(U8(shift), after, after)
	VPSLLW(U8(8), after, after)
	if before.Size() == 64 {
		VPORQ(after, before, before)
		VMOVDQU64(before, Mem{Base: dst})
	} else {
		VPOR(after, before, before)
		VMOVDQU(before, Mem{Base: dst})
	}
}
