package files

import (
	"math"
	"os"

	"golang.org/x/sys/unix"
)

// TakesAdvice says whether the operating system can be asked to read files ahead.
const TakesAdvice = true

// advise starts reading n bytes of the file.
func advise(f *os.File, off, n int64) {
	// F_RDADVISE takes a struct radvisory, an off_t and an int. The first two
	// fields of a Flock_t have the same memory layout on a little-endian machine.
	_ = unix.FcntlFlock(f.Fd(), unix.F_RDADVISE, &unix.Flock_t{Start: off, Len: min(n, math.MaxInt32)})
}

// resident does not know it: this system has no such call.
func resident(*os.File, int64) bool { return false }
