//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package private

import (
	"os"

	"golang.org/x/sys/unix"
)

// Supported reports an error if the system has no locks that end with their process. It
// satisfies errors.Is for errors.ErrUnsupported.
func Supported() error { return nil }

// Lock locks a file, and waits for it if need be.
func Lock(f *os.File) error { return flock(f, unix.LOCK_EX) }

// TryLock locks a file, or reports false if it is locked.
func TryLock(f *os.File) (bool, error) {
	err := flock(f, unix.LOCK_EX|unix.LOCK_NB)
	if err == unix.EWOULDBLOCK {
		return false, nil
	}
	return err == nil, err
}

// Unlock ends a lock.
func Unlock(f *os.File) error { return flock(f, unix.LOCK_UN) }

func flock(f *os.File, how int) error {
	for {
		if err := unix.Flock(int(f.Fd()), how); err != unix.EINTR {
			return err
		}
	}
}
