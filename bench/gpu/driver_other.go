//go:build !(linux && (amd64 || arm64))

package main

import (
	"time"
	"unsafe"

	"github.com/penstock-go/penstock/gpu"
)

// A driver is never opened on this system.
type driver struct{}

func openDriver(string) (*driver, error) { return nil, gpu.ErrNoDevice }

func (*driver) spin(time.Duration) (float64, error)                  { return 0, gpu.ErrNoDevice }
func (*driver) alloc(int) (uintptr, error)                           { return 0, gpu.ErrNoDevice }
func (*driver) free(uintptr) error                                   { return nil }
func (*driver) upload(uintptr, unsafe.Pointer, int) (float64, error) { return 0, gpu.ErrNoDevice }
func (*driver) close() error                                         { return nil }
