//go:build !windows

package shared

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
)

// OpenFile opens a file as [os.OpenFile] does. While it is open, it can be removed and renamed.
func OpenFile(name string, flag int, perm os.FileMode) (*os.File, error) {
	return os.OpenFile(name, flag, perm)
}

// Remove removes a file. Its name is free at once, also while the file is open.
func Remove(name string) error { return os.Remove(name) }

// RenameSynced renames a file within its folder, in place of one with the new name. Its new
// name survives a crash of the machine, unless the file system writes no folders on demand, as
// some network file systems do not.
func RenameSynced(from, to string) error {
	if err := os.Rename(from, to); err != nil {
		return err
	}
	dir, err := os.Open(filepath.Dir(to))
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
