//go:build unix

package bench

import "syscall"

// childrenTime is the CPU time of the programs that the process has run to their end, in seconds.
func childrenTime() float64 {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_CHILDREN, &u) != nil {
		return 0
	}
	return float64(u.Utime.Nano()+u.Stime.Nano()) / 1e9
}
