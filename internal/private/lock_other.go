//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd || windows)

package private

import (
	"errors"
	"fmt"
	"os"
	"runtime"
)

// Supported reports an error if the system has no locks that end with their process. It
// satisfies errors.Is for errors.ErrUnsupported.
func Supported() error {
	return fmt.Errorf("no file locks on %s: %w", runtime.GOOS, errors.ErrUnsupported)
}

// Lock is not supported.
func Lock(*os.File) error { return Supported() }

// TryLock is not supported.
func TryLock(*os.File) (bool, error) { return false, Supported() }

// Unlock is not supported.
func Unlock(*os.File) error { return Supported() }
