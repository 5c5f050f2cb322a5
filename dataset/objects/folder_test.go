package objects_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"syscall"
	"testing"
	"testing/fstest"
	"time"

	"github.com/penstock-go/penstock/dataset/objects"
	"github.com/penstock-go/penstock/internal/datatest"
)

func TestFolderNoticesReplacedFiles(t *testing.T) {
	dir := t.TempDir()
	if err := os.CopyFS(dir, fstest.MapFS{"a/text": {Data: []byte(text)}}); err != nil {
		t.Fatal(err)
	}
	s := objects.Folder(dir)
	o, err := s.Stat(t.Context(), "a/text")
	if err != nil || o.Size != int64(len(text)) {
		t.Fatal(o, err)
	}
	if got := read(t.Context(), s, o, 30, 6); got != text[30:] {
		t.Error(got)
	}
	if err := os.Chtimes(filepath.Join(dir, "a", "text"), time.Time{}, time.Unix(1e9, 0)); err != nil {
		t.Fatal(err)
	}
	if err := s.ReadAt(t.Context(), o, make([]byte, 6), 0); !errors.Is(err, objects.ErrReplaced) {
		t.Errorf("got %v, want ErrReplaced", err)
	}
	if err := os.Truncate(filepath.Join(dir, "a", "text"), 3); err != nil {
		t.Fatal(err)
	}
	if err := s.ReadAt(t.Context(), o, make([]byte, 6), 0); !errors.Is(err, objects.ErrReplaced) {
		t.Errorf("got %v, want ErrReplaced", err)
	}
	for _, name := range []string{"none", "a", "a/none"} {
		if _, err := s.Stat(t.Context(), name); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: got %v, want fs.ErrNotExist", name, err)
		}
	}
	for _, name := range []string{"..", "../x", "/etc/passwd", ".", ""} {
		if err := s.ReadAt(t.Context(), objects.Object{Name: name, Size: -1}, make([]byte, 1), 0); !errors.Is(err, fs.ErrInvalid) {
			t.Errorf("%q: got %v, want fs.ErrInvalid", name, err)
		}
	}
}

func TestListingAFolderSaysWhichFileIsMissing(t *testing.T) {
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "cat"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Join(dir, "gone"), filepath.Join(dir, "cat", "1.jpg")); err != nil {
		t.Skip(err)
	}
	for missing, want := range map[string]string{dir: "objects: list all objects: cat/1.jpg: ", filepath.Join(dir, "none"): "objects: list all objects: "} {
		errs := 0
		for _, err := range objects.Folder(missing).List(t.Context(), "") {
			if text := want + syscall.ENOENT.Error(); !errors.Is(err, fs.ErrNotExist) || runtime.GOOS != "windows" && err.Error() != text {
				t.Errorf("got %v, want %s", err, text)
			}
			errs++
		}
		if errs != 1 {
			t.Errorf("%s: %d errors, want 1", missing, errs)
		}
	}
}

// Every system but Windows reads its blocks ahead.
func TestAFolderFetchesBlocksInAdvance(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "a.bin"), make([]byte, 100), 0o644); err != nil {
		t.Fatal(err)
	}
	asked := make(chan int, 10)
	stop := objects.Folder(dir).(objects.Foreseer).Foresee(datatest.Future{{1, 3}, {0}}, objects.Blocks{
		Len: 2,
		Of:  func(sample int) int { return sample / 2 },
		At: func(b int, dst []objects.Block) []objects.Block {
			asked <- b
			return append(dst, objects.Block{Object: objects.Object{Name: "a.bin", Size: 100}, Off: 50, Len: 50})
		},
		Once: true,
	})
	if stop == nil {
		t.Skip("this system takes no advice")
	}
	if a, b := <-asked, <-asked; a != 0 || b != 1 {
		t.Errorf("asked for the blocks %d and %d, want 0 and 1", a, b)
	}
	stop()
	if len(asked) > 0 {
		t.Errorf("asked for block %d again", <-asked)
	}
}
