package parquet

import (
	"bytes"
	"encoding/binary"
	"fmt"

	"github.com/penstock-go/penstock/dataset/shards/internal/shardfmt"
)

// A segment is consecutive rows of a row group.
type segment struct {
	rows    int64
	columns []column // those that are wanted
}

// A column is the pages of a column that a segment needs.
type column struct {
	codec  int
	rows   int64            // of these pages
	skip   int64            // rows of them before the segment
	pieces []shardfmt.Range // of the file
}

// The Meta of a block is numbers, as unsigned varints: 0, how many segments there are, and for
// each of them its rows, and for each wanted column the codec, the rows of its pages, those to
// skip, how many pieces there are, and the offset and the length of each. Earlier versions had
// neither the 0 nor the rows of pages.
func encodeMeta(segments []segment) []byte {
	b := binary.AppendUvarint([]byte{0}, uint64(len(segments)))
	for _, s := range segments {
		b = binary.AppendUvarint(b, uint64(s.rows))
		for _, c := range s.columns {
			b = binary.AppendUvarint(b, uint64(c.codec))
			b = binary.AppendUvarint(b, uint64(c.rows))
			b = binary.AppendUvarint(b, uint64(c.skip))
			b = binary.AppendUvarint(b, uint64(len(c.pieces)))
			for _, r := range c.pieces {
				b = binary.AppendUvarint(b, uint64(r.Off))
				b = binary.AppendUvarint(b, uint64(r.Len))
			}
		}
	}
	return b
}

// A metaReader reads the numbers of a Meta. After an error all are zero.
type metaReader struct {
	r   *bytes.Reader
	err error
}

func (m *metaReader) number() int64 {
	n, err := binary.ReadUvarint(m.r)
	if err == nil && n > 1<<60 {
		err = fmt.Errorf("the number %d", n)
	}
	if err != nil && m.err == nil {
		m.err = fmt.Errorf("the index's description of the block: %w", err)
	}
	if m.err != nil {
		return 0
	}
	return int64(n)
}
