// Package blockcode codes rows of quantised DCT blocks as bytes, and decodes them much
// faster than a JPEG's Huffman code. It loses nothing: every block comes back as it was.
//
// A row is some blocks of one component, in order. Its code stands alone: it needs no
// other row. The number of blocks, the level and the length of the code are not part of
// it. It has no checksum.
//
// # Level Fast
//
// The code of n blocks consists of a header and seven streams without gaps. There is no
// code for n = 0. Multi-byte numbers are little-endian, and nibbles fill the lower half
// of a byte first.
//
//	header   the number of patches, as an unsigned varint
//	lengths  n nibbles, 0 to 8: how many bytes of masks the block has
//	DCs      n bytes: the difference to the previous block's DC coefficient (to 0 in
//	         the first block) if it is within -127 to 127, else -128
//	masks    in the order of the blocks: bit k-1 of a block's mask, 0 to 62, says
//	         whether its coefficient k in zigzag order differs from zero
//	values   a nibble for each bit that is set: the coefficient if it is within -8 to
//	         7, else 0
//	escapes  a byte for each zero among the values: the coefficient's lower 8 bits
//	wide     two bytes for each -128 among the DCs: the difference modulo 65536
//	patches  three bytes for each coefficient beyond -128 to 127, see below
//
// The lengths and the values are filled up to a whole byte, with the nibbles 0 and 1. The
// lengths of all streams follow from the streams before them, and that of the escapes
// from the rest.
//
// A patch is a number of 24 bits. The lower 10 bits are how many blocks to go on from the
// previous patch's block (at first from block 0), the next 6 the place in zigzag order,
// and the upper 8 the upper half of the coefficient. A patch with place 0 only goes on.
//
// # Level Small
//
// The streams are those of Fast, and the first five of them are compressed with Huffman
// codes. The header goes on with the code set, a byte from 0 to 7, and unsigned varints:
// the numbers of escapes and of wide differences, and the lengths in bytes of the first
// seven of eight lanes. Then come the lanes, the wide differences and the patches.
//
// Byte i of a stream is in lane i modulo 8. A lane has its bytes of the streams one after
// the other. It is a sequence of bits, from the lowest of a byte to the highest, and its
// last byte is filled with zeros. A code begins with its highest bit. The codes of a set
// are canonical: those of one length are numbered in the order of the bytes, after all
// shorter ones. The sets are fixed. They are part of the format.
package blockcode

import (
	"errors"
	"fmt"

	"github.com/penstock-go/penstock/internal/codec/jpeg"
)

// A Block holds 8×8 quantised coefficients, row by row. The first is the DC coefficient
// itself, not a difference. Any values are legal.
type Block = jpeg.Block

// A Level says how a row is coded.
type Level uint8

// Fast decodes fastest. Small has about 0.8 of its size.
const (
	Fast Level = iota
	Small
)

// MaxBlocks is the most blocks that a row may have. A JPEG has at most 32768 in one
// component of an MCU row.
const MaxBlocks = 1 << 16

// Slack is how many bytes after a row's code must be readable for the kernels to run,
// within the slice's capacity. The bytes may have any values. Without them Decode is
// slower.
const Slack = 64

var (
	errSizes  = errors.New("blockcode: blocks and last have different lengths")
	errBlocks = fmt.Errorf("blockcode: a row has more than %d blocks", MaxBlocks)
	errLevel  = errors.New("blockcode: unknown level")
)

// corrupt is the error of an invalid code.
func corrupt(stream string) error {
	return fmt.Errorf("blockcode: decode: invalid %s", stream)
}

// zigzag is the index, row by row, of the k-th coefficient in the masks' order.
var zigzag = jpeg.ZigZag()
