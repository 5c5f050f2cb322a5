package main

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"unsafe"
)

// checkCopies copies random bytes to the device, where a kernel sums them up and changes them, and back.
func checkCopies(s *subject) error {
	if err := s.open(); err != nil {
		return err
	}
	const offset = 1 // an address that is aligned to nothing
	slab, err := s.pinned(s.largest + offset)
	if err != nil {
		return err
	}
	back, err := s.pinned(s.largest + offset)
	if err != nil {
		return err
	}
	target, err := s.take(s.largest)
	if err != nil {
		return err
	}
	sums, err := s.take(8 * blocks * threads)
	if err != nil {
		return err
	}
	sizes := []int{1, 2, 3, 255, 256, 4095, 4096, 4097, 64<<10 - 1, 64 << 10, 64<<10 + 1, 1 << 20, s.largest}
	sizes = slices.Compact(slices.Sorted(slices.Values(sizes)))
	copied := 0
	random := rand.NewChaCha8([32]byte{1})
	for _, n := range sizes {
		if n > s.largest {
			continue
		}
		for _, way := range []struct {
			name     string
			from, to []byte
		}{
			{"page-locked", slab[:n], back[:n]},
			{"page-locked, unaligned", slab[offset : n+offset], back[offset : n+offset]},
			{"Go's memory", make([]byte, n), make([]byte, n)},
		} {
			s.step("a copy of %d bytes, %s", n, way.name)
			random.Read(way.from)
			clear(way.to)
			if err := s.exact(way.from, way.to, target, sums); err != nil {
				return fmt.Errorf("copies of %d bytes, %s: %w", n, way.name, err)
			}
			copied += n
		}
	}
	s.note("%d MiB each way, in copies of 1 to %d bytes", copied>>20, s.largest)
	return nil
}

// exact copies from to the device and what the kernel makes of it back to to.
func (s *subject) exact(from, to []byte, target, sums uintptr) error {
	want := weighted(from)
	if err := errors.Join(s.up(target, from, s.stream), s.launch("sums", s.stream, uint64(target), uint64(len(from)), uint64(sums))); err != nil {
		return err
	}
	got, err := s.total(sums)
	if err != nil {
		return err
	}
	if got != want {
		return fmt.Errorf("the sum on the device is %d, want %d", got, want)
	}
	err = errors.Join(s.launch("change", s.stream, uint64(target), uint64(len(from))), s.down(to, target, s.stream), s.wait(s.stream))
	if err != nil {
		return err
	}
	changed := make([]byte, len(from))
	for i, b := range from {
		changed[i] = b*5 + byte(i)
	}
	if !bytes.Equal(to, changed) {
		i := 0
		for to[i] == changed[i] {
			i++
		}
		return fmt.Errorf("byte %d came back as %d, want %d", i, to[i], changed[i])
	}
	return nil
}

// weighted is the sum that the kernel sums makes.
func weighted(p []byte) (sum uint64) {
	for i, b := range p {
		sum += uint64(b) * uint64(i%65521+1)
	}
	return sum
}

// total adds what the threads of the kernel sums have written, on the subject's stream.
func (s *subject) total(sums uintptr) (total uint64, err error) {
	parts := make([]uint64, blocks*threads)
	p := unsafe.Slice((*byte)(unsafe.Pointer(&parts[0])), 8*len(parts))
	if err := errors.Join(s.down(p, sums, s.stream), s.wait(s.stream)); err != nil {
		return 0, err
	}
	for _, part := range parts {
		total += part
	}
	return total, nil
}
