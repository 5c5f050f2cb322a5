//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd)

// Package flock locks files, for datasets whose folders several processes may open. The
// system ends a lock with the process that holds it, however that ends.
package flock

import (
	"errors"
	"fmt"
	"os"
	"runtime"
)

// Supported reports an error if the system has no locks that end with their process. It
// satisfies errors.Is for errors.ErrUnsupported.
func Supported() error { return fmt.Errorf("no flock on %s: %w", runtime.GOOS, errors.ErrUnsupported) }

// Lock is not supported.
func Lock(*os.File) error { return Supported() }

// TryLock is not supported.
func TryLock(*os.File) (bool, error) { return false, Supported() }

// Unlock is not supported.
func Unlock(*os.File) error { return Supported() }
