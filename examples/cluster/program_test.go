package main

import (
	"bufio"
	"bytes"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// asProgram makes a copy of the test program the program itself.
const asProgram = "CLUSTER_TEST_PROGRAM"

// program is the program with flags. Its temporary files are in the folder temp.
func program(temp string, flags ...string) *exec.Cmd {
	c := exec.Command(os.Args[0], flags...)
	c.Env = append(os.Environ(), asProgram+"=1", "TMPDIR="+temp, "TMP="+temp)
	return c
}

// wantError fails unless a program has failed with this exit status, and one line on stderr
// that has this text.
func wantError(t *testing.T, stderr, want string, err error, status int) {
	t.Helper()
	if failed, ok := errors.AsType[*exec.ExitError](err); !ok || failed.ExitCode() != status {
		t.Errorf("%v, want exit status %d", err, status)
	}
	if !strings.Contains(stderr, want) || strings.Count(stderr, "\n") != 1 {
		t.Errorf("stderr is\n%swant one line with %q", stderr, want)
	}
}

func TestErrorsAreOneLineThatSaysWhatToDo(t *testing.T) {
	for name, c := range map[string]struct {
		flags  []string
		want   string
		made   bool // whether there is a folder -out then
		status int
	}{
		"nothing given":   {nil, "-in and -out: want two folders", false, 2},
		"no folder":       {[]string{"-in", "nonexist", "-out", "OUT"}, `"nonexist" for flag -in: want a folder`, false, 2},
		"no such format":  {[]string{"-in", photos, "-out", "OUT", "-format", "zip"}, "-format: want packed or tar", false, 2},
		"no pixels":       {[]string{"-in", photos, "-out", "OUT", "-size", "0"}, "-size: want a number from 1", false, 2},
		"no such flag":    {[]string{"-in", photos, "-outs", "OUT"}, "not defined: -outs", false, 2},
		"no such part":    {[]string{"-in", photos, "-out", "OUT", "-shards", "3/3"}, "-shards 3/3: want i/n", false, 2},
		"missing shards":  {[]string{"-in", photos, "-out", "OUT", "-check"}, "1 of 1 shards are missing", false, 1},
		"a word too many": {[]string{"-in", photos, "-out", "OUT", "-skip", "true", "-size", "64"}, `"true" is not a flag`, false, 2},
		"damaged image":   {[]string{"-in", photos, "-out", "OUT", "-size", "28"}, damaged, true, 1},
		"what to do":      {[]string{"-in", photos, "-out", "OUT", "-size", "28"}, "unexpected EOF; -skip leaves out such images", true, 1},
		"without Beam":    {[]string{"-in", photos, "-out", "OUT", "-size", "28", "-shards", "0/1"}, "unexpected EOF; -skip leaves out such images", true, 1},
	} {
		t.Run(name, func(t *testing.T) {
			out, temp := filepath.Join(t.TempDir(), "out"), t.TempDir()
			for i, f := range c.flags {
				if f == "OUT" {
					c.flags[i] = out
				}
			}
			cmd := program(temp, c.flags...)
			var stderr bytes.Buffer
			cmd.Stderr = &stderr
			err := cmd.Run()
			wantError(t, stderr.String(), c.want, err, c.status)
			if _, err := os.Stat(out); errors.Is(err, fs.ErrNotExist) == c.made {
				t.Errorf("-out: %v, want it made: %t", err, c.made)
			}
			wantEmpty(t, temp)
		})
	}
}

// wantEmpty fails if there are files in a folder for temporary files.
func wantEmpty(t *testing.T, temp string) {
	t.Helper()
	left, err := os.ReadDir(temp)
	if err != nil || len(left) > 0 {
		t.Errorf("left %v, %v; want no files", left, err)
	}
}

func TestProgramLogsAndLeavesOnlyWhatIsAskedFor(t *testing.T) {
	for _, level := range []string{"none", "info"} {
		temp := t.TempDir()
		cmd := program(temp, "-in", photos, "-out", t.TempDir(), "-size", "28", "-skip", "-log", level)
		var stdout, stderr bytes.Buffer
		cmd.Stdout, cmd.Stderr = &stdout, &stderr
		if err := cmd.Run(); err != nil {
			t.Fatalf("%v: %s", err, stderr.String())
		}
		if !strings.Contains(stdout.String(), "left out: "+damaged) {
			t.Errorf("-log %s: stdout is\n%swant %s named", level, stdout.String(), damaged)
		}
		if got, want := strings.Contains(stderr.String(), "level=INFO"), level == "info"; got != want {
			t.Errorf("-log %s: stderr is\n%swant records of Beam: %t", level, stderr.String(), want)
		}
		wantEmpty(t, temp)
	}
}

func TestInterruptedProgramSaysHowToGoOn(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("Windows has no signal for this")
	}
	temp := t.TempDir()
	cmd := program(temp, "-in", photos, "-out", t.TempDir(), "-size", "2000", "-samples-per-shard", "1", "-skip", "-log", "info")
	stderr, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(stderr)
	lines.Scan() // Beam's first record: the pipeline has begun
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	const want = "run the same command again"
	var said string // Beam may log something after it
	for lines.Scan() {
		if strings.Contains(lines.Text(), want) {
			said += lines.Text() + "\n"
		}
	}
	wantError(t, said, want, cmd.Wait(), 1)
	wantEmpty(t, temp)
}
