package files

import (
	"os"

	"golang.org/x/sys/unix"
)

// advise starts reading a part of the file. A length of 0 means up to its end.
func advise(f *os.File, offset, length int64) {
	_ = unix.Fadvise(int(f.Fd()), offset, length, unix.FADV_WILLNEED)
}
