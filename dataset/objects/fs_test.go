package objects_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"testing/fstest"
	"testing/iotest"
	"testing/synctest"
	"time"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/dataset/objects"
	"github.com/penstock-go/penstock/dataset/packed"
	"github.com/penstock-go/penstock/internal/datatest"
)

func TestFSIsAFileSystem(t *testing.T) {
	files := fstest.MapFS{}
	names := []string{"a/b/c", "a/b-c", "a/b0", "a.x", "z", "a/b/d/e", "ä/ö ü"}
	for i, name := range names {
		files[name] = &fstest.MapFile{Data: []byte(strings.Repeat("x", i))}
	}
	fsys := remote(t, files)
	if err := fstest.TestFS(fsys, names...); err != nil {
		t.Error(err)
	}
	f, err := fsys.Open("a/b/d/e")
	if err != nil {
		t.Fatal(err)
	}
	if err := iotest.TestReader(f, []byte("xxxxx")); err != nil {
		t.Error(err)
	}
}

func TestFSOfAFolderHasThatRoot(t *testing.T) {
	dir := t.TempDir()
	if err := os.CopyFS(dir, fstest.MapFS{"train/a/1": {Data: []byte("1")}, "trainer/b": {}, "train/2": {}}); err != nil {
		t.Fatal(err)
	}
	fsys, err := objects.NewFS(t.Context(), objects.Folder(dir), "train")
	if err != nil {
		t.Fatal(err)
	}
	if err := fstest.TestFS(fsys, "a/1", "2"); err != nil {
		t.Error(err)
	}
	if _, err := fs.Stat(fsys, "trainer"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("got %v, want fs.ErrNotExist", err)
	}
}

// A memory is a store of objects that need not be paths.
type memory struct {
	list  []objects.Object
	data  []byte // of all
	stats atomic.Int32
	reads atomic.Int32
}

func (m *memory) List(context.Context, string) iter.Seq2[objects.Object, error] {
	return func(yield func(objects.Object, error) bool) {
		for _, o := range m.list {
			if !yield(o, nil) {
				return
			}
		}
	}
}

func (m *memory) Identity() string { return "" }

func (m *memory) Stat(_ context.Context, name string) (objects.Object, error) {
	m.stats.Add(1)
	return objects.Object{Name: name, Size: int64(len(m.data)), Version: "1"}, nil
}

func (m *memory) ReadAt(ctx context.Context, o objects.Object, p []byte, off int64) error {
	m.reads.Add(1)
	copy(p, m.data[off:])
	return ctx.Err()
}

func TestListingsThatAreNoFileSystemAreErrors(t *testing.T) {
	for want, names := range map[string][]string{
		"objects: a is an object and a folder":             {"a/b", "a", "a-b"},
		"objects: a/b is listed twice":                     {"a/b", "c", "a/b"},
		`objects: the name "/a" is not a path`:             {"/a"},
		"objects: no object in \".\": file does not exist": {"folder/"},
	} {
		m := &memory{}
		for _, name := range names {
			m.list = append(m.list, objects.Object{Name: name})
		}
		if _, err := objects.NewFS(t.Context(), m, ""); fmt.Sprint(err) != want {
			t.Errorf("got  %v\nwant %s", err, want)
		}
	}
	if _, err := objects.NewFS(t.Context(), &memory{}, "../x"); err == nil {
		t.Error("a folder outside is accepted")
	}
}

func TestUnknownSizesAreAskedForOnce(t *testing.T) {
	m := &memory{list: []objects.Object{{Name: "a", Size: -1}, {Name: "b", Size: -1, Version: "0"}}, data: []byte(text)}
	fsys, err := objects.NewFS(t.Context(), m, "")
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		if data, err := fs.ReadFile(fsys, "a"); err != nil || string(data) != text {
			t.Errorf("got %q, error %v", data, err)
		}
	}
	if n := m.stats.Load(); n != 1 {
		t.Errorf("asked %d times, want 1", n)
	}
	if _, err := fsys.Open("b"); !errors.Is(err, objects.ErrReplaced) {
		t.Errorf("another version than was listed: got %v, want ErrReplaced", err)
	}
}

func TestSmallReadsShareRequests(t *testing.T) {
	data := bytes.Repeat([]byte(text), 300_000) // 10.8 MB
	m := &memory{list: []objects.Object{{Name: "a", Size: int64(len(data))}}, data: data}
	fsys, err := objects.NewFS(t.Context(), m, "")
	if err != nil {
		t.Fatal(err)
	}
	f, err := fsys.Open("a")
	if err != nil {
		t.Fatal(err)
	}
	var got bytes.Buffer
	if _, err := io.CopyBuffer(struct{ io.Writer }{&got}, struct{ io.Reader }{f}, make([]byte, 1000)); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got.Bytes(), data) {
		t.Error("the bytes differ")
	}
	if n := m.reads.Load(); n != 6 { // 256 KiB, 512 KiB, 1, 2, 4 MiB, rest
		t.Errorf("%d reads of the store, want 6", n)
	}
	m.reads.Store(0)
	if whole, err := fs.ReadFile(fsys, "a"); err != nil || !bytes.Equal(whole, data) {
		t.Errorf("error %v", err)
	}
	if n := m.reads.Load(); n != 1 {
		t.Errorf("a whole file takes %d reads of the store, want 1", n)
	}
}

// A reader's context reaches a read that hangs, and so does that of NewFS.
func TestContextsReachReadsOfDatasets(t *testing.T) {
	for _, whose := range []string{"Place", "NewFS"} {
		t.Run(whose, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var file bytes.Buffer
				if err := packed.Write(t.Context(), &file, datatest.Pairs(t)); err != nil {
					t.Fatal(err)
				}
				h := newHost(fstest.MapFS{"c/1.jpg": {Data: file.Bytes()}})
				placing, cancel := context.WithCancel(t.Context())
				opening := t.Context()
				if whose == "NewFS" {
					placing, opening = opening, placing
				}
				fsys, err := objects.NewFS(opening, store(t, h, objects.Listing(objects.Object{Name: "c/1.jpg", Size: -1})), "")
				if err != nil {
					t.Fatal(err)
				}
				images, err := dataset.ImageFolder(fsys)
				if err != nil {
					t.Fatal(err)
				}
				records, err := packed.Open(fsys, "c/1.jpg")
				if err != nil {
					t.Fatal(err)
				}
				readers := []dataset.Reader{datatest.Open(t, images), datatest.Open(t, records)}
				slots := []dataset.Slot{dataset.NewSlot(images.Spec()...), dataset.NewSlot(records.Spec()...)}
				h.always = stall(1)
				begin := time.Now()
				time.AfterFunc(2*time.Second, cancel)
				for k, r := range readers {
					if err := r.Place(placing, 0, slots[k]); !errors.Is(err, context.Canceled) {
						t.Errorf("%T: got %v, want context.Canceled", r, err)
					}
				}
				if took := time.Since(begin); took != 2*time.Second {
					t.Errorf("ended after %v, want 2 s", took)
				}
			})
		})
	}
}
