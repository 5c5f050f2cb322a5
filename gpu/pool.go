package gpu

import (
	"errors"
	"unsafe"
)

// properties is CUmemPoolProps.
type properties struct {
	allocation, handles int32
	location, device    int32
	security            uintptr
	most                uintptr
	usage               uint16
	reserved            [54]byte
}

const (
	allocationPinned = 1 // CU_MEM_ALLOCATION_TYPE_PINNED: it stays where it is
	locationDevice   = 1 // CU_MEM_LOCATION_TYPE_DEVICE
	releaseThreshold = 4 // CU_MEMPOOL_ATTR_RELEASE_THRESHOLD

	notPermitted = 800 // CUDA_ERROR_NOT_PERMITTED
	notSupported = 801 // CUDA_ERROR_NOT_SUPPORTED
)

// openPool makes a pool of stream-ordered memory if the device supports it:
// allocating and freeing such memory never waits for other streams. The pool keeps
// freed memory until it is destroyed.
func (s *Stage) openPool() error {
	if !s.device.pooled {
		return nil
	}
	props := properties{allocation: allocationPinned, location: locationDevice, device: s.device.handle}
	err := s.device.lib.call(cuMemPoolCreate, uintptr(unsafe.Pointer(&s.pool)), uintptr(unsafe.Pointer(&props)))
	var failed *DriverError
	if errors.As(err, &failed) && (failed.Code == notPermitted || failed.Code == notSupported) {
		s.pool = 0
		return nil // take then uses cuMemAlloc
	}
	if err != nil {
		return err
	}
	keep := ^uint64(0)
	return s.device.lib.call(cuMemPoolSetAttribute, s.pool, releaseThreshold, uintptr(unsafe.Pointer(&keep)))
}

// take allocates n bytes of device memory, in the order of the stage's stream.
// Without a pool it may wait for all streams of the context.
func (s *Stage) take(n int) (base uintptr, err error) {
	if s.pool != 0 {
		err = s.device.lib.call(cuMemAllocFromPoolAsync, uintptr(unsafe.Pointer(&base)), uintptr(n), s.pool, s.stream)
	} else {
		err = s.device.lib.call(cuMemAlloc, uintptr(unsafe.Pointer(&base)), uintptr(n))
	}
	return base, err
}

// give frees device memory after all work that the stage's stream has so far. Without
// a pool it may wait for all streams of the context.
func (s *Stage) give(m *memory) error {
	if m.size == 0 {
		return nil
	}
	var err error
	if s.pool != 0 {
		err = s.device.lib.call(cuMemFreeAsync, m.base, s.stream)
	} else {
		err = s.device.lib.call(cuMemFree, m.base)
	}
	if gone(err) {
		*m = memory{}
	}
	return err
}
