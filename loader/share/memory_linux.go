package share

import (
	"fmt"
	"os"
	"unsafe"

	"golang.org/x/sys/unix"
)

// newFile makes a file in memory of n bytes, rounded up to whole pages, and maps it.
func newFile(n int) (*os.File, []byte, error) {
	page := os.Getpagesize()
	size := max(1, (n+page-1)/page) * page
	file, err := emptyFile(size)
	if err != nil {
		return nil, nil, err
	}
	bytes, err := unix.Mmap(int(file.Fd()), 0, size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		file.Close()
		return nil, nil, fmt.Errorf("mmap: %w", err)
	}
	return file, bytes, nil
}

// emptyFile makes a file whose size nobody can change, so that no access to its mapped memory is one
// past its end.
func emptyFile(size int) (*os.File, error) {
	const flags = unix.MFD_CLOEXEC | unix.MFD_ALLOW_SEALING
	fd, err := unix.MemfdCreate("penstock", flags|unix.MFD_NOEXEC_SEAL)
	if err == unix.EINVAL { // before Linux 6.3
		fd, err = unix.MemfdCreate("penstock", flags)
	}
	if err != nil {
		return nil, fmt.Errorf("memfd_create: %w", err)
	}
	file := os.NewFile(uintptr(fd), "penstock")
	err = file.Truncate(int64(size))
	if err == nil {
		_, err = unix.FcntlInt(file.Fd(), unix.F_ADD_SEALS, unix.F_SEAL_SHRINK|unix.F_SEAL_GROW|unix.F_SEAL_SEAL)
	}
	if err != nil {
		file.Close()
		return nil, err
	}
	return file, nil
}

// exchange maps an empty file in the place of another one.
func exchange(bytes []byte) (*os.File, error) {
	file, err := emptyFile(len(bytes))
	if err != nil {
		return nil, err
	}
	_, err = unix.MmapPtr(int(file.Fd()), 0, unsafe.Pointer(unsafe.SliceData(bytes)), uintptr(len(bytes)),
		unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED|unix.MAP_FIXED)
	if err != nil {
		file.Close()
		return nil, fmt.Errorf("mmap: %w", err)
	}
	return file, nil
}

func unmap(bytes []byte) error { return unix.Munmap(bytes) }
