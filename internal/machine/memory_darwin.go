// Package machine finds out how much memory this program may use, and how much processor time
// it has used, for loader and gpu.
package machine

import (
	"math"

	"golang.org/x/sys/unix"
)

// Memory is the number of bytes of memory that the machine has.
func Memory() int {
	has, err := unix.SysctlUint64("hw.memsize")
	if err != nil {
		return math.MaxInt
	}
	return int(min(has, math.MaxInt))
}
