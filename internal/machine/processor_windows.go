package machine

import (
	"syscall"
	"time"
)

// ProcessTime is the processor time that this program has used, on all processors together,
// in steps of about 16 ms.
func ProcessTime() (used time.Duration, known bool) {
	self, err := syscall.GetCurrentProcess()
	if err != nil {
		return 0, false
	}
	var created, ended, kernel, user syscall.Filetime
	if err := syscall.GetProcessTimes(self, &created, &ended, &kernel, &user); err != nil {
		return 0, false
	}
	return hundreds(kernel) + hundreds(user), true
}

// hundreds is a time that is counted in steps of 100 ns.
func hundreds(t syscall.Filetime) time.Duration {
	return time.Duration(int64(t.HighDateTime)<<32|int64(t.LowDateTime)) * 100
}
