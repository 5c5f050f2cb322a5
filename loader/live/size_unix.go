//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package live

import (
	"os"

	"golang.org/x/sys/unix"
)

// systemSize is the size of a terminal, or zeros if the system does not know it.
func systemSize(f *os.File) (rows, columns int) {
	c, err := f.SyscallConn()
	if err != nil {
		return 0, 0
	}
	c.Control(func(fd uintptr) { // an error leaves the zeros
		if size, err := unix.IoctlGetWinsize(int(fd), unix.TIOCGWINSZ); err == nil {
			rows, columns = int(size.Row), int(size.Col)
		}
	})
	return rows, columns
}
