package private_test

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"sync/atomic"
	"testing"

	"github.com/penstock-go/penstock/internal/private"
)

const (
	create  = os.O_RDWR | os.O_CREATE
	fileEnv = "PENSTOCK_TEST_LOCKED_FILE" // what a child locks
)

// TestChild is the process that another test starts and kills. It locks a file until then.
func TestChild(t *testing.T) {
	name := os.Getenv(fileEnv)
	if name == "" {
		t.Skip("started by another test")
	}
	f := open(t, name, create)
	if err := private.Lock(f); err != nil {
		t.Fatal(err)
	}
	fmt.Println("locked")
	_, _ = io.Copy(io.Discard, os.Stdin) // until it is killed
}

func open(t *testing.T, name string, flag int) *os.File {
	t.Helper()
	f, err := os.OpenFile(name, flag, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Close() }) // some tests close it
	return f
}

func wantLock(t *testing.T, f *os.File, want bool) {
	t.Helper()
	if got, err := private.TryLock(f); got != want || err != nil {
		t.Errorf("TryLock: got %v, %v, want %v", got, err, want)
	}
}

func supported(t *testing.T) {
	t.Helper()
	if err := private.Supported(); err != nil {
		t.Skip(err)
	}
}

func TestOnlyOneHasTheLock(t *testing.T) {
	supported(t)
	name := filepath.Join(t.TempDir(), "lock")
	a, b := open(t, name, create), open(t, name, create)
	wantLock(t, a, true)
	wantLock(t, b, false)
	if err := private.Unlock(a); err != nil {
		t.Fatal(err)
	}
	wantLock(t, b, true)
	wantLock(t, a, false)
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	wantLock(t, a, true)
}

func TestLockWaitsForTheLock(t *testing.T) {
	supported(t)
	name := filepath.Join(t.TempDir(), "lock")
	a, b := open(t, name, create), open(t, name, create)
	wantLock(t, a, true)
	done := make(chan error)
	var unlocked atomic.Bool
	go func() {
		err := private.Lock(b)
		if err == nil && !unlocked.Load() {
			err = errors.New("locked twice")
		}
		done <- err
	}()
	unlocked.Store(true)
	if err := private.Unlock(a); err != nil {
		t.Fatal(err)
	}
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	wantLock(t, a, false)
}

func TestLockEndsWithItsProcess(t *testing.T) {
	supported(t)
	name := filepath.Join(t.TempDir(), "lock")
	child := exec.Command(os.Args[0], "-test.run=^TestChild$")
	child.Env = append(os.Environ(), fileEnv+"="+name)
	in, err := child.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	out, err := child.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	if line, err := bufio.NewReader(out).ReadString('\n'); line != "locked\n" {
		t.Errorf("the child said %q, %v", line, err)
	}
	f := open(t, name, create)
	wantLock(t, f, false)
	if err := child.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = child.Wait() // killed
	if err := private.Lock(f); err != nil {
		t.Error(err)
	}
}

func TestLockedFileIsReadAndWritten(t *testing.T) {
	supported(t)
	name := filepath.Join(t.TempDir(), "lock")
	a, b := open(t, name, create), open(t, name, create)
	wantLock(t, a, true)
	if _, err := b.WriteAt([]byte("text"), 0); err != nil {
		t.Error(err)
	}
	if got, err := os.ReadFile(name); string(got) != "text" || err != nil {
		t.Errorf("got %q, %v", got, err)
	}
}
