//go:build !windows

package shared

import (
	"errors"
	"os"
	"path/filepath"
)

// OpenFile opens a file as [os.OpenFile] does. While it is open, it can be removed and renamed.
func OpenFile(name string, flag int, perm os.FileMode) (*os.File, error) {
	return os.OpenFile(name, flag, perm)
}

// Remove removes a file. Its name is free at once, also while the file is open.
func Remove(name string) error { return os.Remove(name) }

// RenameSynced renames a file within its folder, in place of one with the new name. Its new
// name survives a crash of the machine.
func RenameSynced(from, to string) error {
	if err := os.Rename(from, to); err != nil {
		return err
	}
	dir, err := os.Open(filepath.Dir(to))
	if err != nil {
		return err
	}
	return errors.Join(dir.Sync(), dir.Close())
}
