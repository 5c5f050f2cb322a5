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
	"slices"
	"strconv"
	"testing"
	"time"
)

// asProgram makes a copy of the test program the program itself.
const asProgram = "SHARDS_TEST_PROGRAM"

func TestMain(m *testing.M) {
	if os.Getenv(asProgram) != "" {
		main()
		return
	}
	m.Run()
}

// TestKilledProcessesGoOnWithTheSameWeights kills processes, each after it has saved some steps.
// The cache and the shards are in use then. Each of them may train for at least two epochs more, and has
// ended before it is killed if the machine is too busy to look at its steps.
func TestKilledProcessesGoOnWithTheSameWeights(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	dir := t.TempDir()
	path := filepath.Join(dir, "model.json")
	for k := range 4 {
		child := exec.CommandContext(t.Context(), os.Args[0], "-dir", dir, "-images", "210", "-epochs", strconv.Itoa(2*(k+1)), "-workers", strconv.Itoa(1+k), "-latency", "3ms")
		child.Env = append(os.Environ(), asProgram+"=1")
		before := modified(t, path)
		if err := child.Start(); err != nil {
			t.Fatal(err)
		}
		ended := make(chan error, 1)
		go func() { ended <- child.Wait() }()
		running := true
		for steps := 0; steps < 1+3*k && running; {
			select {
			case err := <-ended:
				if err != nil {
					t.Fatalf("the program ended: %v", err)
				}
				t.Logf("process %d ended after %d of %d steps were seen", k, steps, 1+3*k)
				running = false
			case <-time.After(time.Millisecond):
			}
			if now := modified(t, path); now != before {
				before = now
				steps++
			}
		}
		if running {
			if err := child.Process.Kill(); err != nil && !errors.Is(err, os.ErrProcessDone) {
				t.Error(err)
			}
			<-ended // its error says that it was killed
		}
	}
	m, err := loadModel(path)
	if err != nil || m.Position == nil {
		t.Fatalf("no position was saved: %v", err)
	}
	o := options{dir: dir, images: 210, epochs: m.Position.Epoch + 1, workers: 2}
	got, err := run(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	o.dir = t.TempDir()
	want, err := run(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(got.Weights, want.Weights) {
		t.Errorf("other weights after %d epochs than without the kills", o.epochs)
	}
}

// modified is when a file was written, or the zero time if it is not there.
func modified(t *testing.T, path string) time.Time {
	t.Helper()
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return time.Time{}
	}
	if err != nil {
		t.Fatal(err)
	}
	return info.ModTime()
}

// TestAnInterruptSaysHowToGoOn interrupts a training that would take hours.
func TestAnInterruptSaysHowToGoOn(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("Windows has no signal for this")
	}
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	child := exec.CommandContext(t.Context(), os.Args[0], "-dir", t.TempDir(), "-images", "70", "-epochs", "1000000", "-latency", "0s")
	child.Env = append(os.Environ(), asProgram+"=1")
	var stderr bytes.Buffer
	child.Stderr = &stderr
	stdout, err := child.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(stdout)
	lines.Scan() // the index: packing is done
	if err := child.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	for lines.Scan() {
		// the program does not wait for a reader
	}
	err = child.Wait()
	const want = "interrupted; the same command goes on with the next step\n"
	if exit, ok := errors.AsType[*exec.ExitError](err); !ok || exit.ExitCode() != 1 || stderr.String() != want {
		t.Errorf("got %v and %q, want exit status 1 and %q", err, stderr.String(), want)
	}
}
