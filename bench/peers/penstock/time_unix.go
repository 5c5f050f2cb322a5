//go:build unix

package main

import (
	"syscall"
	"time"
)

// processorTime is the user and system time of this process.
func processorTime() (time.Duration, error) {
	var r syscall.Rusage
	err := syscall.Getrusage(syscall.RUSAGE_SELF, &r)
	return time.Duration(r.Utime.Nano() + r.Stime.Nano()), err
}
