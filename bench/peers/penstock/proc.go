package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"
)

// tick is the unit of Linux's processor times: USER_HZ is 100 on all its platforms
// that Go has.
const tick = 10 * time.Millisecond

// processorTime is what this process has used, in the kernel and outside, as
// /proc counts it for the peers too.
func processorTime() (time.Duration, error) {
	text, err := os.ReadFile("/proc/self/stat")
	if err != nil {
		return 0, fmt.Errorf("penstock: %w", err)
	}
	fields := bytes.Fields(text[bytes.LastIndexByte(text, ')')+1:])
	if len(fields) < 13 {
		return 0, fmt.Errorf("penstock: /proc/self/stat: %d fields", len(fields))
	}
	user, err := strconv.ParseInt(string(fields[11]), 10, 64)
	system, err2 := strconv.ParseInt(string(fields[12]), 10, 64)
	if err := errors.Join(err, err2); err != nil {
		return 0, fmt.Errorf("penstock: /proc/self/stat: %w", err)
	}
	return time.Duration(user+system) * tick, nil
}

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
