package files

import (
	"os"

	"golang.org/x/sys/unix"
)

// TakesAdvice says whether the operating system can be asked to read files ahead.
const TakesAdvice = true

// advise starts reading n bytes of the file.
func advise(f *os.File, off, n int64) {
	_ = unix.Fadvise(int(f.Fd()), off, n, unix.FADV_WILLNEED)
}

// resident reports whether the byte is in memory: whether it can be read without waiting.
func resident(f *os.File, off int64) bool {
	var b [1]byte
	n, err := unix.Preadv2(int(f.Fd()), [][]byte{b[:]}, off, unix.RWF_NOWAIT)
	return n == 1 && err == nil
}
