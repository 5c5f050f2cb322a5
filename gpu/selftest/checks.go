package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"time"
	"unsafe"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/gpu"
	"github.com/penstock-go/penstock/loader"
)

// checkMachine names what the other checks ran on.
func checkMachine(s *subject) error {
	s.note("%v", s.device)
	var free, total uintptr
	if err := s.call("cuMemGetInfo_v2", uintptr(unsafe.Pointer(&free)), uintptr(unsafe.Pointer(&total))); err != nil {
		return err
	}
	const multiprocessors, integrated, asyncEngines, major, minor = 16, 18, 40, 75, 76 // CUdevice_attribute
	s.note("compute capability %d.%d, %d multiprocessors, %d engines for copies, integrated: %t, %d MiB of memory, %d free", s.attribute(major), s.attribute(minor),
		s.attribute(multiprocessors), s.attribute(asyncEngines), s.attribute(integrated) != 0, total>>20, free>>20)
	for _, file := range []string{"/proc/sys/kernel/osrelease", "/proc/driver/nvidia/version"} {
		text, _ := os.ReadFile(file) // not every system has it
		s.note("%s", bytes.TrimSpace(text))
	}
	return nil
}

// checkPinned asks the driver what memory of gpu.Pinned is, and whether copies from it are asynchronous.
func checkPinned(s *subject) error {
	const size, busy = 16 << 20, 200 * time.Millisecond
	const memoryType, typeHost = 2, 1 // CU_POINTER_ATTRIBUTE_MEMORY_TYPE, CU_MEMORYTYPE_HOST
	slab, err := s.pinned(size)
	if err != nil {
		return err
	}
	var flags uint32
	if err := s.call("cuMemHostGetFlags", uintptr(unsafe.Pointer(&flags)), uintptr(unsafe.Pointer(unsafe.SliceData(slab)))); err != nil {
		return err
	}
	if flags&hostAllocPortable == 0 {
		return fmt.Errorf("cuMemHostGetFlags: %#x, want the bit of CU_MEMHOSTALLOC_PORTABLE", flags)
	}
	for _, i := range []int{0, size / 2, size - 1} {
		var kind uint32
		if err := s.call("cuPointerGetAttribute", uintptr(unsafe.Pointer(&kind)), memoryType, uintptr(unsafe.Pointer(&slab[i]))); err != nil {
			return fmt.Errorf("byte %d: %w", i, err)
		}
		if kind != typeHost {
			return fmt.Errorf("byte %d: cuPointerGetAttribute: memory type %d, want %d, the host's", i, kind, typeHost)
		}
	}
	target, err := s.take(size)
	if err != nil {
		return err
	}
	if err := errors.Join(s.spin(s.stream, time.Millisecond), s.wait(s.stream)); err != nil { // the first launch may be slow
		return err
	}
	var took time.Duration
	for range 5 { // other programs may delay any single call
		if err := s.spin(s.stream, busy); err != nil {
			return err
		}
		begun := time.Now()
		if err := s.up(target, slab, s.stream); err != nil {
			return err
		}
		took = time.Since(begun)
		pending := s.code("cuStreamQuery", s.stream) == notReady
		if err := s.wait(s.stream); err != nil {
			return err
		}
		if pending && took <= busy/2 {
			s.note("a copy was enqueued in %v while the stream was busy for %v", took.Round(time.Microsecond), busy)
			return nil
		}
	}
	return fmt.Errorf("asynchronous copies waited for their stream, the last one %v while the stream was busy for %v: the memory is not read directly", took, busy)
}

// checkCopies copies random bytes to the device, where a kernel sums them up and changes them, and back.
func checkCopies(s *subject) error {
	const offset = 1 // an address that is aligned to nothing
	slab, err := s.pinned(2 * (s.largest + offset))
	if err != nil {
		return err
	}
	slab, back := slab[:s.largest+offset], slab[s.largest+offset:]
	sizes := []int{1, 2, 3, 255, 256, 4095, 4096, 4097, 64<<10 - 1, 64 << 10, s.largest}
	random := rand.NewChaCha8([32]byte{1})
	for _, n := range sizes {
		for _, way := range []struct {
			name     string
			from, to []byte
		}{
			{"page-locked", slab[:n], back[:n]},
			{"page-locked, unaligned", slab[offset : n+offset], back[offset : n+offset]},
			{"Go's memory", make([]byte, n), make([]byte, n)},
		} {
			random.Read(way.from)
			clear(way.to)
			if err := s.exact(way.from, way.to); err != nil {
				return fmt.Errorf("copies of %d bytes, %s: %w", n, way.name, err)
			}
		}
	}
	s.note("%d sizes of 1 to %d bytes", len(sizes), s.largest)
	return nil
}

// exact copies from to the device and what the kernel makes of it back to to.
func (s *subject) exact(from, to []byte) error {
	target, err := s.take(len(from))
	if err != nil {
		return err
	}
	sums, err := s.take(8 * blocks * threads)
	if err != nil {
		return err
	}
	if err := s.up(target, from, s.stream); err != nil {
		return err
	}
	if got, err := s.sum(target, len(from), sums); err != nil || got != weighted(from) {
		return fmt.Errorf("the sum on the device is %d, want %d: %v", got, weighted(from), err)
	}
	if err := errors.Join(s.launch("change", s.stream, uint64(target), uint64(len(from))), s.down(to, target, s.stream), s.wait(s.stream)); err != nil {
		return err
	}
	for i, b := range from {
		if want := b*5 + byte(i); to[i] != want {
			return fmt.Errorf("byte %d came back as %d, want %d", i, to[i], want)
		}
	}
	return nil
}

// rowWidth of numbered's samples, each of 8 KiB.
const rowWidth = 1024

func value(i, k int) int64 { return int64(i)*1_000_003 + int64(k) }

// numbered is a dataset of which every sample differs.
func numbered(n int) dataset.Dataset {
	spec := dataset.Spec{{Name: "x", Dtype: dataset.Int64, Shape: dataset.Shape{rowWidth}}}
	return dataset.Func(n, spec, func(_ context.Context, i int, dst dataset.Slot) error {
		for k, row := 0, dataset.Row[int64](dst, 0); k < rowWidth; k++ {
			row[k] = value(i, k)
		}
		return nil
	})
}

// checkStage lets a kernel read every batch long after its loop body.
func checkStage(s *subject) error {
	const batches, size = 300, 8
	stage, err := s.staged(numbered(batches*size), size, 3)
	if err != nil {
		return err
	}
	const part = 8 * blocks * threads
	sums, err := s.take(batches * part)
	if err != nil {
		return err
	}
	for leave := range 10 {
		for b, err := range stage.Epoch(context.Background(), 0) {
			if err != nil {
				return err
			}
			if b.Number() == leave {
				break
			}
		}
	}
	var want []uint64
	for b, err := range stage.Epoch(context.Background(), 0) {
		if err != nil {
			return err
		}
		var expected []int64
		for row := range size {
			for k := range rowWidth {
				expected = append(expected, value(size*len(want)+row, k))
			}
		}
		content := unsafe.Slice((*byte)(unsafe.Pointer(&expected[0])), 8*len(expected))
		column := b.Column("x")
		if b.Number() != len(want) || column.Bytes != len(content) {
			return fmt.Errorf("batch %d of %d bytes, want batch %d of %d", b.Number(), column.Bytes, len(want), len(content))
		}
		if b.Number()%10 == 0 {
			got := make([]byte, len(content))
			if _, err := b.Download(got, "x"); err != nil {
				return err
			}
			if !slices.Equal(got, content) {
				return fmt.Errorf("batch %d: Download returns other data", b.Number())
			}
		}
		err := errors.Join(
			s.spin(s.other, 500*time.Microsecond),
			s.launch("sums", s.other, uint64(column.Pointer), uint64(column.Bytes), uint64(sums)+uint64(part*len(want))),
			b.UsedBy(s.other),
		)
		if err != nil {
			return err
		}
		want = append(want, weighted(content))
	}
	if err := s.wait(s.other); err != nil {
		return err
	}
	if len(want) != batches {
		return fmt.Errorf("%d batches came, want %d", len(want), batches)
	}
	for i := range want {
		if got, err := s.total(sums + uintptr(i*part)); err != nil || got != want[i] {
			return fmt.Errorf("batch %d: the sum on the device is %d, want %d: %v", i, got, want[i], err)
		}
	}
	return nil
}

// checkOverlap measures a copy, a kernel of the same length, and both on two streams.
func checkOverlap(s *subject) error {
	const least = 0.5 // of the shorter one that must run at the same time
	slab, err := s.pinned(s.largest)
	if err != nil {
		return err
	}
	target, err := s.take(s.largest)
	if err != nil {
		return err
	}
	for name, copy := range map[string]func() error{
		"to the device": func() error { return s.up(target, slab, s.stream) },
		"back":          func() error { return s.down(slab, target, s.stream) },
	} {
		alone, err := s.best(copy)
		if err != nil {
			return err
		}
		kernel := func() error { return s.spin(s.other, max(alone, time.Millisecond)) }
		spin, err := s.best(kernel)
		if err != nil {
			return err
		}
		both, err := s.best(kernel, copy)
		if err != nil {
			return err
		}
		share := float64(alone+spin-both) / float64(min(alone, spin))
		s.note("%d bytes %s in %v, a kernel in %v, both in %v: %.0f %% at the same time", s.largest, name, alone, spin, both, 100*share)
		if share < least {
			return fmt.Errorf("copies %s: %.0f %% of the shorter one ran at the same time as the other, want %.0f %% or more", name, 100*share, 100*least)
		}
	}
	return nil
}

// best is the shortest of some rounds of work: other programs make the others longer.
func (s *subject) best(work ...func() error) (least time.Duration, err error) {
	for range 7 {
		begun := time.Now()
		for _, f := range work {
			err = errors.Join(err, f())
		}
		if err = errors.Join(err, s.wait(s.stream), s.wait(s.other)); err != nil {
			return 0, err
		}
		if took := time.Since(begun); least == 0 || took < least {
			least = took
		}
	}
	return least, nil
}

// checkFailures makes calls that must fail, and copies afterwards.
func checkFailures(s *subject) error {
	out := make([]uint64, 64) // for results
	to := uintptr(unsafe.Pointer(&out[0]))
	const tooMuch = math.MaxInt/8 + 1 // bytes: 2⁶⁰ where an int has 64 bits, more than any address space has
	for _, p := range []struct {
		call, how string
		code      int // 0 for any
		args      []uintptr
	}{
		{"cuDeviceGet", "an ordinal beyond the devices", 0, []uintptr{to, 1 << 20}},
		{"cuMemAlloc_v2", "too many bytes", 2, []uintptr{to, tooMuch}},
		{"cuMemHostAlloc", "too many bytes", 0, []uintptr{to, tooMuch, hostAllocPortable}},
		{"cuMemFree_v2", "an address that nothing is at", 1, []uintptr{256}},
		{"cuMemFreeHost", "Go's memory", 1, []uintptr{to}},
		{"cuStreamCreate", "unknown flags", 1, []uintptr{to, 1 << 20}},
		{"cuEventRecord", "no event", 0, []uintptr{0, s.stream}},
		{"cuEventQuery", "no event", 0, []uintptr{0}},
		{"cuEventDestroy_v2", "no event", 0, []uintptr{0}},
	} {
		got := s.code(p.call, p.args...)
		if got == 0 {
			return fmt.Errorf("%s with %s: no error", p.call, p.how)
		}
		if p.code != 0 && int(got) != p.code {
			return fmt.Errorf("%s with %s: code %d, want %d", p.call, p.how, got, p.code)
		}
	}
	if _, err := gpu.Open(append(s.opening(), gpu.Ordinal(1<<20))...); err == nil || errors.Is(err, gpu.ErrNoDevice) {
		return fmt.Errorf("gpu.Open of a device beyond the last one: got %v, want an error other than ErrNoDevice", err)
	}
	return s.exact([]byte("a copy after the failures"), make([]byte, 25))
}

// checkLost lets a kernel write outside its memory while a Stage runs. That loses the context
// of the process: nothing of the subject can be closed by calls afterwards.
func checkLost(s *subject) error {
	p, err := s.device.Pinned()
	if err != nil {
		return err
	}
	l, err := loader.New(numbered(2400), loader.Memory(p), loader.BatchSize(8), loader.Workers(2))
	if err != nil {
		return err
	}
	stage, err := gpu.NewStage(s.device, l)
	if err != nil {
		return err
	}
	s.closing = nil
	var last error
	for b, err := range stage.Epoch(context.Background(), 0) {
		if last = err; err != nil {
			break
		}
		if b.Number() == 5 {
			if err := s.launch("poke", s.stream, 0); err != nil {
				return err
			}
			if err := s.wait(s.stream); !errors.Is(err, gpu.ErrLost) {
				return fmt.Errorf("cuStreamSynchronize after a kernel that writes to address 0: got %v, want an error that loses the context", err)
			}
		}
	}
	if !errors.Is(last, gpu.ErrLost) {
		return fmt.Errorf("the loop ended with %v, want gpu.ErrLost", last)
	}
	s.note("the loop said: %v", last)
	if err := s.call("cuCtxSynchronize"); !errors.Is(err, gpu.ErrLost) {
		return fmt.Errorf("cuCtxSynchronize later: got %v, want the error again", err)
	}
	for _, c := range []io.Closer{stage, l, p, s.device} {
		if err := c.Close(); err != nil && !errors.Is(err, gpu.ErrLost) {
			return fmt.Errorf("%T: Close: %w", c, err)
		}
	}
	return nil
}

// checkLeaks measures the device's memory before and after many calls.
func checkLeaks(s *subject) error {
	target, err := s.take(4096)
	if err != nil {
		return err
	}
	slab, err := s.pinned(4096)
	if err != nil {
		return err
	}
	for _, w := range []struct {
		name  string
		times int
		call  func() error
	}{
		{"launches", s.launches, func() error { return s.launch("poke", s.stream, uint64(target)) }},
		{"copies to the device", s.launches, func() error { return s.up(target, slab, s.stream) }},
		{"copies back", s.launches, func() error { return s.down(slab, target, s.stream) }},
		{"stages", max(10, s.launches/1000), s.openStage},
	} {
		if err := s.leak(w.name, w.times, w.call); err != nil {
			return err
		}
	}
	return nil
}

// leak makes calls and fails if memory of the device is gone after them, twice.
func (s *subject) leak(name string, times int, call func() error) error {
	const slack = 4 << 20
	var lost int64
	for range 3 { // the first calls fill caches
		var before, after, total int64
		err := s.call("cuMemGetInfo_v2", uintptr(unsafe.Pointer(&before)), uintptr(unsafe.Pointer(&total)))
		for i := 0; i < times && err == nil; i++ {
			if err = call(); i%128 == 127 || i == times-1 {
				err = errors.Join(err, s.wait(s.stream))
			}
		}
		if err = errors.Join(err, s.call("cuMemGetInfo_v2", uintptr(unsafe.Pointer(&after)), uintptr(unsafe.Pointer(&total)))); err != nil {
			return err
		}
		if lost = before - after; lost <= slack {
			s.note("%d %s: %+d KiB of the device's memory", times, name, lost>>10)
			return nil
		}
	}
	return fmt.Errorf("%d %s took %d KiB of the device's memory, again and again", times, name, lost>>10)
}

// openStage opens everything that package gpu has, runs a loop, and closes it.
func (s *subject) openStage() error {
	inner := &subject{options: s.options}
	var err error
	if inner.device, err = gpu.Open(s.opening()...); err != nil {
		return err
	}
	inner.later(inner.device.Close)
	stage, err := inner.staged(numbered(32), 4, 2)
	if err == nil {
		for _, failed := range stage.Epoch(context.Background(), 0) {
			err = errors.Join(err, failed)
		}
	}
	return errors.Join(err, inner.close())
}
