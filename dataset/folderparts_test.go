package dataset_test

import (
	"archive/zip"
	"bytes"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"testing/fstest"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/internal/datatest"
)

// recordings has a small and two large files, of which the byte at i is i times a number.
func recordings(t *testing.T) fstest.MapFS {
	t.Helper()
	file := func(n, factor int) *fstest.MapFile {
		data := make([]byte, n)
		for i := range data {
			data[i] = byte(i * factor)
		}
		return &fstest.MapFile{Data: data}
	}
	return fstest.MapFS{"no/a.wav": file(40000, 3), "no/b.wav": file(100, 5), "yes/c.wav": file(50000, 7)}
}

func wavFiles(t *testing.T, fsys fs.FS, options ...dataset.FolderOption) *dataset.Folder {
	t.Helper()
	f, err := dataset.Files(fsys, "audio", []string{".wav"}, options...)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// zipped has the files in an archive, whose files can only be read from the beginning.
func zipped(t *testing.T, fsys fstest.MapFS) fs.FS {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	if err := z.AddFS(fsys); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	r, err := zip.NewReader(bytes.NewReader(b.Bytes()), int64(b.Len()))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestPartsOfLargeLocalFilesAreRead(t *testing.T) {
	all := recordings(t)
	root := t.TempDir()
	for name, f := range all {
		write(t, filepath.Join(root, name), string(f.Data))
	}
	for _, c := range []struct {
		name  string
		fsys  fs.FS
		parts bool
	}{{"memory", all, true}, {"local", os.DirFS(root), true}, {"archive", zipped(t, all), false}} {
		for _, options := range [][]dataset.FolderOption{nil, {dataset.NoClasses()}} {
			f := wavFiles(t, c.fsys, options...)
			r, slot := datatest.Open(t, f), dataset.NewSlot(f.Spec()...)
			for _, i := range []int{0, 1, 2, 2, 1, 0} {
				want := all[f.Name(i)].Data
				n, parts, err := r.(dataset.PartReader).PlaceParts(t.Context(), i, 0, slot)
				if err != nil || (parts != nil) != (c.parts && i != 1) {
					t.Fatalf("%s, %s: parts %v: %v", c.name, f.Name(i), parts, err)
				}
				got := dataset.Row[uint8](slot, 0)
				if parts != nil {
					got = make([]byte, n)
					if _, err := parts.ReadAt(got[n-70:], int64(n-70)); err != nil && err != io.EOF {
						t.Fatal(err)
					}
					if _, err := parts.ReadAt(got[:n-70], 0); err != nil {
						t.Fatal(err)
					}
				}
				if !bytes.Equal(got, want) {
					t.Errorf("%s: %s differs", c.name, f.Name(i))
				}
				if len(options) == 0 && dataset.Row[int64](slot, 1)[0] != int64(f.Labels()[i]) {
					t.Errorf("%s: label %v of %s", c.name, dataset.Row[int64](slot, 1), f.Name(i))
				}
			}
			// The same Reader also places whole files.
			if err := r.Place(t.Context(), 2, slot); err != nil || !bytes.Equal(dataset.Row[uint8](slot, 0), all["yes/c.wav"].Data) {
				t.Errorf("%s: a whole file: %v", c.name, err)
			}
			datatest.RefusesOtherIndices(t, f)
		}
	}
}

func TestPartsOfFilesAboveTheLimitAreAnError(t *testing.T) {
	f := wavFiles(t, recordings(t), dataset.MaxBytes(45000))
	r, slot := datatest.Open(t, f), dataset.NewSlot(f.Spec()...)
	_, _, err := r.(dataset.PartReader).PlaceParts(t.Context(), 2, 0, slot)
	if got, want := fmt.Sprint(err), "dataset: file of 50000 bytes, more than MaxBytes(45000)"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if _, parts, err := r.(dataset.PartReader).PlaceParts(t.Context(), 0, 0, slot); err != nil || parts == nil {
		t.Errorf("the next file: %v", err)
	}
}

// closing counts the files that are open.
type closing struct {
	fs.FS
	open *int
}

func (c closing) Open(name string) (fs.File, error) {
	f, err := c.FS.Open(name)
	if err != nil {
		return nil, err
	}
	if info, err := f.Stat(); err != nil || info.IsDir() {
		return f, err
	}
	*c.open++
	return closingFile{f, f.(io.ReaderAt), c.open}, nil
}

type closingFile struct {
	fs.File
	io.ReaderAt
	open *int
}

func (f closingFile) Close() error {
	*f.open--
	return f.File.Close()
}

func TestOneFileIsOpenUntilTheNextSample(t *testing.T) {
	open := 0
	f := wavFiles(t, closing{recordings(t), &open})
	r, err := f.Open()
	if err != nil {
		t.Fatal(err)
	}
	slot := dataset.NewSlot(f.Spec()...)
	for step, c := range []struct{ i, open int }{{0, 1}, {2, 1}, {1, 0}, {2, 1}, {99, 0}, {0, 1}} {
		if _, _, err := r.(dataset.PartReader).PlaceParts(t.Context(), c.i, 0, slot); (err != nil) != (c.i == 99) {
			t.Fatal(err)
		}
		if open != c.open {
			t.Errorf("step %d: %d files are open, want %d", step, open, c.open)
		}
	}
	if err := r.Place(t.Context(), 0, slot); err != nil || open != 0 {
		t.Errorf("after a whole file %d are open: %v", open, err)
	}
	if _, _, err := r.(dataset.PartReader).PlaceParts(t.Context(), 0, 0, slot); err != nil {
		t.Fatal(err)
	}
	if err := r.Close(); err != nil || open != 0 {
		t.Errorf("after Close %d are open: %v", open, err)
	}
}

// asked notes what it is asked to fetch.
type asked struct {
	fs.FS
	parts []dataset.FilePart
}

func (a *asked) ForeseeFiles(f dataset.Future, b dataset.FileBlocks) func() {
	for k := range b.Len {
		a.parts = b.At(k, a.parts)
	}
	return func() {}
}

func TestFarFilesAreFetchedWhole(t *testing.T) {
	fsys := &asked{FS: recordings(t)}
	f := wavFiles(t, fsys)
	r, slot := datatest.Open(t, f), dataset.NewSlot(f.Spec()...)
	for range 2 {
		fsys.parts = nil
		f.Foresee(datatest.Future{{0, 1, 2}})()
		if len(fsys.parts) != 3 || fsys.parts[0] != (dataset.FilePart{Path: "no/a.wav", Len: -1}) {
			t.Errorf("asked for %v", fsys.parts)
		}
		if _, _, err := r.(dataset.PartReader).PlaceParts(t.Context(), 0, 0, slot); err != nil {
			t.Fatal(err)
		}
	}
}
