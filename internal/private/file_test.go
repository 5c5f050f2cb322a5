package private_test

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/penstock-go/penstock/internal/private"
)

// both opens a file in a folder in both ways.
var both = map[string]func(f *private.Folder, name string, flag int) (*os.File, error){
	"Folder.OpenFile": func(f *private.Folder, name string, flag int) (*os.File, error) { return f.OpenFile(name, flag) },
	"OpenFile": func(f *private.Folder, name string, flag int) (*os.File, error) {
		return private.OpenFile(filepath.Join(f.Name(), name), flag, 0o600)
	},
}

func eachWay(t *testing.T, test func(t *testing.T, f *private.Folder, open func(name string, flag int) *os.File)) {
	for call, open := range both {
		t.Run(call, func(t *testing.T) {
			f, err := private.Open(t.TempDir())
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			test(t, f, func(name string, flag int) *os.File {
				t.Helper()
				file, err := open(f, name, flag)
				if err != nil {
					t.Fatal(err)
				}
				t.Cleanup(func() { file.Close() })
				return file
			})
		})
	}
}

func TestRemovedNameIsFreeWhileTheFileIsOpen(t *testing.T) {
	eachWay(t, func(t *testing.T, f *private.Folder, open func(string, int) *os.File) {
		old := open("block", create|os.O_EXCL)
		if _, err := old.WriteString("old"); err != nil {
			t.Fatal(err)
		}
		if err := f.Remove("block"); err != nil {
			t.Fatal(err)
		}
		if _, err := f.Open("block"); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("Open: got %v, want fs.ErrNotExist", err)
		}
		fresh := open("block", create|os.O_EXCL)
		if _, err := fresh.WriteString("new"); err != nil {
			t.Fatal(err)
		}
		var got [3]byte
		if _, err := old.ReadAt(got[:], 0); string(got[:]) != "old" || err != nil {
			t.Errorf("the old file has %q, %v", got, err)
		}
	})
}

func TestOpenFileIsRenamed(t *testing.T) {
	for name, rename := range map[string]func(f *private.Folder, from, to string) error{
		"Rename": (*private.Folder).Rename, "RenameSynced": (*private.Folder).RenameSynced,
	} {
		t.Run(name, func(t *testing.T) {
			eachWay(t, func(t *testing.T, f *private.Folder, open func(string, int) *os.File) {
				open("block", create)
				file := open("part", create)
				if err := rename(f, "part", "block"); err != nil {
					t.Fatal(err)
				}
				if _, err := file.WriteString("text"); err != nil {
					t.Fatal(err)
				}
				if got, err := f.ReadFile("block", 10); string(got) != "text" || err != nil {
					t.Errorf("got %q, %v", got, err)
				}
			})
		})
	}
}

func TestErrorsSayThatAFileDoesNotExist(t *testing.T) {
	eachWay(t, func(t *testing.T, f *private.Folder, _ func(string, int) *os.File) {
		_, open := f.Open("none")
		_, read := f.ReadFile("none", 1)
		for call, err := range map[string]error{
			"Open": open, "ReadFile": read, "Remove": f.Remove("none"), "Touch": f.Touch("none"),
			"Rename": f.Rename("none", "none2"), "RenameSynced": f.RenameSynced("none", "none2"),
		} {
			if !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("%s: got %v, want fs.ErrNotExist", call, err)
			}
		}
	})
}

// Processes of one user may replace a file at any time, also between two looks at it.
func TestAFileThatIsReplacedAllTheTimeIsOpened(t *testing.T) {
	eachWay(t, func(t *testing.T, f *private.Folder, open func(string, int) *os.File) {
		open("block", create)
		var group sync.WaitGroup
		stop := make(chan struct{})
		group.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				part, err := f.OpenFile("part", create)
				if err == nil {
					err = errors.Join(part.Close(), f.Rename("part", "block"))
				}
				if err != nil {
					t.Error(err)
					return
				}
			}
		})
		defer group.Wait()
		defer close(stop)
		for range 1000 {
			file := open("block", os.O_RDONLY)
			file.Close()
		}
	})
}

// All flags do what they do in package os.
func TestFlagsAreThoseOfPackageOS(t *testing.T) {
	outcome := func(open func(*private.Folder, string, int) (*os.File, error), flag int, exists bool) string {
		dir, err := private.Open(t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		defer dir.Close()
		name := filepath.Join(dir.Name(), "file")
		if exists {
			if err := os.WriteFile(name, []byte("before"), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		f, err := open(dir, "file", flag)
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
	of := func(f *private.Folder, name string, flag int) (*os.File, error) {
		return os.OpenFile(filepath.Join(f.Name(), name), flag, 0o600)
	}
	for _, access := range []int{os.O_RDONLY, os.O_WRONLY, os.O_RDWR} {
		for _, how := range []int{0, os.O_CREATE, os.O_CREATE | os.O_EXCL, os.O_CREATE | os.O_TRUNC, os.O_TRUNC, os.O_APPEND, os.O_CREATE | os.O_APPEND} {
			if access == os.O_RDONLY && how != 0 {
				continue // contradict each other
			}
			for _, exists := range []bool{false, true} {
				want := outcome(of, access|how, exists)
				for call, open := range both {
					if got := outcome(open, access|how, exists); got != want {
						t.Errorf("%s, flags %#x, exists %v: got %s, want %s", call, access|how, exists, got, want)
					}
				}
			}
		}
	}
}
