package serve

import (
	"cmp"
	"encoding/binary"
	"slices"
	"strconv"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/internal/wire"
)

// A body is a batch as it is sent: the header, and the data, most of which is the batch's
// own memory.
type body struct {
	header []byte
	pieces [][]byte
	bytes  int // of all of it
	err    error
}

// A column is a tensor with its data.
type column struct {
	wire.Tensor
	align int
	data  []byte
}

// body makes the body of a batch, once.
func (s *Server) body(m *made) *body {
	m.render.Do(func() { m.text = s.render(m) })
	return &m.text
}

func (s *Server) render(m *made) (b body) {
	columns := m.columns(s.spec)
	// Large dtypes come first, so that all data is aligned.
	slices.SortStableFunc(columns, func(a, b column) int { return cmp.Compare(b.align, a.align) })
	rows := 0
	if m.batch != nil {
		rows = m.batch.Len()
	}
	h := wire.Header{Texts: map[string]string{
		"plan":    s.plan.Plan,
		"epoch":   strconv.Itoa(m.at.epoch),
		"rank":    strconv.Itoa(m.share.rank),
		"world":   strconv.Itoa(m.share.world),
		"draw":    strconv.Itoa(m.at.draw),
		"number":  strconv.Itoa(m.at.number),
		"samples": strconv.Itoa(rows),
		"dropped": strconv.Itoa(m.dropped),
	}}
	for _, c := range columns {
		h.Tensors = append(h.Tensors, c.Tensor)
		b.pieces = append(b.pieces, c.data)
	}
	b.header, b.err = h.Marshal()
	b.bytes = len(b.header) + h.Bytes()
	return b
}

// columns are the tensors of a batch, or of one without samples.
func (m *made) columns(spec dataset.Spec) []column {
	rows, indices := 0, []int(nil)
	if m.batch != nil {
		rows, indices = m.batch.Len(), m.batch.Indices()
	}
	columns := []column{numbers(wire.Indices, indices)}
	for _, f := range spec {
		n, ends, data := rows, []int{0}, []byte(nil)
		if m.batch != nil {
			data = m.batch.Bytes(f.Name)
			if f.Ragged {
				ends = m.batch.Offsets(f.Name)
			}
		}
		if f.Ragged {
			n = ends[rows]
			columns = append(columns, numbers(f.Name+wire.Offsets, ends))
		}
		dtype, _ := wire.SafetensorsDtype(f.Dtype) // Fields has checked it
		shape := append([]int{n}, f.Shape...)
		columns = append(columns, column{wire.Tensor{Name: f.Name, Dtype: dtype, Shape: shape, Bytes: len(data)}, f.Dtype.Size(), data})
	}
	return columns
}

// numbers is a tensor of int64.
func numbers(name string, values []int) column {
	data := make([]byte, 0, 8*len(values))
	for _, v := range values {
		data = binary.LittleEndian.AppendUint64(data, uint64(v))
	}
	return column{wire.Tensor{Name: name, Dtype: "I64", Shape: []int{len(values)}, Bytes: len(data)}, 8, data}
}
