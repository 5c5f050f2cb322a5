package packed

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"hash/crc32"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"gorgonia.org/tensor"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/internal/dense"
	"github.com/penstock-go/penstock/internal/files"
)

// A Writer is a file of [Open] in the making, which survives a kill of the
// program: what was appended stays in two files next to it, path.part and
// path.journal, and the next Writer of that path goes on after it. [Writer.Finish]
// gives the file its name, so whatever has that name is whole, and the same
// however often the work was interrupted.
//
// Samples come from a source in which they are numbered; they are appended in
// its order, but some may be left out. One Writer at a time may write a path,
// and one goroutine at a time may use it.
type Writer struct {
	path     string
	spec     dataset.Spec
	record   int64
	classes  []string
	source   string
	part     *os.File
	samples  *bufio.Writer // into part
	journal  *os.File
	sums     []uint32  // of the samples in part
	skipped  []Skipped // in the journal
	noted    []Skipped // to be written before the next sample that they precede
	lines    []byte    // of the journal, while a batch is appended
	next     int       // in the source
	err      error     // of writing, after which nothing more is written
	finished bool
}

// Skipped is a sample of the source that a [Writer] leaves out.
type Skipped struct {
	Index  int // in the source
	Reason string
}

// An Option changes what [Create] does.
type Option struct{ set func(*Writer) }

// Classes sets what [File.Classes] will be.
func Classes(names ...string) Option {
	return Option{func(p *Writer) { p.classes = slices.Clone(names) }}
}

// Source describes where samples come from and how they are made: the files,
// the transforms. Only a Writer of the same source, fields and classes goes on
// where another one has stopped.
func Source(description string) Option {
	return Option{func(p *Writer) { p.source = description }}
}

// Create begins the file at path, or goes on with it: it reads what there is and
// keeps it up to the first sample that does not have its checksum, so that
// [Writer.Next] is the first one to append. What belongs to another source is an
// error. A file of that name stays as it is until Finish replaces it.
func Create(ctx context.Context, path string, spec dataset.Spec, options ...Option) (*Writer, error) {
	record, err := recordSize(spec)
	if err != nil {
		return nil, err
	}
	p := &Writer{path: path, spec: spec, record: record}
	for _, option := range options {
		if option.set != nil {
			option.set(p)
		}
	}
	if _, err := p.trailer().encode(); err != nil {
		return nil, p.wrote(err)
	}
	if p.part, err = os.OpenFile(path+".part", os.O_RDWR|os.O_CREATE, 0o666); err != nil {
		return nil, p.wrote(err)
	}
	if p.journal, err = os.OpenFile(path+".journal", os.O_RDWR|os.O_CREATE, 0o666); err == nil {
		err = p.resume(ctx)
	}
	if err != nil {
		return nil, errors.Join(p.wrote(err), p.closeFiles())
	}
	p.samples = bufio.NewWriterSize(p.part, 256<<10)
	return p, nil
}

// wrote says which file an error is about.
func (p *Writer) wrote(err error) error {
	name := p.path
	if e := (*os.PathError)(nil); errors.As(err, &e) {
		name = e.Path
	}
	return fmt.Errorf("packed: write %s: %w", name, files.Cause(err))
}

func (p *Writer) trailer() *trailer {
	return &trailer{spec: p.spec, record: p.record, classes: p.classes, sums: p.sums}
}

// Next is the source's first sample that was neither appended nor skipped.
func (p *Writer) Next() int {
	next := p.next
	for _, s := range p.noted {
		if s.Index == next {
			next++
		}
	}
	return next
}

// Len is the number of samples appended.
func (p *Writer) Len() int { return len(p.sums) }

// Skipped are the samples left out, also before an interruption.
func (p *Writer) Skipped() []Skipped { return slices.Concat(p.skipped, p.noted) }

// Skip notes that a sample of the source is left out. It is written with the
// samples after it.
func (p *Writer) Skip(index int, reason string) error {
	last := p.next - 1
	if len(p.noted) > 0 {
		last = p.noted[len(p.noted)-1].Index
	}
	if index <= last {
		return fmt.Errorf("packed: write %s: skip sample %d: indices must increase, the last one was %d", p.path, index, last)
	}
	p.noted = append(p.noted, Skipped{index, strings.ToValidUTF8(reason[:min(len(reason), maxReason)], "")})
	return nil
}

// Append writes a batch: samples of the source in rising order, with a tensor
// of shape (len(indices), …) for every field of the spec, in its order. Samples
// are safe from a kill of the program, though not of the machine, when Append
// returns.
func (p *Writer) Append(indices []int, fields ...*tensor.Dense) error {
	if p.err != nil {
		return p.err
	}
	columns, err := p.columns(len(indices), fields)
	if err == nil {
		err = p.inOrder(indices)
	}
	if err != nil {
		return fmt.Errorf("packed: write %s: %w", p.path, err)
	}
	if err := p.append(indices, columns); err != nil {
		p.err = p.wrote(err)
	}
	return p.err
}

func (p *Writer) append(indices []int, columns []dense.Rows) error {
	lines := p.lines[:0]
	for row, index := range indices {
		lines = p.flushNoted(lines, index)
		var sum uint32
		for _, c := range columns {
			bytes := c.At(row)
			sum = crc32.Update(sum, castagnoli(), bytes)
			if _, err := p.samples.Write(bytes); err != nil {
				return err
			}
		}
		p.sums = append(p.sums, sum)
		lines = appendLine(lines, "%d %08x", index, sum)
		p.next = index + 1
	}
	lines = p.flushNoted(lines, p.Next())
	p.lines = lines
	// The journal tells only of what is there.
	if err := p.samples.Flush(); err != nil {
		return err
	}
	_, err := p.journal.Write(lines)
	return err
}

// flushNoted appends a line for every noted sample before the one of that index.
func (p *Writer) flushNoted(lines []byte, before int) []byte {
	for len(p.noted) > 0 && p.noted[0].Index < before {
		s := p.noted[0]
		p.noted, p.skipped, p.next = p.noted[1:], append(p.skipped, s), s.Index+1
		lines = appendLine(lines, "%d skipped %q", s.Index, s.Reason)
	}
	return lines
}

// inOrder checks that the samples follow each other and those before them, and
// that none was skipped.
func (p *Writer) inOrder(indices []int) error {
	last := p.next - 1
	for _, i := range indices {
		if i <= last {
			return fmt.Errorf("sample %d: indices must increase, the last one was %d", i, last)
		}
		if slices.ContainsFunc(p.noted, func(s Skipped) bool { return s.Index == i }) {
			return fmt.Errorf("sample %d was skipped", i)
		}
		last = i
	}
	return nil
}

// columns finds the samples in the fields' tensors.
func (p *Writer) columns(n int, fields []*tensor.Dense) ([]dense.Rows, error) {
	if len(fields) != len(p.spec) {
		return nil, fmt.Errorf("%d fields, want %d: %v", len(fields), len(p.spec), p.spec)
	}
	columns := make([]dense.Rows, len(fields))
	for k, f := range p.spec {
		r, err := dense.RowsOf(fields[k])
		if err != nil {
			return nil, fmt.Errorf("field %q: %w", f.Name, err)
		}
		if r.Dtype != f.Dtype || !slices.Equal(r.Shape, f.Shape) || r.N != n {
			return nil, fmt.Errorf("field %q: tensor of %v %v, want %v %v", f.Name, r.Dtype, fields[k].Shape(), f.Dtype, append(tensor.Shape{n}, f.Shape...))
		}
		columns[k] = r
	}
	return columns, nil
}

// Finish completes the file and gives it its name. The Writer is closed then.
func (p *Writer) Finish() error {
	if p.err != nil {
		return p.err
	}
	if err := p.finish(); err != nil {
		p.err = p.wrote(err)
		return errors.Join(p.err, p.closeFiles())
	}
	p.finished = true
	p.err = fmt.Errorf("packed: write %s: finished", p.path)
	return nil
}

func (p *Writer) finish() error {
	end, err := p.trailer().encode()
	if err != nil {
		return err
	}
	if _, err := p.journal.Write(p.flushNoted(nil, math.MaxInt)); err != nil {
		return err
	}
	if _, err := p.part.Write(end); err != nil {
		return err
	}
	if err := p.part.Sync(); err != nil {
		return err
	}
	if err := p.closeFiles(); err != nil {
		return err
	}
	if err := os.Rename(p.path+".part", p.path); err != nil {
		return err
	}
	if dir, err := os.Open(filepath.Dir(p.path)); err == nil { // makes the name last; not all systems can
		_ = dir.Sync()
		dir.Close()
	}
	return os.Remove(p.path + ".journal")
}

// Close ends the work. Unless it is finished, the next Writer goes on with it.
func (p *Writer) Close() error {
	if p.finished {
		return nil
	}
	var err error
	if p.err == nil {
		// Not those after a gap: the samples in it may still be appended.
		_, err = p.journal.Write(p.flushNoted(nil, p.Next()))
		p.err = fmt.Errorf("packed: write %s: closed", p.path)
	}
	if err = errors.Join(err, p.closeFiles()); err != nil {
		return p.wrote(err)
	}
	return nil
}

func (p *Writer) closeFiles() error {
	var errs []error
	for _, f := range []**os.File{&p.part, &p.journal} {
		if *f != nil {
			errs = append(errs, (*f).Close())
			*f = nil
		}
	}
	return errors.Join(errs...)
}
