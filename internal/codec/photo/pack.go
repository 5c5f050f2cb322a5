package photo

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"slices"

	"github.com/penstock-go/penstock/internal/codec/blockcode"
	"github.com/penstock-go/penstock/internal/codec/jpeg"
)

// A Packer makes records of JPEG files. It keeps its memory between them. The zero
// value is ready for use by one goroutine at a time.
type Packer struct {
	jpeg  jpeg.Decoder
	codes blockcode.Encoder
	index []byte // lengths and checksums of the rows
	data  []byte // their codes
}

// Pack appends the record of a JPEG file to dst.
//
// It is an error if the file is damaged, or if a record cannot give its pixels:
// files of four components, and progressive files without the last bits of their
// coefficients. Then the file itself is the best record.
func (p *Packer) Pack(dst, file []byte, level blockcode.Level) ([]byte, error) {
	c, err := p.jpeg.Header(file)
	if err != nil {
		return dst, fmt.Errorf("photo: pack: %w", err)
	}
	if c.Components == 4 {
		return dst, fmt.Errorf("photo: pack: file of four components: %w", errors.ErrUnsupported)
	}
	p.index, p.data = p.index[:0], p.data[:0]
	frame, err := p.jpeg.Coefficients(func(_ int, blocks *[4][]jpeg.Block) error {
		return p.packRow(level, blocks[:c.Components])
	})
	if err != nil {
		return dst, fmt.Errorf("photo: pack: %w", err)
	}
	h := header{frame: frame, level: level, count: c.Components}
	h.shareTables()
	begin := len(dst)
	dst = append(h.append(dst), p.index...)
	dst = binary.LittleEndian.AppendUint32(dst, crc32.Checksum(dst[begin:], castagnoli()))
	return append(dst, p.data...), nil
}

// packRow codes a row of MCUs.
func (p *Packer) packRow(level blockcode.Level, components [][]jpeg.Block) error {
	begin := len(p.data)
	for _, blocks := range components {
		from := len(p.data)
		var err error
		if p.data, err = p.codes.Append(p.data, level, blocks); err != nil {
			return err
		}
		p.index = binary.LittleEndian.AppendUint32(p.index, uint32(len(p.data)-from))
	}
	p.index = binary.LittleEndian.AppendUint32(p.index, crc32.Checksum(p.data[begin:], castagnoli()))
	return nil
}

// shareTables numbers the quantisation tables. Equal ones get the same number.
func (h *header) shareTables() {
	h.tables = 0
	quant := h.frame.Quant[:h.count]
	for i := range quant {
		if first := slices.Index(quant, quant[i]); first < i {
			h.table[i] = h.table[first]
			continue
		}
		h.table[i] = uint8(h.tables)
		h.tables++
	}
}
