package stream

import (
	"context"
	"fmt"
	"sort"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/sampler"
)

// Open makes a Reader. It holds no files.
func (d *Dataset) Open() (dataset.Reader, error) { return &reader{Dataset: d}, nil }

type reader struct {
	*Dataset
	scratch []byte
	order   windowOrder
}

func (r *reader) Close() error { return nil }

// Place reads the record that is drawn at place i. The loader knows that it is there.
func (r *reader) Place(ctx context.Context, i int, dst dataset.Slot) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	dst.Stage(dataset.StageRead)
	window, size, err := r.spool.window(i)
	if err != nil {
		return fmt.Errorf("stream: %w", err)
	}
	number := i - i%r.cfg.window + r.order.at(r.cfg.seed, window, size, i%r.cfg.window)
	if r.scratch, err = r.spool.read(number, r.scratch); err == nil {
		dst.Stage(dataset.StageDecode)
		err = r.codec.place(r.scratch, dst)
	}
	if err != nil {
		return fmt.Errorf("stream: record %d: %w", number, err)
	}
	return nil
}

// A windowOrder is the order of the window that was asked for last.
type windowOrder struct {
	window, size int
	order        sampler.Order // nil at first
}

// at is the record that is drawn at place k of a window with that many records. It is
// counted from the window's first record.
func (w *windowOrder) at(seed uint64, window, size, k int) int {
	if size == 1 {
		return 0
	}
	if w.order == nil || w.window != window || w.size != size {
		*w = windowOrder{window, size, sampler.Shuffle(size, seed).Epoch(window)}
	}
	return w.order.At(k)
}

// window is the window of draw i, and how many records it has.
func (s *spool) window(i int) (window, size int, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	have := s.drawable()
	if i < 0 || i >= have {
		return 0, 0, fmt.Errorf("sample %d is not there: there are %d so far", i, have)
	}
	begin := i - i%s.cfg.window
	return i / s.cfg.window, min(s.cfg.window, have-begin), nil
}

// record is the number of the record that is drawn at place i.
func (s *spool) record(i int) (int, error) {
	window, size, err := s.window(i)
	if err != nil {
		return 0, err
	}
	k := i % s.cfg.window
	return i - k + new(windowOrder).at(s.cfg.seed, window, size, k), nil
}

// read reads a record into scratch, which grows if need be.
func (s *spool) read(record int, scratch []byte) ([]byte, error) {
	b, err := s.find(record)
	if err != nil {
		return scratch, err
	}
	h, err := s.handles.use(b.first)
	if err != nil {
		return scratch, err
	}
	defer h.RUnlock()
	if h.block != b {
		return scratch, fmt.Errorf("%s: %w: it was replaced", blockName(b.first), errDamaged)
	}
	if scratch, err = h.read(h.file, record-b.first, scratch); err != nil {
		err = fmt.Errorf("%s: %w", blockName(b.first), err)
	}
	return scratch, err
}

// find finds the block of a record.
func (s *spool) find(record int) (block, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.blocks) == 0 || record < s.blocks[0].first {
		first := s.next
		if len(s.blocks) > 0 {
			first = s.blocks[0].first
		}
		return block{}, fmt.Errorf("it is no longer in the spool, which begins with record %d: Commit has said that it is not needed", first)
	}
	return s.blocks[sort.Search(len(s.blocks), func(k int) bool { return s.blocks[k].end() > record })], nil
}
