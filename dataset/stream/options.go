package stream

import (
	"errors"
	"fmt"

	"github.com/penstock-go/penstock/internal/figures"
)

// An Option changes what [New] makes. The zero Option sets nothing.
type Option struct{ set func(*config) }

type config struct {
	window    int
	seed      uint64
	limit     int64
	blockSize int
	maxRecord int
	sync      bool
	resume    *Checkpoint
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

// Resume sets where an empty spool begins: at a [Checkpoint] of another spool of the same
// source, which must be a [Seeker]. It has no effect if the spool has the record of the
// checkpoint.
func Resume(at Checkpoint) Option { return Option{func(c *config) { c.resume = &at }} }

// validate reports everything that is wrong with the options.
func (c *config) validate(source Source) error {
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
	if at := c.resume; at != nil {
		wrong(source != nil && !isSeeker(source), "Resume: %T is not a Seeker", source)
		wrong(at.Version != checkpointVersion, "Resume: the checkpoint has version %d, this program reads %d", at.Version, checkpointVersion)
		wrong(at.Record < 0, "Resume: not a checkpoint: record %d", at.Record)
		wrong(at.Window != c.window || at.Seed != c.seed, "Resume: the checkpoint was taken with Window(%d) and Seed(%d), this stream has Window(%d) and Seed(%d)",
			at.Window, at.Seed, c.window, c.seed)
	}
	return errors.Join(errs...)
}
