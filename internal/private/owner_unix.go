//go:build unix

package private

import (
	"io/fs"
	"os"
	"syscall"
)

// mine reports whether a file belongs to the user.
func mine(info fs.FileInfo) bool { return owner(info) == os.Geteuid() }

// trusted reports whether a symbolic link to a folder is the user's or the administrator's.
func trusted(info fs.FileInfo) bool { return mine(info) || owner(info) == 0 }

func owner(info fs.FileInfo) int {
	if s, ok := info.Sys().(*syscall.Stat_t); ok {
		return int(s.Uid)
	}
	return -1
}

// names is how many names a file has.
func names(info fs.FileInfo) uint64 {
	if s, ok := info.Sys().(*syscall.Stat_t); ok {
		return uint64(s.Nlink)
	}
	return 0
}

// writable reports whether others can write to a folder.
func writable(info fs.FileInfo) bool { return info.Mode().Perm()&others != 0 }
