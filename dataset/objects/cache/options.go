package cache

import (
	"errors"
	"fmt"
	"time"
)

// An Option changes what [New] makes. The zero Option sets nothing.
type Option struct{ set func(*config) }

type config struct {
	identity  string
	blockSize int64
	unused    time.Duration
}

func defaults() config { return config{blockSize: 64 << 20, unused: 72 * time.Hour} }

// leastBlocks is how many blocks a cache must have room for.
const leastBlocks = 4

// Identity tells the store from all others whose blocks are in the same folder, in this
// run and in later ones. It must not change while the store is the same, so it should not
// hold a signature. The default is the identity that the store has: the URL of a server
// without its query, the path of a folder. A store without one needs this option.
func Identity(text string) Option { return Option{func(c *config) { c.identity = text }} }

// BlockSize sets how many bytes a block may have. A longer read is divided into several
// blocks. The default is 64 MiB.
func BlockSize(bytes int64) Option { return Option{func(c *config) { c.blockSize = bytes }} }

// Unused sets after which time without a read [New] deletes a block, so that data of
// earlier work makes room. It should be longer than two epochs. The default is 72 h.
func Unused(d time.Duration) Option { return Option{func(c *config) { c.unused = d }} }

func (c *config) check(limit int64) error {
	var errs []error
	wrong := func(is bool, format string, args ...any) {
		if is {
			errs = append(errs, fmt.Errorf("cache: "+format, args...))
		}
	}
	wrong(c.identity == "", "the store has no identity: want Identity")
	wrong(c.blockSize < 1, "BlockSize(%d): want 1 or more", c.blockSize)
	wrong(c.blockSize > maxBlock, "BlockSize(%d): want %d at most", c.blockSize, maxBlock)
	wrong(c.unused <= 0, "Unused(%v): want more than 0", c.unused)
	if c.blockSize >= 1 && c.blockSize <= maxBlock {
		least := leastBlocks * c.blockSize
		wrong(limit < least, "limit of %d bytes: want at least %d times BlockSize, %d", limit, leastBlocks, least)
	}
	return errors.Join(errs...)
}
