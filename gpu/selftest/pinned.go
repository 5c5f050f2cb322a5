package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"strconv"
	"strings"
	"time"
	"unsafe"

	"github.com/penstock-go/penstock/gpu"
)

const (
	memoryType   = 2 // CU_POINTER_ATTRIBUTE_MEMORY_TYPE
	typeHost     = 1 // CU_MEMORYTYPE_HOST
	lockedBytes  = 16 << 20
	busy         = 200 * time.Millisecond // of the stream while an asynchronous copy is enqueued
	tries        = 5                      // of such a copy: other programs may delay any single call
	notSupported = 801                    // CUDA_ERROR_NOT_SUPPORTED
)

// checkPinned asks the driver what memory of gpu.Pinned is, and whether copies from it are asynchronous.
func checkPinned(s *subject) error {
	if err := s.open(); err != nil {
		return err
	}
	before := accounts(os.DirFS("/"))
	slab, err := s.pinned(lockedBytes)
	if err != nil {
		return err
	}
	for i := range slab {
		slab[i] = byte(i)
	}
	for i, a := range accounts(os.DirFS("/")) {
		s.note("%s: %+d KiB with %d KiB of page-locked memory", a.name, (a.bytes-before[i].bytes)>>10, len(slab)>>10)
	}
	s.note("the memory is on NUMA node %s", node(os.DirFS("/"), uintptr(unsafe.Pointer(unsafe.SliceData(slab)))))
	var flags uint32
	if err := s.call("cuMemHostGetFlags", uintptr(unsafe.Pointer(&flags)), uintptr(unsafe.Pointer(unsafe.SliceData(slab)))); err != nil {
		return err
	}
	if flags&hostAllocPortable == 0 {
		return fmt.Errorf("cuMemHostGetFlags: %#x, want the bit of CU_MEMHOSTALLOC_PORTABLE", flags)
	}
	if err := s.locked(slab); err != nil {
		return err
	}
	heap := make([]byte, lockedBytes)
	target, err := s.take(lockedBytes)
	if err != nil {
		return err
	}
	took, _, err := s.enqueued(heap, target)
	if err != nil {
		return err
	}
	s.note("Go's memory: the call took %v while the stream was busy for %v", took.Round(time.Microsecond), busy)
	return s.rates(slab, heap)
}

// checkRegistered page-locks memory of the program, copies from it, and gives it back.
func checkRegistered(s *subject) error {
	if err := s.open(); err != nil {
		return err
	}
	if v, known := s.attribute(registersMemory, s.handle); known && v == 0 {
		return fmt.Errorf("%w: the device does not register memory", errImpossible)
	}
	p, unmap, err := pages(lockedBytes)
	if err != nil {
		return err
	}
	s.later(unmap)
	for i := range p {
		p[i] = byte(i)
	}
	err = s.call("cuMemHostRegister_v2", uintptr(unsafe.Pointer(unsafe.SliceData(p))), uintptr(len(p)), hostAllocPortable)
	if failed := (*gpu.DriverError)(nil); errors.As(err, &failed) && failed.Code == notSupported {
		return fmt.Errorf("%w: %w", errImpossible, err)
	}
	if err != nil {
		return err
	}
	err = s.locked(p)
	if err = errors.Join(err, s.call("cuMemHostUnregister", uintptr(unsafe.Pointer(unsafe.SliceData(p))))); err != nil {
		return err
	}
	if err := s.call("cuMemHostUnregister", uintptr(unsafe.Pointer(unsafe.SliceData(p)))); err == nil {
		return errors.New("cuMemHostUnregister, called again: no error")
	}
	return nil
}

// locked returns an error if memory is not page-locked.
func (s *subject) locked(p []byte) error {
	for _, i := range []int{0, len(p) / 2, len(p) - 1} {
		var kind uint32
		if err := s.call("cuPointerGetAttribute", uintptr(unsafe.Pointer(&kind)), memoryType, uintptr(unsafe.Pointer(&p[i]))); err != nil {
			return fmt.Errorf("byte %d: %w", i, err)
		}
		if kind != typeHost {
			return fmt.Errorf("byte %d: cuPointerGetAttribute: memory type %d, want %d, the host's", i, kind, typeHost)
		}
	}
	target, err := s.take(len(p))
	if err != nil {
		return err
	}
	var took time.Duration
	for range tries {
		var pending bool
		if took, pending, err = s.enqueued(p, target); err != nil {
			return err
		}
		if pending && took <= busy/2 {
			s.note("page-locked: the call took %v while the stream was busy for %v", took.Round(time.Microsecond), busy)
			return nil
		}
	}
	return fmt.Errorf("%d asynchronous copies waited for their stream, the last one %v while the stream was busy for %v: the memory is not read directly", tries, took, busy)
}

// enqueued enqueues a copy after a kernel, and returns how long the call took and whether the
// stream still had work after it.
func (s *subject) enqueued(p []byte, target uintptr) (took time.Duration, pending bool, err error) {
	s.step("an asynchronous copy of %d bytes", len(p))
	if err := errors.Join(s.spin(s.stream, time.Millisecond), s.wait(s.stream)); err != nil { // the first launch may be slow
		return 0, false, err
	}
	if err := s.spin(s.stream, busy); err != nil {
		return 0, false, err
	}
	begun := time.Now()
	if err := s.up(target, p, s.stream); err != nil {
		return 0, false, err
	}
	took = time.Since(begun)
	pending = s.code("cuStreamQuery", s.stream) == notReady
	return took, pending, s.wait(s.stream)
}

// rates notes how fast copies are.
func (s *subject) rates(slab, heap []byte) error {
	target, err := s.take(len(slab))
	if err != nil {
		return err
	}
	for _, m := range []struct {
		name string
		p    []byte
	}{{"page-locked", slab}, {"Go's", heap}} {
		var best [2]time.Duration
		for range 5 {
			for i, work := range []func() error{func() error { return s.up(target, m.p, s.stream) }, func() error { return s.down(m.p, target, s.stream) }} {
				took, err := s.timed(work)
				if err != nil {
					return err
				}
				if best[i] == 0 || took < best[i] {
					best[i] = took
				}
			}
		}
		gb := float64(len(m.p)) / 1e9
		s.note("%s memory: %.2f GB/s to the device, %.2f GB/s back", m.name, gb/best[0].Seconds(), gb/best[1].Seconds())
	}
	return nil
}

// An amount is one of the system's accounts of memory.
type amount struct {
	name  string
	bytes int64
}

// accounts are those in which page-locked memory may appear.
func accounts(root fs.FS) []amount {
	field := func(file, key string) int64 {
		text, _ := fs.ReadFile(root, file)
		for line := range strings.Lines(string(text)) {
			f := strings.Fields(line)
			if len(f) >= 2 && f[0] == key {
				n, _ := strconv.ParseInt(f[1], 10, 64)
				return n << 10
			}
		}
		return 0
	}
	return []amount{
		{"VmLck", field("proc/self/status", "VmLck:")}, {"VmPin", field("proc/self/status", "VmPin:")},
		{"RssAnon", field("proc/self/status", "RssAnon:")}, {"RssShmem", field("proc/self/status", "RssShmem:")},
		{"MemAvailable", field("proc/meminfo", "MemAvailable:")}, {"Unevictable", field("proc/meminfo", "Unevictable:")},
		{"control group", group(root)},
	}
}

// group is the memory that the process's control group uses, of version 2 or 1.
func group(root fs.FS) int64 {
	text, _ := fs.ReadFile(root, "proc/self/cgroup")
	for line := range strings.Lines(string(text)) {
		f := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(f) != 3 || f[1] != "" && f[1] != "memory" {
			continue
		}
		mount, file := "sys/fs/cgroup", "memory.current"
		if f[1] == "memory" {
			mount, file = "sys/fs/cgroup/memory", "memory.usage_in_bytes"
		}
		for _, below := range []string{f[2], ""} { // in a container the own group is the mount
			if text, err := fs.ReadFile(root, path.Join(mount, below, file)); err == nil {
				n, _ := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64)
				return n
			}
		}
	}
	return 0
}

// node is where the pages of a mapping are, as numa_maps says it.
func node(root fs.FS, at uintptr) string {
	text, _ := fs.ReadFile(root, "proc/self/numa_maps")
	found := "not known"
	for line := range strings.Lines(string(text)) {
		f := strings.Fields(line)
		if len(f) == 0 {
			continue
		}
		if begin, err := strconv.ParseUint(f[0], 16, 64); err != nil || uintptr(begin) > at {
			continue
		}
		found = "not known"
		for _, word := range f {
			if len(word) > 1 && word[0] == 'N' && strings.Contains(word, "=") {
				found = word + " (node=pages)"
			}
		}
	}
	return found
}
