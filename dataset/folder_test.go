package dataset_test

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"testing/fstest"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/internal/allocs"
	"github.com/penstock-go/penstock/internal/datatest"
)

var pets = fstest.MapFS{
	"cat/b.jpg":          {Data: []byte("b")},
	"cat/a.JPEG":         {Data: []byte("a")},
	"cat/notes.txt":      {Data: []byte("no image")},
	"cat/.hidden.jpg":    {Data: []byte("no image")},
	"cat/.cache/x.jpg":   {Data: []byte("no image")},
	"cat/2020/z/old.gif": {Data: []byte("old")},
	"cat/2020-b/c.Png":   {Data: []byte("c")},
	"cat/2020/d.webp":    {Data: []byte("d")},
	"Zebra/z.tif":        {Data: []byte("z")},
	".git/logo.png":      {Data: []byte("no class")},
	"top.jpg":            {Data: []byte("of no class")},
}

func imageFolder(t testing.TB, fsys fs.FS, options ...dataset.FolderOption) *dataset.Folder {
	t.Helper()
	f, err := dataset.ImageFolder(fsys, options...)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func TestImageFolderPlacesFileAndLabel(t *testing.T) {
	f := imageFolder(t, pets)
	r, err := f.Open()
	if err != nil {
		t.Fatal(err)
	}
	slot := dataset.NewSlot(f.Spec()...)
	for i, want := range []string{"z", "a", "b", "d", "c", "old"} {
		if err := r.Place(t.Context(), i, slot); err != nil {
			t.Fatal(err)
		}
		if got := string(dataset.Row[uint8](slot, 0)); got != want {
			t.Errorf("sample %d holds %q, want %q", i, got, want)
		}
		if got, want := dataset.Row[int64](slot, 1)[0], int64(f.Labels()[i]); got != want {
			t.Errorf("label of sample %d is %d, want %d", i, got, want)
		}
	}
}

func (endless) ReadDir(string) ([]fs.DirEntry, error) {
	return fs.ReadDir(fstest.MapFS{"in/a.jpg": {}}, ".")
}

func TestReadErrorNamesThePathOnce(t *testing.T) {
	root := t.TempDir()
	write(t, filepath.Join(root, "cat", "a.jpg"), "a")
	f := imageFolder(t, os.DirFS(root))
	if err := os.Remove(filepath.Join(root, "cat", "a.jpg")); err != nil {
		t.Fatal(err)
	}
	_, err := dataset.At(t.Context(), f, 0)
	if want := "dataset: sample 0 (cat/a.jpg): " + syscall.ENOENT.Error(); err == nil || err.Error() != want {
		t.Errorf("got error %v, want %s", err, want)
	}
	if !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%v is not fs.ErrNotExist", err)
	}
}

func TestFileAboveTheLimitIsAnErrorAndTakesNoMemory(t *testing.T) {
	root := t.TempDir()
	write(t, filepath.Join(root, "cat", "a.jpg"), "12345")
	write(t, filepath.Join(root, "cat", "b.jpg"), "123456")
	write(t, filepath.Join(root, "cat", "c.jpg"), "")
	if err := os.Truncate(filepath.Join(root, "cat", "c.jpg"), 40<<30); err != nil {
		t.Skipf("cannot make a sparse file of 40 GB here: %v", err)
	}
	f := imageFolder(t, os.DirFS(root), dataset.MaxBytes(5))
	if _, err := dataset.At(t.Context(), f, 0); err != nil {
		t.Errorf("file of the largest size: %v", err)
	}
	_, err := dataset.At(t.Context(), f, 1)
	if want := "dataset: sample 1 (cat/b.jpg): file of 6 bytes, more than MaxBytes(5)"; err == nil || err.Error() != want {
		t.Errorf("got error %v, want %s", err, want)
	}
	f = imageFolder(t, os.DirFS(root))
	if n := allocs.Bytes(1<<16, func() { _, err = dataset.At(t.Context(), f, 2) }); n > 1<<16 {
		t.Errorf("%d bytes allocated for a file that is refused", n)
	}
	if want := "dataset: sample 2 (cat/c.jpg): file of 42949672960 bytes, more than MaxBytes(268435456)"; err == nil || err.Error() != want {
		t.Errorf("got error %v, want %s", err, want)
	}
	if _, err := dataset.ImageFolder(pets, dataset.MaxBytes(0)); err == nil {
		t.Error("MaxBytes(0) gives no error")
	}
}

func TestFileThatChangesIsReadToItsEnd(t *testing.T) {
	for _, promised := range []int64{-1, 0, 1, 999, 1000, 1001, 5000} {
		content := strings.Repeat("0123456789", 100)
		f := imageFolder(t, datatest.Promising{FS: pets, Content: content, Size: promised})
		s, err := dataset.At(t.Context(), f, 1)
		if err != nil {
			t.Fatal(err)
		}
		if got := string(dataset.ValuesOf[uint8](s["image"])); got != content {
			t.Errorf("file of 1000 bytes, %d promised: got %d bytes", promised, len(got))
		}
	}
	f := imageFolder(t, datatest.Promising{FS: pets, Content: "123456", Size: 1}, dataset.MaxBytes(5))
	if _, err := dataset.At(t.Context(), f, 1); err == nil {
		t.Error("a file that grew above MaxBytes gives no error")
	}
}

func TestPlaceOfAFolderStopsWhenCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	f := imageFolder(t, pets)
	if _, err := dataset.At(ctx, f, 0); !errors.Is(err, context.Canceled) {
		t.Errorf("got error %v, want context.Canceled", err)
	}
}

func TestPlaceOfAFolderAllocatesOnlyToOpenTheFile(t *testing.T) {
	root := t.TempDir()
	write(t, filepath.Join(root, "cat", "a.jpg"), strings.Repeat("a", 100_000))
	fsys := os.DirFS(root)
	f := imageFolder(t, fsys)
	r, _ := f.Open()
	slot := dataset.NewSlot(f.Spec()...)
	ctx := t.Context()
	opening := allocs.PerRun(0, 100, func() {
		file, _ := fsys.Open("cat/a.jpg")
		file.Stat()
		file.Close()
	})
	placing := allocs.PerRun(opening, 100, func() {
		if err := r.Place(ctx, 0, slot); err != nil {
			t.Fatal(err)
		}
	})
	t.Logf("%v allocations per file", opening)
	if placing > opening {
		t.Errorf("Place allocates %v times, opening a file %v times", placing, opening)
	}
}

func TestPhotosOfTheFolderAreThere(t *testing.T) {
	f := imageFolder(t, photos(t))
	if f.Len() < 100 || len(f.Classes()) < 5 {
		t.Errorf("%d photos of %d classes", f.Len(), len(f.Classes()))
	}
	s, err := dataset.At(t.Context(), f, f.Len()-1)
	if err != nil {
		t.Fatal(err)
	}
	if got := dataset.ValuesOf[uint8](s["image"]); got[0] != 0xff || got[1] != 0xd8 {
		t.Errorf("photo begins with % x, which is no JPEG", got[:2])
	}
}

// photos is the folder of photos next to the repository, where there is one.
func photos(t testing.TB) fs.FS {
	dir := filepath.Join("..", "..", "shared", "photos")
	if _, err := os.Stat(dir); err != nil {
		t.Skipf("needs photos, a folder per class: %v", err)
	}
	return os.DirFS(dir)
}

func write(t testing.TB, name, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}
