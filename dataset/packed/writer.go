package packed

import (
	"context"
	"crypto/sha256"
	"fmt"
	"strconv"
	"strings"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/internal/journal"
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
	path    string
	config  config
	trailer *trailer // of the samples in the log
	file    *journal.Writing
	next    int // in the source
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
	empty, err := p.trailer.encode()
	if err != nil {
		return nil, fmt.Errorf("packed: write %s: %w", path, err)
	}
	p.file, err = journal.Begin(ctx, "packed", path, path, fmt.Sprintf("packed 2 %x", sha256.Sum256(empty)), nil, p.restore)
	if err != nil {
		return nil, err
	}
	return p, nil
}

// restore adds a sample that an earlier Writer has appended. Its note is the index in the source, and the sizes of
// its ragged fields.
func (p *Writer) restore(n journal.Note) bool {
	l := &p.trailer.layout
	words := strings.Fields(n.Text)
	if len(words) != 1+l.ragged {
		return false
	}
	index, err := strconv.Atoi(words[0])
	if err != nil || index < p.next || index+1 < 0 {
		return false
	}
	left := n.Bytes - l.fixed
	sizes := make([]int, l.ragged)
	for k, word := range words[1:] {
		if sizes[k], err = strconv.Atoi(word); err != nil || sizes[k] < 0 || int64(sizes[k]) > left {
			return false
		}
		left -= int64(sizes[k])
	}
	if left != 0 {
		return false
	}
	for _, size := range sizes {
		l.add(size)
	}
	p.added(index, n.Sum)
	return true
}

// added notes a sample of the source that is in the log.
func (p *Writer) added(index int, sum uint32) {
	t := p.trailer
	t.sums = append(t.sums, sum)
	if t.named {
		t.names = append(t.names, p.config.name(index))
	}
	p.next = index + 1
}

// Next is the index after that of the last sample that was appended.
func (p *Writer) Next() int { return p.next }

// Len is the number of appended samples, including those before an
// interruption.
func (p *Writer) Len() int { return len(p.trailer.sums) }

// AppendBatch writes a batch of samples. indices are their indices in the source,
// which must increase. When it returns, the samples survive a kill of the program,
// but not a crash of the machine.
func (p *Writer) AppendBatch(indices []int, b dataset.Batch) error {
	if err := p.file.Err(); err != nil {
		return err
	}
	spec := p.trailer.spec
	if has := b.Spec(); has.String() != spec.String() {
		return p.file.Wrap(fmt.Errorf("batch of %v, want %v", has, spec))
	}
	rows, err := journal.Rows(b, spec, len(indices))
	last := p.next - 1
	for _, i := range indices {
		if i <= last && err == nil {
			err = fmt.Errorf("sample %d: indices must increase, the last one was %d", i, last)
		}
		last = i
	}
	if err != nil {
		return p.file.Wrap(err)
	}
	return p.file.Do(func() error { return p.append(indices, rows) })
}

func (p *Writer) append(indices []int, rows []func(row int) []byte) error {
	var sizes []byte
	for row, index := range indices {
		sizes = sizes[:0]
		for k, at := range rows {
			bytes := at(row)
			if p.trailer.spec[k].Ragged {
				p.trailer.layout.add(len(bytes))
				sizes = strconv.AppendInt(append(sizes, ' '), int64(len(bytes)), 10)
			}
			if _, err := p.file.Log.Write(bytes); err != nil {
				return err
			}
		}
		p.added(index, p.file.Log.Note("%d%s", index, sizes))
	}
	return p.file.Log.Flush()
}

// Finish completes the file, gives it its name and closes the Writer.
func (p *Writer) Finish() error {
	return p.file.Finish(func() error {
		end, err := p.trailer.encode()
		if err != nil {
			return err
		}
		if _, err := p.file.Log.Write(end); err != nil {
			return err
		}
		return p.file.Log.Finish(p.path)
	})
}

// Close closes the files. If the Writer is not finished, the next one
// continues. Close after Finish does nothing.
func (p *Writer) Close() error { return p.file.Close() }
