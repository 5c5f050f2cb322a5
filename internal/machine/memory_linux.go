// Package machine finds out how much memory this program may use, and how much processor time
// it has used, for loader and gpu.
package machine

import (
	"bytes"
	"math"
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// Memory is the greatest number of bytes of memory that this program may have,
// including swap.
func Memory() int {
	has := uint64(math.MaxInt)
	var info unix.Sysinfo_t
	if unix.Sysinfo(&info) == nil {
		has = min(has, (uint64(info.Totalram)+uint64(info.Totalswap))*uint64(max(info.Unit, 1)))
	}
	for _, path := range []string{"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"} {
		text, err := os.ReadFile(path)
		if err != nil {
			continue
		}
		if limit, err := strconv.ParseUint(string(bytes.TrimSpace(text)), 10, 64); err == nil {
			has = min(has, limit)
		}
	}
	return int(has)
}
