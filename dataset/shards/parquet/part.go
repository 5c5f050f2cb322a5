package parquet

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"os"

	pq "github.com/parquet-go/parquet-go"

	"github.com/penstock-go/penstock/internal/private"
)

// groupSize is how many bytes of samples a row group has.
const groupSize = 8 << 20

// A part holds samples until their shard is complete: of each the cells of its columns, in
// the machine's byte order, and after an image's its path. Before each stands the number of
// its bytes, as an unsigned varint.
type part struct {
	columns  []written
	paths    func(i int) string
	schema   *pq.Schema
	features []byte
	sample   []byte
	cell     []byte
	row      [][]pq.Value // by leaf
}

func newPart(columns []written, paths func(i int) string) (*part, error) {
	p := &part{columns: columns, paths: paths}
	root := pq.Group{}
	for k := range columns {
		root[columns[k].name] = columns[k].node()
	}
	p.schema = pq.NewSchema("schema", root)
	for k := range columns {
		w := &columns[k]
		leaf, ok := p.schema.Lookup(w.leafPath()...)
		w.leaf = leaf.ColumnIndex
		if w.kind == imageColumn && ok {
			leaf, ok = p.schema.Lookup(w.name, "path")
			w.path = leaf.ColumnIndex
		}
		if !ok {
			return nil, fmt.Errorf("column %q: it has no place in the schema", w.name)
		}
	}
	p.row = make([][]pq.Value, len(p.schema.Columns()))
	var err error
	p.features, err = features(columns)
	return p, err
}

func (p *part) Resume(int) {}

func (p *part) Overhead() int64 { return 0 }

func (p *part) Complete(path string) string { return path + ".shard" }

func (p *part) Encode(index int, cells [][]byte) ([]byte, error) {
	p.sample = p.sample[:0]
	for k := range p.columns {
		if len(cells[k]) > math.MaxInt32 {
			return nil, fmt.Errorf("column %q: %d bytes, want at most %d", p.columns[k].name, len(cells[k]), math.MaxInt32)
		}
		p.sample = append(binary.AppendUvarint(p.sample, uint64(len(cells[k]))), cells[k]...)
		if p.columns[k].kind == imageColumn {
			path := ""
			if p.paths != nil {
				path = p.paths(index)
			}
			p.sample = append(binary.AppendUvarint(p.sample, uint64(len(path))), path...)
		}
	}
	return p.sample, nil
}

// Finish writes a Parquet file of the samples.
func (p *part) Finish(samples *os.File, size int64, path string) (_ int64, err error) {
	f, err := private.OpenFile(p.Complete(path), os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o666)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	// Statistics would have the least and the greatest image of every page.
	options := []pq.WriterOption{p.schema, pq.KeyValueMetadata("huggingface", string(p.features)), pq.CreatedBy("penstock", "", ""), pq.DataPageStatistics(false)}
	for _, column := range p.schema.Columns() {
		options = append(options, pq.SkipPageBounds(column...))
	}
	w := pq.NewGenericWriter[any](f, options...)
	in := bufio.NewReaderSize(io.NewSectionReader(samples, 0, size), 256<<10)
	var group int64
	for {
		n, err := p.next(in)
		if err == io.EOF {
			break
		}
		if err != nil {
			return 0, err
		}
		if group > 0 && group+n > groupSize {
			if err := w.Flush(); err != nil {
				return 0, err
			}
			group = 0
		}
		group += n
		var row pq.Row
		for _, values := range p.row {
			row = append(row, values...)
		}
		if _, err := w.WriteRows([]pq.Row{row}); err != nil {
			return 0, err
		}
	}
	if err := errors.Join(w.Close(), f.Sync()); err != nil {
		return 0, err
	}
	info, err := f.Stat()
	if err != nil {
		return 0, err
	}
	return info.Size(), nil
}

// next reads a sample into the row, and returns its bytes. It returns io.EOF after the last
// one.
func (p *part) next(in *bufio.Reader) (int64, error) {
	for k := range p.row {
		p.row[k] = p.row[k][:0]
	}
	p.cell = p.cell[:0]
	for k := range p.columns {
		w := &p.columns[k]
		cell, err := p.read(in)
		if err != nil {
			if k > 0 {
				err = eof(err)
			}
			return 0, err
		}
		switch w.kind {
		case imageColumn, binaryColumn, textColumn:
			p.add(w.leaf, pq.ByteArrayValue(cell), 0, w.definition())
		default:
			p.addNumbers(w, cell)
		}
		if w.kind != imageColumn {
			continue
		}
		path, err := p.read(in)
		if err != nil {
			return 0, eof(err)
		}
		if len(path) == 0 {
			p.add(w.path, pq.NullValue(), 0, 1)
		} else {
			p.add(w.path, pq.ByteArrayValue(path), 0, w.definition())
		}
	}
	return int64(len(p.cell)), nil
}

// read reads a cell. Cells of a row stay valid.
func (p *part) read(in *bufio.Reader) ([]byte, error) {
	n, err := binary.ReadUvarint(in)
	if err != nil {
		return nil, err
	}
	begin := len(p.cell)
	p.cell = append(p.cell, make([]byte, n)...)
	_, err = io.ReadFull(in, p.cell[begin:])
	return p.cell[begin:len(p.cell):len(p.cell)], eof(err)
}

func (p *part) add(leaf int, v pq.Value, repetition, definition int) {
	p.row[leaf] = append(p.row[leaf], v.Level(repetition, definition, leaf))
}

// addNumbers adds a number, or lists of them.
func (p *part) addNumbers(w *written, cell []byte) {
	size := w.of.Dtype.Size()
	n := len(cell) / size
	if n == 0 {
		p.add(w.leaf, pq.NullValue(), 0, 1) // an empty list
	}
	for k := range n {
		repetition := 0
		if k > 0 { // the outermost list that goes on
			repetition = len(w.dims)
			for inner, d := 1, len(w.dims)-1; d > 0; d-- {
				if inner *= w.dims[d]; k%inner != 0 {
					break
				}
				repetition = d
			}
		}
		p.add(w.leaf, w.number.value(cell[k*size:][:size]), repetition, w.definition())
	}
}
