package main

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
)

// memoryMB is the process's proportional set size in megabytes.
func memoryMB() (float64, error) {
	text, err := os.ReadFile("/proc/self/smaps_rollup")
	if err != nil {
		return 0, fmt.Errorf("penstock: %w", err)
	}
	for line := range strings.Lines(string(text)) {
		if rest, ok := strings.CutPrefix(line, "Pss:"); ok {
			kB, err := strconv.ParseFloat(strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(rest), "kB")), 64)
			if err != nil {
				return 0, fmt.Errorf("penstock: /proc/self/smaps_rollup: %w", err)
			}
			return kB * 1024 / 1e6, nil
		}
	}
	return 0, errors.New("penstock: /proc/self/smaps_rollup: no Pss")
}
