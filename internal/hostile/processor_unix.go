//go:build unix

package hostile

import (
	"syscall"
	"time"
)

// processor is the processor time of the process.
func processor() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(err) // it has no reason
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
