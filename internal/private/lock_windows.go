package private

import (
	"errors"
	"os"

	"golang.org/x/sys/windows"
)

// Supported reports an error if the system has no locks that end with their process. It
// satisfies errors.Is for errors.ErrUnsupported.
func Supported() error { return nil }

// Lock locks a file, and waits for it if need be.
func Lock(f *os.File) error { return lockFile(f, windows.LOCKFILE_EXCLUSIVE_LOCK) }

// TryLock locks a file, or reports false if it is locked.
func TryLock(f *os.File) (bool, error) {
	err := lockFile(f, windows.LOCKFILE_EXCLUSIVE_LOCK|windows.LOCKFILE_FAIL_IMMEDIATELY)
	if errors.Is(err, windows.ERROR_LOCK_VIOLATION) {
		return false, nil
	}
	return err == nil, err
}

// Unlock ends a lock.
func Unlock(f *os.File) error {
	return windows.UnlockFileEx(windows.Handle(f.Fd()), 0, 1, 0, place())
}

func lockFile(f *os.File, how uint32) error {
	return windows.LockFileEx(windows.Handle(f.Fd()), how, 0, 1, 0, place())
}

// place is the byte that is locked. Other processes cannot read or write what is locked,
// so it is one that no file has.
func place() *windows.Overlapped {
	return &windows.Overlapped{Offset: 1<<32 - 2, OffsetHigh: 1<<31 - 1}
}
