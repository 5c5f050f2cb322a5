package main

import "math"

// A noise is a smooth random function of x and y; its two numbers are the seed.
type noise [2]uint64

// lattice is the random value from 0 to 1 that belongs to a point with whole
// coordinates. The mixing is splitmix64's.
func (n noise) lattice(x, y int) float64 {
	z := n[0] + uint64(x)*0x9e3779b97f4a7c15 ^ (n[1]+uint64(y))*0xd1b54a32d192ed03
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return float64((z^z>>31)>>11) / (1 << 53)
}

// at is the value between the points of the lattice.
func (n noise) at(x, y float64) float64 {
	fx, fy := math.Floor(x), math.Floor(y)
	i, j := int(fx), int(fy)
	u, v := smooth(0, 1, x-fx), smooth(0, 1, y-fy)
	top := n.lattice(i, j)*(1-u) + n.lattice(i+1, j)*u
	bottom := n.lattice(i, j+1)*(1-u) + n.lattice(i+1, j+1)*u
	return top*(1-v) + bottom*v
}

// clouds adds octaves of ever finer and fainter noise; the result is between
// 0 and 1, mostly near a half.
func (n noise) clouds(x, y float64, octaves int) float64 {
	sum, weight, total := 0.0, 1.0, 0.0
	for range octaves {
		sum += weight * n.at(x, y)
		total += weight
		weight /= 2
		x, y = 2*x+17.3, 2*y+5.9
	}
	return sum / total
}
