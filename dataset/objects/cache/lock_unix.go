//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package cache

import (
	"os"

	"golang.org/x/sys/unix"
)

// lockable reports an error if the system has no locks that end with their process.
func lockable() error { return nil }

// lock locks a file, and waits for it if need be.
func lock(f *os.File) error { return flock(f, unix.LOCK_EX) }

// tryLock locks a file, or reports false if it is locked.
func tryLock(f *os.File) (bool, error) {
	err := flock(f, unix.LOCK_EX|unix.LOCK_NB)
	if err == unix.EWOULDBLOCK {
		return false, nil
	}
	return err == nil, err
}

func unlock(f *os.File) error { return flock(f, unix.LOCK_UN) }

func flock(f *os.File, how int) error {
	for {
		if err := unix.Flock(int(f.Fd()), how); err != unix.EINTR {
			return err
		}
	}
}
