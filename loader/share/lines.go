package share

import (
	"errors"
	"fmt"
	"reflect"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/internal/dense"
	"github.com/penstock-go/penstock/loader"
)

// version is that of the protocol.
const version = 1

// A question is a request of the reader.
type question struct {
	Do    string          `json:"do"`
	From  loader.Position `json:"from"` // of begin; without a version it is an epoch's beginning
	Epoch int             `json:"epoch"`
	Batch int             `json:"batch"`
}

// These are the lines of this side.
type (
	greeting struct {
		Version int            `json:"version"`
		Fields  []field        `json:"fields"`
		Keep    int            `json:"keep"`
		Info    map[string]any `json:"info"`
	}
	field struct {
		Name   string `json:"name"`
		Dtype  string `json:"dtype"`
		Shape  []int  `json:"shape"`
		Ragged bool   `json:"ragged,omitempty"`
	}
	blockLine struct {
		ID   int `json:"block"`
		Size int `json:"size"`
	}
	batchLine struct {
		Number   int             `json:"batch"`
		Fields   []fieldLine     `json:"fields"`
		Position loader.Position `json:"position"`
		Gone     []int           `json:"gone,omitempty"`
	}
	fieldLine struct {
		field
		Bytes   int   `json:"bytes"`
		Block   int   `json:"block"` // 0 where there are no bytes
		Offset  int   `json:"offset"`
		Offsets []int `json:"offsets,omitempty"`
	}
	ending struct {
		Position loader.Position `json:"end"`
	}
	failure struct {
		Error string `json:"error"`
		Name  string `json:"name,omitempty"`
		Index *int   `json:"index,omitempty"`
	}
	length struct {
		Batches int `json:"len"`
	}
	statistics struct {
		Text string `json:"stats"`
	}
)

// greeting is the first line.
func (s *server) greeting() greeting {
	g := greeting{Version: version, Info: s.info}
	ragged := false
	for _, f := range s.l.Spec() {
		g.Fields = append(g.Fields, newField(f))
		ragged = ragged || f.Ragged
	}
	g.Keep = keep(s.l.Stats(), ragged)
	return g
}

// keep is how many batches the reader may hold without slowing the loader down: all
// slabs but one per worker. It is at least two, because the next batch comes before the
// reader frees the one of its loop body. With ragged fields it is not more than two,
// because more could fill the memory to which the loader limits itself. One slab is
// always left for the loader.
func keep(s loader.Stats, ragged bool) int {
	n := 2
	if !ragged {
		n = max(n, s.Slabs-s.Workers)
	}
	return min(n, s.Slabs-1)
}

func newField(f dataset.Field) field {
	dtype := dense.Name(f.Dtype)
	switch k := f.Dtype.Kind(); k {
	case reflect.Int, reflect.Uint: // other languages name the size
		dtype = fmt.Sprintf("%v%d", k, 8*f.Dtype.Size())
	}
	return field{Name: f.Name, Dtype: dtype, Shape: append([]int{}, f.Shape...), Ragged: f.Ragged}
}

func failed(err error) failure {
	line := failure{Error: err.Error()}
	if sample := (*loader.SampleError)(nil); errors.As(err, &sample) {
		line.Name, line.Index = sample.Name, &sample.Index
	}
	return line
}
