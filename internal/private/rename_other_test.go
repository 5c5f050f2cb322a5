//go:build !windows

package private

import (
	"io/fs"
	"syscall"
	"testing"
)

// Some file systems refuse to write a folder through to the device; real failures are errors.
func TestAFileSystemMayNotWriteFoldersOnDemand(t *testing.T) {
	for errno, want := range map[syscall.Errno]bool{syscall.EINVAL: true, syscall.ENOTSUP: true, syscall.EIO: false, syscall.ENOSPC: false} {
		err := &fs.PathError{Op: "sync", Path: "folder", Err: errno}
		if got := unlessRefused(err) == nil; got != want {
			t.Errorf("%v: taken for a refusal: %v, want %v", errno, got, want)
		}
	}
}
