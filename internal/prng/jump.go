package prng

import (
	"math/bits"
	"sync"
)

// A step of MT19937 is a linear map T of its 19937 bits of state. So n steps are p(T), where p is
// the remainder of xⁿ divided by T's characteristic polynomial, and take the same time for any
// large n. Source: Haramoto, Matsumoto, Nishimura, Panneton, L'Ecuyer, "Efficient jump ahead for
// F2-linear random number generators", INFORMS Journal on Computing 20 (2008).

const (
	degree = 19937                 // of the characteristic polynomial
	limbs  = (degree + 63) / 64    // of a remainder
	spare  = degree - 64*(limbs-1) // bits of its last limb
)

// A remainder is a polynomial over the numbers 0 and 1, of a lower degree than the characteristic
// one. Bit k of its limbs is the coefficient of x^k.
type remainder [limbs]uint64

// lower are the exponents of the characteristic polynomial below its degree. The next one is 227
// lower, and there are 134.
//
// Source: Matsumoto, Nishimura (see above), the formula for the polynomial in the appendix.
var lower = sync.OnceValue(func() (exponents []int) {
	var p remainder
	p[0] = 1
	times := func(a, b int) { // multiplies by x^a + x^b
		var product remainder
		for k := range degree {
			if p.bit(k) == 0 {
				continue
			}
			for _, to := range [...]int{k + a, k + b} {
				if to < degree { // above, it is the leading term alone
					product[to/64] ^= 1 << (to % 64)
				}
			}
		}
		p = product
	}
	for k := range 31 {
		times(words-1, middle-1)
		p[0] ^= matrix >> k & 1
	}
	times(words, middle)
	p[0] ^= matrix >> 31 & 1
	for k := range degree {
		if p.bit(k) == 1 {
			exponents = append(exponents, k)
		}
	}
	return exponents
})

func (p *remainder) bit(k int) uint64 { return p[k/64] >> (k % 64) & 1 }

// power is the remainder of x^n, where n is high·2⁶⁴+low.
func power(high, low uint64) *remainder {
	bit := func(k int) int {
		if k >= 64 {
			return int(high >> (k - 64) & 1)
		}
		return int(low >> k & 1)
	}
	p, k, first := &remainder{}, 127, 0
	for ; k >= 0 && first < degree/2; k-- { // as long as there is nothing to divide
		first = 2*first + bit(k)
	}
	p[first/64] = 1 << (first % 64)
	for ; k >= 0; k-- {
		p.square()
		if bit(k) == 1 {
			p.timesX()
		}
	}
	return p
}

// square squares p: bit k becomes bit 2k.
func (p *remainder) square() {
	var wide [2 * limbs]uint64
	for i, limb := range p {
		wide[2*i], wide[2*i+1] = spread(uint32(limb)), spread(uint32(limb>>32))
	}
	fold := func(h uint64, at int) { // adds h·x^at·(the characteristic polynomial), but for its leading term
		for _, e := range lower() {
			i, shift := (at+e)/64, (at+e)%64
			wide[i] ^= h << shift
			wide[i+1] ^= h >> (64 - shift)
		}
	}
	for i := len(wide) - 1; i >= limbs; i-- {
		h := wide[i]
		wide[i] = 0
		fold(h, 64*i-degree)
	}
	h := wide[limbs-1] >> spare
	wide[limbs-1] &= 1<<spare - 1
	fold(h, 0)
	copy(p[:], wide[:])
}

// spread puts a 0 between all bits.
func spread(half uint32) uint64 {
	v := uint64(half)
	v = (v | v<<16) & 0x0000ffff0000ffff
	v = (v | v<<8) & 0x00ff00ff00ff00ff
	v = (v | v<<4) & 0x0f0f0f0f0f0f0f0f
	v = (v | v<<2) & 0x3333333333333333
	return (v | v<<1) & 0x5555555555555555
}

func (p *remainder) timesX() {
	carry := uint64(0)
	for i := range p {
		p[i], carry = p[i]<<1|carry, p[i]>>63
	}
	if p.bit(degree) == 1 {
		p[limbs-1] &^= 1 << spare
		for _, e := range lower() {
			p[e/64] ^= 1 << (e % 64)
		}
	}
}

// jump is twist, repeated high·2⁶⁴+low times.
func (t *twister) jump(high, low uint64) {
	// One twist remains, because the polynomial leaves the 31 bits wrong that are no state: those
	// of the first word, of which a twist reads only the highest bit.
	low, borrow := bits.Sub64(low, 1, 0)
	carry, steps := bits.Mul64(low, words)
	p := power((high-borrow)*words+carry, steps)
	from := t.state
	t.state = [words]uint32{}
	s, first := &t.state, 0 // the place of its first word
	for k := degree - 1; k >= 0; k-- {
		s[first] = s[(first+middle)%words] ^ twisted(s[first], s[(first+1)%words])
		first = (first + 1) % words
		if p.bit(k) == 1 {
			for i, w := range s[first:] {
				s[first+i] = w ^ from[i]
			}
			for i, w := range s[:first] {
				s[i] = w ^ from[words-first+i]
			}
		}
	}
	turned := append(append(make([]uint32, 0, words), s[first:]...), s[:first]...)
	copy(s[:], turned)
	t.twist()
}
