package shared

import (
	"os"
	"unsafe"

	"golang.org/x/sys/windows"
)

// sharing is what others may do with a file while it is open. With os.OpenFile, they may
// not remove or rename it.
const sharing = windows.FILE_SHARE_READ | windows.FILE_SHARE_WRITE | windows.FILE_SHARE_DELETE

// OpenFile opens a file as [os.OpenFile] does, but takes permissions from its folder. While
// it is open, it can be removed and renamed.
func OpenFile(name string, flag int, _ os.FileMode) (*os.File, error) {
	var access uint32 = windows.GENERIC_READ
	switch flag & (os.O_RDONLY | os.O_WRONLY | os.O_RDWR) {
	case os.O_WRONLY:
		access = windows.GENERIC_WRITE
	case os.O_RDWR:
		access = windows.GENERIC_READ | windows.GENERIC_WRITE
	}
	if flag&os.O_APPEND != 0 {
		access = access&^windows.GENERIC_WRITE | windows.FILE_APPEND_DATA | windows.SYNCHRONIZE
	}
	var how uint32 = windows.OPEN_EXISTING
	switch {
	case flag&os.O_CREATE != 0 && flag&os.O_EXCL != 0:
		how = windows.CREATE_NEW
	case flag&os.O_CREATE != 0 && flag&os.O_TRUNC != 0:
		how = windows.CREATE_ALWAYS
	case flag&os.O_CREATE != 0:
		how = windows.OPEN_ALWAYS
	case flag&os.O_TRUNC != 0:
		how = windows.TRUNCATE_EXISTING
	}
	h, err := open(name, access, how)
	if err != nil {
		return nil, &os.PathError{Op: "open", Path: name, Err: err}
	}
	return os.NewFile(uintptr(h), name), nil
}

func open(name string, access, how uint32) (windows.Handle, error) {
	path, err := windows.UTF16PtrFromString(name)
	if err != nil {
		return windows.InvalidHandle, err
	}
	return windows.CreateFile(path, access, sharing, nil, how, windows.FILE_ATTRIBUTE_NORMAL, 0)
}

// Remove removes a file. On NTFS, its name is free at once, also while the file is open. On
// other file systems, it is free when the file is closed.
func Remove(name string) error {
	h, err := open(name, windows.DELETE, windows.OPEN_EXISTING)
	if err != nil {
		return &os.PathError{Op: "remove", Path: name, Err: err}
	}
	how := uint32(windows.FILE_DISPOSITION_DELETE | windows.FILE_DISPOSITION_POSIX_SEMANTICS)
	err = windows.SetFileInformationByHandle(h, windows.FileDispositionInfoEx, (*byte)(unsafe.Pointer(&how)), uint32(unsafe.Sizeof(how)))
	if e := windows.CloseHandle(h); err == nil {
		return e
	}
	return os.Remove(name)
}

// RenameSynced renames a file within its folder, in place of one with the new name. It
// returns when the new name is on the disk, as far as Windows promises that.
func RenameSynced(from, to string) error {
	old, err := windows.UTF16PtrFromString(from)
	if err == nil {
		var fresh *uint16
		if fresh, err = windows.UTF16PtrFromString(to); err == nil {
			err = windows.MoveFileEx(old, fresh, windows.MOVEFILE_REPLACE_EXISTING|windows.MOVEFILE_WRITE_THROUGH)
		}
	}
	if err != nil {
		return &os.LinkError{Op: "rename", Old: from, New: to, Err: err}
	}
	return nil
}
