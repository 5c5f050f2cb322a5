//go:build arm64 && !purego

package blockcode

import "github.com/penstock-go/penstock/internal/cpu"

// best returns the fastest kernels that may run.
func best() kernels {
	if cpu.NEON() {
		return neon
	}
	return portable
}

// flatten16 unpacks n values, and takes an escape for each that is zero. It stops when it has
// taken more than most. It returns how many it took. It reads 7 bytes beyond the values and
// 16 beyond the escapes, and writes 15 elements beyond the last.
//
//go:noescape
func flatten16(flat *int8, values *byte, n int, escapes *byte, most int) int

// expand16 fills n blocks, without patches, and returns all masks in one number. It reads 7
// bytes beyond the masks, 63 elements beyond flat and 2 bytes beyond wide.
//
//go:noescape
func expand16(blocks *int16, last *uint8, n int, lengths, dcs, masks *byte, flat *int8, wide *byte, constants *uint8) uint64

// constants are what the kernels look up. Their layout is known to the generator.
type constants struct {
	places [64]uint8 // in zigzag order, by index
	bytes  [64]uint8 // of a mask, by place
	masks  [9]uint64 // with as many bytes
}

var lookup = func() (c constants) {
	for k, index := range zigzag {
		c.places[index] = uint8(k)
		c.bytes[k] = uint8(k / 8)
	}
	for length := range c.masks {
		c.masks[length] = 1<<(8*length) - 1
	}
	return c
}()

func (d *Decoder) flattenKernel() bool {
	n, most := len(d.values), len(d.escapes)
	if n == 0 {
		return most == 0
	}
	flat, values, escapes := d.flat[:2*n+flatSlack], d.values[:n+Slack], d.escapes[:most+Slack]
	return flatten16(&flat[0], &values[0], 2*n, &escapes[0], most) == most
}

func (d *Decoder) expandKernel(blocks []Block, last []uint8) bool {
	n := len(blocks)
	last, lengths, dcs := last[:n], d.lengths[:(n+1)/2], d.dcs[:n]
	masks, wide := d.masks[:len(d.masks)+Slack], d.wide[:len(d.wide)+Slack]
	all := expand16(&blocks[0][0], &last[0], n, &lengths[0], &dcs[0], &masks[0], &d.flat[0], &wide[0], &lookup.places[0])
	return all>>63 == 0
}

// readKernel leaves everything: the portable code is as good as any here.
func (*laneReader) readKernel(dst []byte, _ *table) (left int) { return len(dst) }
