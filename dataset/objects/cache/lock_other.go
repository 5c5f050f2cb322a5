//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd)

package cache

import (
	"errors"
	"fmt"
	"os"
	"runtime"
)

// lockable reports an error if the system has no locks that end with their process.
func lockable() error { return fmt.Errorf("no flock on %s: %w", runtime.GOOS, errors.ErrUnsupported) }

func lock(*os.File) error            { return lockable() }
func tryLock(*os.File) (bool, error) { return false, lockable() }
func unlock(*os.File) error          { return lockable() }
