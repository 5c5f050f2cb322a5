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

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/internal/files"
	"github.com/penstock-go/penstock/internal/journal"
	"github.com/penstock-go/penstock/internal/private"
)

// A Writer writes a file for [Open] step by step. If the program is killed, the
// appended samples remain in two files next to it, path.part and path.journal,
// and the next Writer of that path continues after them. Only [Writer.Finish]
// gives the file its name, so a file of that name is complete. Its bytes do not
// depend on interruptions.
//
// Samples have indices in a source. They are appended in the order of the
// indices, but some may be left out. Only one Writer at a time may write a
// path, and only one goroutine at a time may use it.
type Writer struct {
	path     string
	config   config
	trailer  *trailer // of the samples in part
	part     *os.File
	samples  *bufio.Writer // into part
	journal  *os.File
	skipped  []SkippedSample // in the journal
	noted    []SkippedSample // not yet in the journal; written before the next sample
	lines    []byte          // of the journal, while a batch is appended
	sizes    []byte          // of a line of it
	next     int             // in the source
	err      error           // of writing, after which nothing more is written
	finished bool
}

// A SkippedSample is a sample of the source that [Writer.Skip] left out.
type SkippedSample struct {
	Index  int    // in the source
	Reason string // at most 4 KiB; the rest is cut off
}

// Create begins the file at path, or continues it. To continue, it reads the
// samples that exist and keeps them up to the first one with a wrong checksum.
// [Writer.Next] is then the first index to append. It is an error if path.part
// has samples of another source, fields or classes, or if one of the two files is another
// user's or a link. A finished file at path stays as it is until [Writer.Finish] replaces it.
func Create(ctx context.Context, path string, spec dataset.Spec, options ...Option) (*Writer, error) {
	p := &Writer{path: path, config: configOf(options)}
	var err error
	if p.trailer, err = p.config.trailer(spec); err != nil {
		return nil, fmt.Errorf("packed: %w", err)
	}
	if _, err := p.trailer.encode(); err != nil {
		return nil, p.wrote(err)
	}
	// A Writer that was given up may still have the files open. Windows, too, lets them be renamed then.
	if p.part, err = private.OpenFile(path+".part", os.O_RDWR|os.O_CREATE, 0o666); err != nil {
		return nil, p.wrote(err)
	}
	if p.journal, err = private.OpenFile(path+".journal", os.O_RDWR|os.O_CREATE, 0o666); err == nil {
		err = p.resume(ctx)
	}
	if err != nil {
		return nil, errors.Join(p.wrote(err), p.closeFiles())
	}
	p.samples = bufio.NewWriterSize(p.part, 256<<10)
	return p, nil
}

// wrote adds the name of the file to an error.
func (p *Writer) wrote(err error) error {
	name := p.path
	if e := (*os.PathError)(nil); errors.As(err, &e) {
		name = e.Path
	}
	return fmt.Errorf("packed: write %s: %w", name, files.Cause(err))
}

// Next is the first index of the source that was neither appended nor skipped.
func (p *Writer) Next() int {
	next := p.next
	for _, s := range p.noted {
		if s.Index == next {
			next++
		}
	}
	return next
}

// Len is the number of appended samples, including those before an
// interruption.
func (p *Writer) Len() int { return len(p.trailer.sums) }

// Skipped are the samples that were left out, including those before an
// interruption.
func (p *Writer) Skipped() []SkippedSample { return slices.Concat(p.skipped, p.noted) }

// Skip notes that a sample of the source is left out, and why. Indices must
// increase. The note survives a kill of the program after the next Append or
// Close, if no index below it is missing then. After Finish or Close, Skip is an
// error.
func (p *Writer) Skip(index int, reason string) error {
	if p.err != nil {
		return p.err
	}
	last := p.next - 1
	if len(p.noted) > 0 {
		last = p.noted[len(p.noted)-1].Index
	}
	if index <= last {
		return fmt.Errorf("packed: write %s: skip sample %d: indices must increase, the last one was %d", p.path, index, last)
	}
	p.noted = append(p.noted, SkippedSample{index, strings.ToValidUTF8(reason[:min(len(reason), maxReason)], "")})
	return nil
}

// Append writes a batch of samples. indices are their indices in the source,
// which must increase. fields has a tensor of shape (len(indices), …) for every
// field of the spec, in its order; none may be ragged. When Append returns, the
// samples survive a kill of the program, but not a crash of the machine.
func (p *Writer) Append(indices []int, fields ...dataset.Tensor) error {
	return p.appendColumns(indices, func() ([]column, error) { return p.columns(len(indices), fields) })
}

func (p *Writer) appendColumns(indices []int, columns func() ([]column, error)) error {
	if p.err != nil {
		return p.err
	}
	c, err := columns()
	if err == nil {
		err = p.inOrder(indices)
	}
	if err != nil {
		return fmt.Errorf("packed: write %s: %w", p.path, err)
	}
	if err := p.append(indices, c); err != nil {
		p.err = p.wrote(err)
	}
	return p.err
}

func (p *Writer) append(indices []int, columns []column) error {
	t := p.trailer
	lines := p.lines[:0]
	for row, index := range indices {
		lines = p.flushNoted(lines, index)
		var sum uint32
		sizes := len(t.layout.ends)
		for k, at := range columns {
			bytes := at(row)
			sum = crc32.Update(sum, castagnoli(), bytes)
			if t.spec[k].Ragged {
				t.layout.add(len(bytes))
			}
			if _, err := p.samples.Write(bytes); err != nil {
				return err
			}
		}
		p.added(index, sum)
		p.next = index + 1
		lines = journal.Append(lines, "%d %08x%s", index, sum, p.sizesFrom(sizes))
	}
	lines = p.flushNoted(lines, p.Next())
	p.lines = lines
	// The journal must list only samples that are in the file.
	if err := p.samples.Flush(); err != nil {
		return err
	}
	_, err := p.journal.Write(lines)
	return err
}

// added notes a sample of the source that is in the file.
func (p *Writer) added(index int, sum uint32) {
	t := p.trailer
	t.sums = append(t.sums, sum)
	if t.named {
		t.names = append(t.names, p.config.name(index))
	}
}

// flushNoted appends a line for every noted sample with an index below before.
func (p *Writer) flushNoted(lines []byte, before int) []byte {
	for len(p.noted) > 0 && p.noted[0].Index < before {
		s := p.noted[0]
		p.noted, p.skipped, p.next = p.noted[1:], append(p.skipped, s), s.Index+1
		lines = journal.Append(lines, "%d skipped %q", s.Index, s.Reason)
	}
	return lines
}

// inOrder checks that indices increase and that none of the samples was skipped.
func (p *Writer) inOrder(indices []int) error {
	last := p.next - 1
	for _, i := range indices {
		if i <= last {
			return fmt.Errorf("sample %d: indices must increase, the last one was %d", i, last)
		}
		if slices.ContainsFunc(p.noted, func(s SkippedSample) bool { return s.Index == i }) {
			return fmt.Errorf("sample %d was skipped", i)
		}
		last = i
	}
	return nil
}

// Finish completes the file, gives it its name and closes the Writer.
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
	end, err := p.trailer.encode()
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
	if dir, err := os.Open(filepath.Dir(p.path)); err == nil { // makes the name durable, on systems that can
		_ = dir.Sync()
		dir.Close()
	}
	return os.Remove(p.path + ".journal")
}

// Close closes the files. If the Writer is not finished, the next one
// continues. Close drops skipped samples that come after a gap, because the
// samples in the gap may still be appended. Close after Finish does nothing.
func (p *Writer) Close() error {
	if p.finished {
		return nil
	}
	var err error
	if p.err == nil {
		// Notes after a gap are dropped: the samples in the gap may still be appended.
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
