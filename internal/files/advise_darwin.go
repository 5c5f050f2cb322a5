package files

import (
	"math"
	"os"

	"golang.org/x/sys/unix"
)

// advise starts reading a part of the file. A length of 0 means up to its end.
func advise(f *os.File, offset, length int64) {
	if length == 0 || length > math.MaxInt32 {
		length = math.MaxInt32
	}
	// F_RDADVISE takes a struct radvisory, an off_t and an int. The first two
	// fields of a Flock_t have the same memory layout on a little-endian machine.
	_ = unix.FcntlFlock(f.Fd(), unix.F_RDADVISE, &unix.Flock_t{Start: offset, Len: length})
}
