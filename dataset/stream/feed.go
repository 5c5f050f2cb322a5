package stream

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime/debug"

	"github.com/penstock-go/penstock/dataset"
)

// A feeder is the goroutine that reads the source.
type feeder struct {
	*Dataset
	slot  dataset.Slot
	begun bool // whether the source is at its place
	held  bool // whether slot has a record that could not be added
	ack   int  // number of the record up to which the source was told that records are safe
}

// feed reads the source until it ends or ctx is done.
func (d *Dataset) feed(ctx context.Context) {
	f := &feeder{Dataset: d, slot: dataset.NewSlot(d.spec...)}
	for ctx.Err() == nil && !d.spool.complete() {
		err := f.protected(ctx)
		if err == nil || ctx.Err() != nil {
			continue
		}
		_ = d.spool.flush() // it is tried again
		d.spool.fail(err)
		d.spool.told(ctx)
	}
}

// errGoexit says that a method of the source has called runtime.Goexit.
var errGoexit = errors.New("the source called runtime.Goexit")

// protected is read in a goroutine of its own, so that a panic of the source is an error,
// and so is runtime.Goexit.
func (f *feeder) protected(ctx context.Context) (err error) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer func() {
			if v := recover(); v != nil {
				err = fmt.Errorf("record %d: %w", f.spool.upTo(), &dataset.PanicError{Value: v, Stack: debug.Stack()})
			}
		}()
		err = errGoexit
		err = f.read(ctx)
	}()
	<-done
	return err
}

// read adds records to the spool until the source ends.
func (f *feeder) read(ctx context.Context) error {
	if err := f.begin(ctx); err != nil {
		return err
	}
	for {
		if err := f.spool.room(ctx); err != nil {
			return err
		}
		if err := f.acknowledge(ctx); err != nil {
			return err
		}
		switch err := f.next(ctx); {
		case err == io.EOF:
			if err := f.spool.end(ctx); err != nil {
				return err
			}
			return f.acknowledge(ctx)
		case err != nil:
			return fmt.Errorf("record %d: %w", f.spool.upTo(), err)
		}
	}
}

// begin brings the source to its place, once.
func (f *feeder) begin(ctx context.Context) error {
	if f.begun {
		return nil
	}
	mark, known := f.spool.lastMark()
	if source, ok := f.source.(Seeker); ok && known {
		if err := source.Seek(ctx, mark); err != nil {
			return fmt.Errorf("seek to record %d: %w", f.spool.upTo(), err)
		}
	}
	if !known {
		mark = f.source.Mark()
		if len(mark) > maxMark {
			return fmt.Errorf("a mark of %d bytes, more than %d", len(mark), maxMark)
		}
		f.spool.startAt(mark)
	}
	f.ack = -1 // also what an earlier process has sealed
	f.begun = true
	return nil
}

// next reads one record into the spool.
func (f *feeder) next(ctx context.Context) error {
	if !f.held {
		f.codec.clear(f.slot)
		if err := f.source.Next(ctx, f.slot); err != nil {
			return err
		}
		f.held = true
	}
	if err := f.codec.oversized(f.slot, f.cfg.maxRecord); err != nil {
		return err
	}
	mark := f.source.Mark()
	if len(mark) > maxMark {
		return fmt.Errorf("a mark of %d bytes, more than %d", len(mark), maxMark)
	}
	f.held = false
	return f.spool.add(f.codec, f.slot, mark)
}

// acknowledge tells the source what has been sealed since the last time.
func (f *feeder) acknowledge(ctx context.Context) error {
	source, ok := f.source.(Acknowledger)
	if !ok {
		return nil
	}
	mark, sealed := f.spool.sealedMark()
	if sealed == f.ack || sealed == 0 {
		return nil
	}
	if err := source.Acknowledge(ctx, mark); err != nil {
		return fmt.Errorf("acknowledge the records before %d: %w", sealed, err)
	}
	f.ack = sealed
	return nil
}
