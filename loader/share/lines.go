package share

import (
	"errors"
	"fmt"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/loader"
)

// version is that of the protocol.
const version = 2

// small is how many bytes a field has at least that the reader is not told to copy: a
// reader that keeps labels should not keep the memory of the images.
const small = 64 << 10

// A question is a request of the reader.
type question struct {
	Do      string          `json:"do"`
	Version int             `json:"version"`
	From    loader.Position `json:"from"` // of begin; without a version it is an epoch's beginning
	After   int             `json:"after"`
	Epoch   int             `json:"epoch"`
	Held    []int           `json:"held"` // blocks; nil where the reader does not say
	Forks   int             `json:"forks"`
}

// These are the lines of this side.
type (
	greeting struct {
		Names []string       `json:"names"` // of the fields
		Info  map[string]any `json:"info"`
	}
	batchLine struct {
		Number   int             `json:"batch"`
		Fields   []fieldLine     `json:"fields"`
		Gone     []int           `json:"gone"`
		Position loader.Position `json:"position"`
	}
	fieldLine struct {
		Name    string `json:"name"`
		Dtype   string `json:"dtype"`
		Shape   []int  `json:"shape"`
		Bytes   int    `json:"bytes"`
		Block   int    `json:"block"` // 0 where there are no bytes
		File    string `json:"file"`
		Offset  int    `json:"offset"`
		Copy    bool   `json:"copy"`
		Offsets []int  `json:"offsets,omitempty"`
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

// greeting is the answer to a reader that speaks the given version of the protocol.
func (s *server) greeting(readers int) any {
	if readers != version {
		return failed(fmt.Errorf("share: the program speaks version %d of the protocol, the reader version %d", version, readers))
	}
	g := greeting{Names: []string{}, Info: s.info}
	for _, f := range s.l.Spec() {
		g.Names = append(g.Names, f.Name)
	}
	return g
}

// keep is how many batches the reader may hold without copying them, so that it does
// not slow the loader down: all slabs but one per worker. It is at least two, because the
// next batch comes before the reader frees the one of its loop body. With ragged fields it
// is not more than two, because more could fill the memory to which the loader limits
// itself. One slab is always left for the loader.
func keep(s loader.Stats, ragged bool) int {
	n := 2
	if !ragged {
		n = max(n, s.Slabs-s.Workers)
	}
	return min(n, s.Slabs-1)
}

// dtypeName is the dtype's name with its size, as in other languages.
func dtypeName(d dataset.Dtype) string {
	switch d {
	case dataset.Int, dataset.Uint:
		return fmt.Sprintf("%v%d", d, 8*d.Size())
	}
	return d.String()
}

func failed(err error) failure {
	line := failure{Error: err.Error()}
	if sample := (*loader.SampleError)(nil); errors.As(err, &sample) {
		line.Name, line.Index = sample.Name, &sample.Index
	}
	return line
}
