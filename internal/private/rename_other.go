//go:build !windows

package private

import (
	"errors"
	"os"
	"syscall"
)

func renameSynced(root *os.Root, from, to string) error {
	if err := root.Rename(from, to); err != nil {
		return err
	}
	dir, err := root.Open(".")
	if err != nil {
		return err
	}
	return errors.Join(unlessRefused(dir.Sync()), dir.Close())
}

// unlessRefused is the error of writing a folder, or nil if the file system does not offer that.
func unlessRefused(err error) error {
	if errors.Is(err, syscall.EINVAL) || errors.Is(err, errors.ErrUnsupported) {
		return nil
	}
	return err
}
