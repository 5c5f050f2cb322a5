//go:build amd64 && !purego

package blockcode

import "github.com/penstock-go/penstock/internal/cpu"

// best returns the fastest kernels that may run.
func best() kernels {
	switch {
	case cpu.VBMI2():
		return avx512
	case cpu.BMI2():
		return avx2
	}
	return portable
}

// constants are what the kernels look up. Their layout is known to the generator.
type constants struct {
	places   [64]uint8         // in zigzag order, by index
	shuffles [4][2][32]uint8   // by quarter of the zigzag order and half of the block
	spread   [256 + 1][8]uint8 // by byte of a mask: which of eight bytes goes where; the kernels load 16 bytes
}

var lookup = func() (c constants) {
	for k, index := range zigzag {
		c.places[index] = uint8(k)
	}
	for index, place := range c.places {
		for quarter := range c.shuffles {
			from := uint8(0x80) // zero
			if int(place/16) == quarter {
				from = place % 16
			}
			c.shuffles[quarter][index/32][index%32] = from
		}
	}
	for mask := range c.spread {
		next := uint8(0)
		for i := range 8 {
			c.spread[mask][i] = 0x80
			if mask>>i&1 == 1 {
				c.spread[mask][i] = next
				next++
			}
		}
	}
	return c
}()

func (d *Decoder) flattenKernel() bool {
	n, most := len(d.values), len(d.escapes)
	if n == 0 {
		return most == 0
	}
	flat, values, escapes := d.flat[:2*n+flatSlack], d.values[:n+Slack], d.escapes[:most+Slack]
	if d.running == avx512 {
		return flatten64(&flat[0], &values[0], 2*n, &escapes[0], most) == most
	}
	return flatten32(&flat[0], &values[0], 2*n, &escapes[0], most, &lookup.places[0]) == most
}

func (d *Decoder) expandKernel(blocks []Block, last []uint8) bool {
	n := len(blocks)
	last, lengths, dcs := last[:n], d.lengths[:(n+1)/2], d.dcs[:n]
	masks, wide := d.masks[:len(d.masks)+Slack], d.wide[:len(d.wide)+Slack]
	all := uint64(0)
	if d.running == avx512 {
		all = expand64(&blocks[0][0], &last[0], n, &lengths[0], &dcs[0], &masks[0], &d.flat[0], &wide[0], &lookup.places[0])
	} else {
		all = expand32(&blocks[0][0], &last[0], n, &lengths[0], &dcs[0], &masks[0], &d.flat[0], &wide[0], &lookup.places[0])
	}
	return all>>63 == 0
}

// readKernel decodes dst. It returns how many bytes it leaves, because a lane has left
// src.
func (r *laneReader) readKernel(dst []byte, t *table) (left int) {
	n := len(r.src)
	src := r.src[:n+Slack]
	return readLanes(&dst[0], len(dst), &t[0], &src[0], 8*n, &r.at[0])
}
