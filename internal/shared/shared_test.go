package shared_test

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"sync/atomic"
	"testing"

	"github.com/penstock-go/penstock/internal/shared"
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
	if err := shared.Lock(f); err != nil {
		t.Fatal(err)
	}
	fmt.Println("locked")
	_, _ = io.Copy(io.Discard, os.Stdin) // until it is killed
}

func open(t *testing.T, name string, flag int) *os.File {
	t.Helper()
	f, err := shared.OpenFile(name, flag, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Close() }) // some tests close it
	return f
}

func wantLock(t *testing.T, f *os.File, want bool) {
	t.Helper()
	if got, err := shared.TryLock(f); got != want || err != nil {
		t.Errorf("TryLock: got %v, %v, want %v", got, err, want)
	}
}

func supported(t *testing.T) {
	t.Helper()
	if err := shared.Supported(); err != nil {
		t.Skip(err)
	}
}

func TestOnlyOneHasTheLock(t *testing.T) {
	supported(t)
	name := filepath.Join(t.TempDir(), "lock")
	a, b := open(t, name, create), open(t, name, create)
	wantLock(t, a, true)
	wantLock(t, b, false)
	if err := shared.Unlock(a); err != nil {
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
		err := shared.Lock(b)
		if err == nil && !unlocked.Load() {
			err = errors.New("locked twice")
		}
		done <- err
	}()
	unlocked.Store(true)
	if err := shared.Unlock(a); err != nil {
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
	if err := shared.Lock(f); err != nil {
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

func TestRemovedNameIsFreeWhileTheFileIsOpen(t *testing.T) {
	name := filepath.Join(t.TempDir(), "block")
	old := open(t, name, create|os.O_EXCL)
	if _, err := old.WriteString("old"); err != nil {
		t.Fatal(err)
	}
	if err := shared.Remove(name); err != nil {
		t.Fatal(err)
	}
	if _, err := shared.Open(name); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("Open: got %v, want fs.ErrNotExist", err)
	}
	fresh := open(t, name, create|os.O_EXCL)
	if _, err := fresh.WriteString("new"); err != nil {
		t.Fatal(err)
	}
	var got [3]byte
	if _, err := old.ReadAt(got[:], 0); string(got[:]) != "old" || err != nil {
		t.Errorf("the old file has %q, %v", got, err)
	}
}

func TestOpenFileIsRenamed(t *testing.T) {
	dir := t.TempDir()
	from, to := filepath.Join(dir, "part"), filepath.Join(dir, "block")
	if err := os.WriteFile(to, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	f := open(t, from, create)
	if err := shared.RenameSynced(from, to); err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteString("text"); err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile(to); string(got) != "text" || err != nil {
		t.Errorf("got %q, %v", got, err)
	}
}

func TestErrorsSayThatAFileDoesNotExist(t *testing.T) {
	none := filepath.Join(t.TempDir(), "none")
	_, err := shared.Open(none)
	for call, err := range map[string]error{
		"Open":         err,
		"Remove":       shared.Remove(none),
		"RenameSynced": shared.RenameSynced(none, none+"2"),
	} {
		if !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: got %v, want fs.ErrNotExist", call, err)
		}
	}
}

// All flags do what they do in package os.
func TestFlagsAreThoseOfPackageOS(t *testing.T) {
	outcome := func(open func(string, int, os.FileMode) (*os.File, error), flag int, exists bool) string {
		name := filepath.Join(t.TempDir(), "file")
		if exists {
			if err := os.WriteFile(name, []byte("before"), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		f, err := open(name, flag, 0o600)
		if err != nil {
			return fmt.Sprint("no file: ", errors.Is(err, fs.ErrNotExist), errors.Is(err, fs.ErrExist))
		}
		var b [1]byte
		_, readErr := f.Read(b[:])
		_, writeErr := f.WriteString("x")
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		return fmt.Sprintf("%q, read %v, write %v", text, readErr == nil || readErr == io.EOF, writeErr == nil)
	}
	for _, access := range []int{os.O_RDONLY, os.O_WRONLY, os.O_RDWR} {
		for _, how := range []int{0, os.O_CREATE, os.O_CREATE | os.O_EXCL, os.O_CREATE | os.O_TRUNC, os.O_TRUNC, os.O_APPEND, os.O_CREATE | os.O_APPEND} {
			if access == os.O_RDONLY && how != 0 {
				continue // contradict each other
			}
			for _, exists := range []bool{false, true} {
				got, want := outcome(shared.OpenFile, access|how, exists), outcome(os.OpenFile, access|how, exists)
				if got != want {
					t.Errorf("flags %#x, exists %v: got %s, want %s", access|how, exists, got, want)
				}
			}
		}
	}
}
