package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
)

// words repeats 16 bits 16 times.
func words(name string, v int16) Mem { return pairs(name, v, v) }

// pairs repeats two words of 16 bits eight times.
func pairs(name string, a, b int16) Mem {
	m := GLOBL(name, RODATA|NOPTR)
	for i := range 8 {
		DATA(4*i, U16(uint16(a)))
		DATA(4*i+2, U16(uint16(b)))
	}
	return m
}

// dwords repeats 32 bits eight times.
func dwords(name string, v uint32) Mem {
	m := GLOBL(name, RODATA|NOPTR)
	for i := range 8 {
		DATA(4*i, U32(v))
	}
	return m
}

// pairs4 and dwords4 are pairs and dwords for vectors of twice the size.
func pairs4(name string, a, b int16) Mem {
	return dwords4(name, uint32(uint16(b))<<16|uint32(uint16(a)))
}

func dwords4(name string, v uint32) Mem {
	m := GLOBL(name, RODATA|NOPTR)
	for i := range 16 {
		DATA(4*i, U32(v))
	}
	return m
}
