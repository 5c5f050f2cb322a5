package main

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"github.com/penstock-go/penstock/loader"
)

// asProgram makes a copy of the test program the program itself.
const asProgram = "IMAGES_TEST_PROGRAM"

func TestMain(m *testing.M) {
	if os.Getenv(asProgram) != "" {
		main()
		return
	}
	os.Exit(m.Run())
}

// program is the program with flags, in a folder of its own.
func program(t *testing.T, flags ...string) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	c := exec.Command(self, flags...)
	c.Env = append(os.Environ(), asProgram+"=1")
	c.Dir = t.TempDir()
	return c
}

func TestInterruptedProgramPrintsItsStatistics(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("Windows has no signal for this")
	}
	cmd := program(t, "-epochs", "100000")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewReader(stdout)
	if line, err := lines.ReadString('\n'); err != nil || !strings.HasPrefix(line, "30 images") {
		t.Errorf("%q, %v, want the number of images", line, err)
	}
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	rest, err := io.ReadAll(lines)
	if err != nil || !bytes.Contains(rest, []byte("\ndelivered ")) {
		t.Errorf("stdout is %s, %v; want the statistics", rest, err)
	}
	if err := cmd.Wait(); err == nil || !strings.Contains(stderr.String(), "interrupted after ") {
		t.Errorf("%v: stderr is %s, want it to say so", err, stderr.String())
	}
}

func TestWrongFlagsFailBeforeTheWork(t *testing.T) {
	for _, c := range []struct {
		flag, value, want string
	}{
		{"-sheet", filepath.Join("missing", "x.png"), "want a file to write: "},
		{"-sheet", "x.jpg", "want a name that ends in .png"},
		{"-trace", filepath.Join("missing", "x.json"), "want a file to write: "},
		{"-workers", "many", "want a number from 0 on, or auto"},
		{"-batch", "0", "want a number from 1 on"},
		{"-dir", "missing", "want a folder: "},
		{"-folder", "photos", "not defined"},
	} {
		cmd := program(t, c.flag, c.value)
		var stdout, stderr bytes.Buffer
		cmd.Stdout, cmd.Stderr = &stdout, &stderr
		err := cmd.Run()
		line := stderr.String()
		if !strings.Contains(line, c.want) || !strings.Contains(line, c.flag) || strings.Count(line, "\n") != 1 || stdout.Len() > 0 {
			t.Errorf("%s %s: %v, stderr %q, stdout %q; want only one line with %s and %q", c.flag, c.value, err, line, stdout.String(), c.flag, c.want)
		}
		if got := cmd.ProcessState.ExitCode(); got != 2 {
			t.Errorf("%s %s: exit status %d, want 2", c.flag, c.value, got)
		}
		if left, err := os.ReadDir(cmd.Dir); err != nil || len(left) > 0 {
			t.Errorf("%s %s: left %v, %v; want no files", c.flag, c.value, left, err)
		}
	}
}

func TestAutoSaysWhatItHasChosen(t *testing.T) {
	text, err := program(t, "-workers", "auto", "-epochs", "2").Output()
	if err != nil || !regexp.MustCompile(`with \d+ workers`).Match(text) || !bytes.Contains(text, []byte("\ntuning ")) {
		t.Errorf("%v: %s\nwant the number of workers, and why", err, text)
	}
}

func TestFailuresThatAreNotListedAreNotDenied(t *testing.T) {
	failed := &loader.SampleError{Index: 29, Err: errors.New("damaged")}
	s := loader.Stats{Dropped: 2, Failures: []*loader.SampleError{failed, failed}}
	for dropped, want := range map[int64]string{2: "left out 2×: ", 3: "left out at least 2×: "} {
		s.Dropped = dropped
		var text strings.Builder
		leftOut(&text, s, false)
		if !strings.HasPrefix(text.String(), want) || strings.Count(text.String(), "left out") != 1 {
			t.Errorf("%d dropped: %swant it to begin with %q, once", dropped, &text, want)
		}
	}
}

func TestCountOfWorkersIsPrintedAsItIsGiven(t *testing.T) {
	for text, want := range map[string]count{"auto": loader.Auto, "0": 0, "7": 7} {
		var c count
		if err := c.Set(text); err != nil || c != want || c.String() != text {
			t.Errorf("%s: %d, %v, printed as %s", text, c, err, &c)
		}
	}
}
