package loader

import (
	"math"

	"golang.org/x/sys/unix"
)

// machineMemory is the number of bytes of memory that the machine has.
func machineMemory() int {
	has, err := unix.SysctlUint64("hw.memsize")
	if err != nil {
		return math.MaxInt
	}
	return int(min(has, math.MaxInt))
}
