// Package stream makes a dataset of a [Source], which gives one record after the other: a
// channel, a queue, a log, the output of another program. A loader reads it like any
// other dataset:
//
//	ds, err := stream.New(source, "/var/spool/photos", stream.Window(10_000))
//	defer ds.Close()
//	photos, err := transform.Images(ds, transform.Resize(256), …)
//	l, err := loader.New(photos, loader.BatchSize(128))
//	for batch, err := range l.From(ctx, position, 1) {
//		…
//		save(batch.Position())
//		err = ds.Commit(batch.Position().Draw)
//	}
//
// # The spool
//
// One goroutine reads the source and writes its records into blocks in a folder, the
// spool. A record can be drawn when its block is sealed: when the block is a whole file,
// with checksums, under its final name. A process may be killed at any point. The next
// one finds all sealed blocks, and nothing else.
//
// So the data is the same for any number of workers and on every run, and a saved
// loader.Position resumes exactly, as long as the spool has the records. [Dataset.Commit]
// says which ones are no longer needed. A spool has a [MaxBytes]: if the loop is slow, the
// source is not read any further. If the spool is full and only a Commit can help,
// although the loop waits for a record, that is [ErrFull].
//
// # What a source can promise
//
// What happens to the records that were read from the source, but not sealed when the
// process was killed, depends on the source:
//
//   - A [Seeker] can go back: a file, or a log such as Kafka's. The next process reads
//     these records again. Nothing is lost or repeated.
//   - An [Acknowledger] keeps records until they are sealed: a queue. Nothing is lost.
//   - From any other source, such as a channel or a pipe, these records are lost. What is
//     in the spool is not. Without a kill, [Dataset.Close] seals the last records.
//
// Kill means kill -9 or a crash of the program. Add [Sync] if the machine may crash.
//
// # Order
//
// Records have the order of the source, or are shuffled in windows: see [Window]. The
// order of a window depends on the seed and the window's number alone. All epochs have
// the same order. An epoch ends where the source returns [io.EOF], and this end is
// remembered: the spool is then complete. Streams without an end have one epoch. A loader's
// Shuffle is refused, because it needs to know all samples.
//
// # Ranks
//
// Either each rank has a source of its own, such as some partitions of a log. Or all
// ranks read the same source, in the same order, each into a folder of its own, and the
// loader shares the samples by number:
//
//	l, err := loader.New(ds, loader.Ranks(rank, world, sampler.DropToEven), …)
//
// Then a position resumes on another number of ranks, too.
package stream

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"sync"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/internal/figures"
)

// A Source gives records one by one. A single goroutine calls its methods, except Spec.
//
// If it is a [fmt.Stringer], errors name it so. The interfaces [Seeker] and
// [Acknowledger] extend it.
type Source interface {
	// Spec describes the fields of a record.
	Spec() dataset.Spec

	// Next writes the next record into dst. Its values are zeros before, and its ragged
	// fields empty. It must not keep dst, nor use its random numbers. It returns io.EOF
	// after the last record. Any other error ends the loop, and the next loop calls Next
	// again.
	//
	// Next waits until there is a record. It returns soon after ctx is done, which happens
	// in [Dataset.Close], and takes no record then.
	Next(ctx context.Context, dst dataset.Slot) error

	// Mark is the position after the last record that Next has given, or the one where
	// the source begins: the offset in a file, the offsets of partitions. It has at most
	// 1 MiB. It may be nil for a source that is neither a Seeker nor an Acknowledger. It
	// is copied before the next call of a method.
	Mark() []byte
}

// A Seeker is a Source that can give records again.
type Seeker interface {
	// Seek goes to a position that Mark has returned, perhaps in an earlier process. The
	// records that follow are the same as before.
	Seek(ctx context.Context, mark []byte) error
}

// An Acknowledger is a Source that keeps records until it is told that they are safe.
type Acknowledger interface {
	// Acknowledge says that all records up to a mark are sealed. It is called after every
	// block that is sealed. It is also called before the first Next, with the last mark of
	// a spool that exists: the process may have been killed before that call. The source
	// must not give these records again. An error ends the loop.
	//
	// It is called between two calls of Next, so Next must not wait for it: the queue must
	// hand out as many records that are not acknowledged as a block, or a [Window], has.
	Acknowledge(ctx context.Context, mark []byte) error
}

// A Dataset has the records of a source. [New] makes it. Its length is
// [dataset.Unknown].
type Dataset struct {
	source Source
	spec   dataset.Spec
	codec  codec
	cfg    config
	spool  *spool

	mu     sync.Mutex
	cancel context.CancelFunc // of the goroutine that reads the source
	done   chan struct{}      // closed when it has ended; nil before it begins
	closed bool
}

// New makes a dataset of the records of source, with a spool in the folder dir. It makes
// the folder if there is none. An existing folder must be its user's alone to change, and empty
// or the spool of an earlier run with the same fields, [Window] and [Seed]. Then the source continues
// after the last record there: a [Seeker] is told to, and any other one is taken to be at
// that place.
//
// The source is read from the first loop on, until [Dataset.Close]. Only one process at a
// time can use a spool. It is an error that satisfies [errors.Is] for
// [errors.ErrUnsupported] where Go programs have no file locks, such as on Plan 9 and in
// browsers. The error lists everything that is wrong with the options.
func New(source Source, dir string, options ...Option) (*Dataset, error) {
	cfg := newConfig(options)
	if source == nil {
		return nil, errors.Join(errors.New("stream: New: the source is nil"), cfg.validate())
	}
	spec := source.Spec()
	if err := errors.Join(spec.Validate(), cfg.validate()); err != nil {
		return nil, err
	}
	full, err := filepath.Abs(dir)
	if err != nil {
		return nil, fmt.Errorf("stream: spool %s: %w", dir, err)
	}
	s, err := openSpool(full, spec, cfg)
	if err != nil {
		return nil, fmt.Errorf("stream: spool %s: %w", dir, err)
	}
	if source, ok := source.(interface{ setLimit(bytes int) }); ok {
		source.setLimit(cfg.maxRecord)
	}
	return &Dataset{source: source, spec: spec, codec: newCodec(spec), cfg: cfg, spool: s}, nil
}

// Len is [dataset.Unknown].
func (d *Dataset) Len() int { return dataset.Unknown }

// Spec describes the fields of a record.
func (d *Dataset) Spec() dataset.Spec { return d.spec }

// Name is the source and the number of the record that is drawn at place i, from 0 on, as
// in "photos, record 17".
func (d *Dataset) Name(i int) string {
	if i < 0 {
		return ""
	}
	record, err := d.spool.record(i)
	if err != nil {
		return ""
	}
	return fmt.Sprintf("%s, record %d", d.name(), record)
}

// name is the source's name for errors.
func (d *Dataset) name() string {
	if s, ok := d.source.(fmt.Stringer); ok {
		return s.String()
	}
	return fmt.Sprintf("%T", d.source)
}

// Close ends the reading of the source, and waits for Next to return. It seals the
// records that were read, for which it may exceed the [MaxBytes] by one block, and ends the
// use of the folder. The spool stays. Close the loaders before. Calling Close again does
// nothing.
func (d *Dataset) Close() error {
	d.mu.Lock()
	closed := d.closed
	d.closed = true
	cancel, done := d.cancel, d.done
	d.mu.Unlock()
	if closed {
		return nil
	}
	if done != nil {
		cancel()
		<-done
	}
	if err := d.spool.close(); err != nil {
		return fmt.Errorf("stream: close: %w", err)
	}
	return nil
}

// start starts the goroutine that reads the source, if it has not been started.
func (d *Dataset) start() {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.done != nil || d.closed {
		return
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	d.cancel, d.done = cancel, done
	go func() {
		defer close(done)
		d.feed(ctx)
	}()
}

// Await waits until the samples 0 to n-1 are sealed, in whole windows. A loader calls it:
// see [dataset.Awaiter].
func (d *Dataset) Await(ctx context.Context, n int, idle <-chan struct{}) (have int, ended bool, err error) {
	d.start()
	have, ended, err = d.spool.await(ctx, n, idle)
	if err != nil && err != ctx.Err() {
		err = fmt.Errorf("stream: %s: %w", d.name(), err)
	}
	return have, ended, err
}

var _ interface {
	dataset.Dataset
	Name(i int) string
	dataset.Awaiter
	io.Closer
} = (*Dataset)(nil)

// An Option changes what [New] makes. The zero Option sets nothing.
type Option struct{ set func(*config) }

type config struct {
	window    int
	seed      uint64
	limit     int64
	blockSize int
	maxRecord int
	sync      bool
}

const (
	leastBlocks = 4       // so many blocks must have room in a spool
	mostBytes   = 1 << 30 // of a block or a record
)

func newConfig(options []Option) config {
	c := config{window: 1, limit: 1 << 30, blockSize: 4 << 20, maxRecord: 64 << 20}
	for _, option := range options {
		if option.set != nil {
			option.set(&c)
		}
	}
	return c
}

// Window sets that records are shuffled in windows of n: the first n records come in
// random order, then the next n, and so on. A window can be drawn from when all its
// records are sealed, or when the source has ended. [MaxBytes] must have room for
// two windows, and for what is drawn between two calls of Commit. The default is 1: the
// source's own order.
func Window(n int) Option { return Option{func(c *config) { c.window = n }} }

// Seed sets the seed of the windows' order. The default is 0.
func Seed(seed uint64) Option { return Option{func(c *config) { c.seed = seed }} }

// MaxBytes sets how many bytes the blocks of the spool may have together. The default is
// 1 GiB. It must be at least four times [BlockSize].
func MaxBytes(bytes int64) Option { return Option{func(c *config) { c.limit = bytes }} }

// BlockSize sets after how many bytes of records a block is sealed. It is sealed earlier if a
// loop waits for its records. So many bytes are in memory, too. The default is 4 MiB.
func BlockSize(bytes int) Option { return Option{func(c *config) { c.blockSize = bytes }} }

// MaxRecordBytes sets how many bytes a record may have. A larger one is an error. The default is
// 64 MiB.
func MaxRecordBytes(bytes int) Option { return Option{func(c *config) { c.maxRecord = bytes }} }

// Sync sets whether a block is written through to the device before it counts as sealed.
// Then the spool also survives a crash of the machine. The default is false.
func Sync(on bool) Option { return Option{func(c *config) { c.sync = on }} }

// validate reports everything that is wrong with the options.
func (c *config) validate() error {
	var errs []error
	wrong := func(is bool, format string, args ...any) {
		if is {
			errs = append(errs, fmt.Errorf("stream: "+format, args...))
		}
	}
	wrong(c.window < 1, "Window(%d): want 1 or more", c.window)
	wrong(c.blockSize < 1 || c.blockSize > mostBytes, "BlockSize(%d): want from 1 to %d", c.blockSize, mostBytes)
	wrong(c.maxRecord < 1 || c.maxRecord > mostBytes, "MaxRecordBytes(%d): want from 1 to %d", c.maxRecord, mostBytes)
	if c.blockSize >= 1 && c.blockSize <= mostBytes {
		least := leastBlocks * int64(c.blockSize)
		wrong(c.limit < least, "MaxBytes(%d): want at least %d times BlockSize, %s", c.limit, leastBlocks, figures.Bytes(least))
	}
	return errors.Join(errs...)
}

// Stats says what a spool holds.
type Stats struct {
	First int   // number of the first record in it
	Next  int   // number of the record after the last one
	Used  int64 // bytes of its blocks
	Full  bool  // whether the source is not read because there is no room
}

// Stats says what the spool holds now.
func (d *Dataset) Stats() Stats {
	s := d.spool
	s.mu.Lock()
	defer s.mu.Unlock()
	stats := Stats{First: s.next, Next: s.next, Used: s.used, Full: s.full}
	if len(s.blocks) > 0 {
		stats.First = s.blocks[0].first
	}
	return stats
}
