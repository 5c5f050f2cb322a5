//go:build unix

package datatest

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"
)

// Ended wants the processes to end within 10 seconds whose numbers a file has. There is no such file if the one that writes it was killed before.
func Ended(t testing.TB, file string) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
	for field := range strings.FieldsSeq(string(text)) {
		var pid int
		if _, err := fmt.Sscan(field, &pid); err != nil {
			t.Errorf("%s: %q is no number of a process: %v", file, field, err)
			continue
		}
		for begun := time.Now(); syscall.Kill(pid, 0) == nil && !zombie(pid); time.Sleep(time.Millisecond) {
			if time.Since(begun) > 10*time.Second {
				t.Errorf("process %d is left", pid)
				break
			}
		}
	}
}

// zombie reports whether a process has ended, but its parent, which is not this one, has not asked for its status.
func zombie(pid int) bool {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return err == nil && strings.Contains(string(text), ") Z ")
}

// Goroutines wants no more goroutines than before, within 10 seconds.
func Goroutines(t testing.TB, before int) {
	t.Helper()
	for begun := time.Now(); runtime.NumGoroutine() > before; time.Sleep(time.Millisecond) {
		if time.Since(begun) > 10*time.Second {
			t.Fatalf("%d goroutines, before %d", runtime.NumGoroutine(), before)
		}
	}
}
