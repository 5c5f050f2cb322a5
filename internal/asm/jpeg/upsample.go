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

	TEXT("upsampleH2x16", NOSPLIT, "func(dst, src *byte, n int)")
	Doc("upsampleH2x16 doubles the 16·n samples from src on.")
	dst, src, n := Load(Param("dst"), GP64()), Load(Param("src"), GP64()), Load(Param("n"), GP64())
	Label("row")
	before, here, after := YMM(), YMM(), YMM()
	VPMOVZXBW(Mem{Base: src, Disp: -1}, before)
	VPMOVZXBW(Mem{Base: src}, here)
	VPMOVZXBW(Mem{Base: src, Disp: 1}, after)
	double(dst, here, before, after, three, one, two, 2)
	ADDQ(U8(16), src)
	ADDQ(U8(32), dst)
	DECQ(n)
	JNZ(LabelRef("row"))
	VZEROUPPER()
	RET()

	TEXT("upsampleH2V2x16", NOSPLIT, "func(dst, near, far *byte, n int)")
	Doc("upsampleH2V2x16 mixes and doubles the 16·n samples from near and from far on.")
	dst, n = Load(Param("dst"), GP64()), Load(Param("n"), GP64())
	near, far := Load(Param("near"), GP64()), Load(Param("far"), GP64())
	Label("rows")
	var mixed [3]VecVirtual
	for i := range mixed {
		mixed[i] = YMM()
		other := YMM()
		VPMOVZXBW(Mem{Base: near, Disp: i - 1}, mixed[i])
		VPMOVZXBW(Mem{Base: far, Disp: i - 1}, other)
		VPMULLW(three, mixed[i], mixed[i])
		VPADDW(other, mixed[i], mixed[i])
	}
	double(dst, mixed[1], mixed[0], mixed[2], three, eight, seven, 4)
	ADDQ(U8(16), near)
	ADDQ(U8(16), far)
	ADDQ(U8(32), dst)
	DECQ(n)
	JNZ(LabelRef("rows"))
	VZEROUPPER()
	RET()
}

// double writes (3·here + before + left) and (3·here + after + right) alternately,
// shifted. It overwrites its arguments.
func double(dst Register, here, before, after VecVirtual, three, left, right Mem, shift uint64) {
	VPMULLW(three, here, here)
	VPADDW(here, before, before)
	VPADDW(here, after, after)
	VPADDW(left, before, before)
	VPADDW(right, after, after)
	VPSRLW(U8(shift), before, before)
	VPSRLW(U8(shift), after, after)
	VPSLLW(U8(8), after, after)
	VPOR(after, before, before)
	VMOVDQU(before, Mem{Base: dst})
}
