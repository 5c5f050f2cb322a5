// Package splitmix is a generator of random numbers whose state is a counter.
package splitmix

// Gamma is the step of Weyl's sequence: 2⁶⁴ divided by the golden ratio.
const Gamma = 0x9e3779b97f4a7c15

// Mix is splitmix64: a step of Weyl's sequence and its finaliser, a bijection.
// Source: Steele, Lea, Flood, "Fast splittable pseudorandom number generators", 2014.
func Mix(x uint64) uint64 {
	x += Gamma
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
