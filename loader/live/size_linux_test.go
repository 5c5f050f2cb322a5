package live

import (
	"os"
	"testing"

	"golang.org/x/sys/unix"
)

func TestTheSizeIsThatOfTheTerminal(t *testing.T) {
	t.Setenv("LINES", "50")
	f, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Skip(err)
	}
	defer f.Close()
	if rows, columns := terminalSize(f); rows != 50 || columns < 1 {
		t.Errorf("of an unknown size: got %d rows of %d, want the 50 of $LINES", rows, columns)
	}
	if err := unix.IoctlSetWinsize(int(f.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: 8, Col: 33}); err != nil {
		t.Fatal(err)
	}
	if rows, columns := terminalSize(f); rows != 8 || columns != 33 {
		t.Errorf("got %d rows of %d, want 8 of 33", rows, columns)
	}
}
