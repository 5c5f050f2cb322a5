package loader

import (
	"math"

	"golang.org/x/sys/unix"
)

// machineMemory is how many bytes of memory the machine has.
func machineMemory() int {
	has, err := unix.SysctlUint64("hw.memsize")
	if err != nil {
		return math.MaxInt
	}
	return int(min(has, math.MaxInt))
}
