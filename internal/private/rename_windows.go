package private

import (
	"os"
	"path/filepath"

	"golang.org/x/sys/windows"
)

// renameSynced returns when the new name is on the disk, as far as Windows promises that.
func renameSynced(root *os.Root, from, to string) error {
	old, err := windows.UTF16PtrFromString(filepath.Join(root.Name(), from))
	if err == nil {
		var fresh *uint16
		if fresh, err = windows.UTF16PtrFromString(filepath.Join(root.Name(), to)); err == nil {
			err = windows.MoveFileEx(old, fresh, windows.MOVEFILE_REPLACE_EXISTING|windows.MOVEFILE_WRITE_THROUGH)
		}
	}
	if err != nil {
		return &os.LinkError{Op: "rename", Old: from, New: to, Err: err}
	}
	return nil
}
