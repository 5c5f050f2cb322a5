package gpu

import (
	"bytes"
	"os"
	"strconv"
)

// available is the memory that can be taken without swapping, as the kernel
// estimates it (MemAvailable of proc(5)).
func available() (n int64, known bool) {
	text, err := os.ReadFile("/proc/meminfo")
	if err != nil {
		return 0, false
	}
	return parseAvailable(text)
}

func parseAvailable(meminfo []byte) (n int64, known bool) {
	for line := range bytes.Lines(meminfo) {
		f := bytes.Fields(line)
		if len(f) == 3 && string(f[0]) == "MemAvailable:" && string(f[2]) == "kB" {
			kib, err := strconv.ParseInt(string(f[1]), 10, 53)
			return kib << 10, err == nil
		}
	}
	return 0, false
}
