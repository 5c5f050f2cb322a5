package files

import (
	"math"
	"os"

	"golang.org/x/sys/unix"
)

// advise starts reading a part of the file; a length of 0 means to its end.
func advise(f *os.File, offset, length int64) {
	if length == 0 || length > math.MaxInt32 {
		length = math.MaxInt32
	}
	// F_RDADVISE takes a struct radvisory, an off_t and an int. The first two
	// fields of a Flock_t lie in memory the same way on a little-endian machine.
	_ = unix.FcntlFlock(f.Fd(), unix.F_RDADVISE, &unix.Flock_t{Start: offset, Len: length})
}
