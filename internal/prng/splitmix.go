package prng

// Gamma is the step of Weyl's sequence: 2⁶⁴ divided by the golden ratio.
const Gamma = 0x9e3779b97f4a7c15

// Mix is one number of splitmix64: it adds Gamma to x and mixes the bits. It is a
// bijection.
// Source: Steele, Lea, Flood, "Fast splittable pseudorandom number generators", 2014.
func Mix(x uint64) uint64 {
	x += Gamma
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
