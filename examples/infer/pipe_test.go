//go:build unix

package main

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// Opening a pipe that nobody writes to would never return, even after an interrupt.
func TestPipesAreNotOpened(t *testing.T) {
	dir, away := t.TempDir(), t.TempDir()
	pipe := filepath.Join(away, "pipe.jpg")
	if err := syscall.Mkfifo(pipe, 0o666); err != nil {
		t.Skip("needs named pipes: ", err)
	}
	for name, to := range map[string]string{"folder.jpg": away, "pipe.jpg": pipe} {
		if err := os.Symlink(to, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	_, table := tabulate(t, dir, options{workers: 1, batch: 1})
	all := rows(t, table)
	for _, row := range all {
		if !strings.HasSuffix(row[3], "not a file") {
			t.Errorf("got %q", row)
		}
	}
	if len(all) != 2 {
		t.Errorf("%d rows, want 2", len(all))
	}
}
