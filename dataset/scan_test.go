package dataset_test

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"testing/fstest"

	"github.com/penstock-go/penstock/dataset"
)

func list(f *dataset.Folder) []string {
	var got []string
	for i := range f.Len() {
		got = append(got, f.Name(i))
	}
	return got
}

func TestImageFolderHasTorchvisionsOrder(t *testing.T) {
	f := imageFolder(t, pets)
	if got, want := f.Classes(), []string{"Zebra", "cat"}; !slices.Equal(got, want) {
		t.Errorf("classes %q, want %q", got, want)
	}
	// torchvision sorts folders by path, so "2020-b" comes before "2020/z".
	want := []string{"Zebra/z.tif", "cat/a.JPEG", "cat/b.jpg", "cat/2020/d.webp", "cat/2020-b/c.Png", "cat/2020/z/old.gif"}
	if got := list(f); !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
	if got, want := f.Labels(), []int{0, 1, 1, 1, 1, 1}; !slices.Equal(got, want) {
		t.Errorf("labels %v, want %v", got, want)
	}
}

func TestWithoutClassesAllImagesAreTaken(t *testing.T) {
	fsys := fstest.MapFS{"!first/e.png": {Data: []byte("e")}, "empty/notes.txt": {}}
	maps.Copy(fsys, pets)
	f := imageFolder(t, fsys, dataset.NoClasses())
	want := []string{"top.jpg", "!first/e.png", "Zebra/z.tif", "cat/a.JPEG", "cat/b.jpg", "cat/2020/d.webp", "cat/2020-b/c.Png", "cat/2020/z/old.gif"}
	if got := list(f); !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
	if got, want := f.String(), "8 images, skipped 2 .txt"; got != want || f.Classes() != nil || f.Labels() != nil {
		t.Errorf("got %q, %v, %v; want %q and no class", got, f.Classes(), f.Labels(), want)
	}
	s, err := dataset.At(t.Context(), f, 1)
	if err != nil || len(s) != 1 || string(dataset.ValuesOf[uint8](s["image"])) != "e" {
		t.Errorf("got %v, %v; want the file alone", s, err)
	}
	_, err = dataset.ImageFolder(fstest.MapFS{"a.txt": {}, "b.heic": {}}, dataset.NoClasses())
	if err == nil || !strings.HasPrefix(err.Error(), "dataset: folder: no file (.jpg ") || !strings.HasSuffix(err.Error(), ", skipped 1 .heic, 1 .txt") {
		t.Errorf("got error %v", err)
	}
}

func TestImageFolderSaysWhatIsWrong(t *testing.T) {
	_, none := os.Stat("no/such/folder")
	noFolder := none.(*fs.PathError).Err.Error()
	for _, c := range []struct {
		name string
		fsys fs.FS
		want string
	}{
		{"no class", fstest.MapFS{"a.jpg": {}}, "dataset: folder: no class: want a folder per class at the top, found 1 file and no folder (NoClasses takes files without classes)"},
		{"empty class", fstest.MapFS{"dog/a.jpg": {}, "cat/x.txt": {}, "cow/y.txt": {}},
			"dataset: folder: class cat: no file (.jpg .jpeg .png .gif .webp .bmp .tif .tiff .ppm .pgm .pbm .pnm), skipped 1 .txt\n" +
				"dataset: folder: class cow: no file (.jpg .jpeg .png .gif .webp .bmp .tif .tiff .ppm .pgm .pbm .pnm), skipped 1 .txt"},
		{"locked", locked{fstest.MapFS{"cat/a.jpg": {}, "cat/in/b.jpg": {}, "dog/a.jpg": {}}, "cat/in"}, "dataset: folder: read cat/in: permission denied"},
		{"locked root", locked{pets, "."}, "dataset: folder: read .: permission denied"},
		{"missing root", os.DirFS("no/such/folder"), "dataset: folder: read no/such/folder: " + noFolder},
	} {
		_, err := dataset.ImageFolder(c.fsys)
		if err == nil {
			t.Errorf("%s: no error", c.name)
		} else if err.Error() != c.want {
			t.Errorf("%s: got error\n%v\nwant\n%s", c.name, err, c.want)
		}
	}
	_, err := dataset.ImageFolder(locked{pets, "cat"})
	if !errors.Is(err, fs.ErrPermission) {
		t.Errorf("%v is not fs.ErrPermission", err)
	}
}

// locked refuses to read one folder.
type locked struct {
	fs.FS
	name string
}

func (l locked) ReadDir(name string) ([]fs.DirEntry, error) {
	if name == l.name {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrPermission}
	}
	return fs.ReadDir(l.FS, name)
}

func TestImageFolderSaysWhichImagesItSkips(t *testing.T) {
	f := imageFolder(t, fstest.MapFS{
		"cat/a.jpg": {}, "cat/b.HEIC": {}, "cat/in/c.heic": {}, "cat/notes.txt": {}, "cat/.x.heic": {},
		"dog/a.avif": {}, "dog/b.png": {}, "dog/c.jfif": {}, "dog/d.heic/e.png": {}, "top.avif": {},
	})
	if got, want := f.String(), "3 images of 2 classes, skipped 1 .avif, 2 .heic, 1 .jfif, 1 .txt"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got, want := imageFolder(t, pets).String(), "6 images of 2 classes, skipped 1 .txt"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	_, err := dataset.ImageFolder(fstest.MapFS{"cat/a.heic": {}})
	if err == nil || !strings.HasSuffix(err.Error(), ".pnm), skipped 1 .heic") {
		t.Errorf("got error %v", err)
	}
}

func TestImageFolderReadsNamesThatAreNotUTF8(t *testing.T) {
	root := t.TempDir()
	if err := os.Mkdir(filepath.Join(root, "caf\xe9"), 0o755); err != nil {
		t.Skipf("cannot make names that are not UTF-8 here: %v", err)
	}
	if entries, err := os.ReadDir(root); err != nil || entries[0].Name() != "caf\xe9" {
		t.Skipf("cannot make names that are not UTF-8 here: %q, %v", entries, err)
	}
	write(t, filepath.Join(root, "caf\xe9", "na\xefve.jpg"), "image")
	f := imageFolder(t, os.DirFS(root))
	if got, want := f.Name(0), "caf\xe9/na\xefve.jpg"; got != want {
		t.Errorf("path %q, want %q", got, want)
	}
	s, err := dataset.At(t.Context(), f, 0)
	if err != nil {
		t.Fatal(err)
	}
	if got := string(dataset.ValuesOf[uint8](s["image"])); got != "image" {
		t.Errorf("got %q", got)
	}
}

func TestImageFolderNamesAtMostTenErrors(t *testing.T) {
	many := fstest.MapFS{}
	for _, c := range "abcdefghijkl" {
		many[string(c)+"/x.txt"] = &fstest.MapFile{}
	}
	_, err := dataset.ImageFolder(many)
	if err == nil || !strings.HasSuffix(err.Error(), "and 2 more errors") || strings.Count(err.Error(), "\n") != 10 {
		t.Errorf("got error\n%v", err)
	}
}

func TestImageFolderFollowsLinksButNotInCircles(t *testing.T) {
	root := t.TempDir()
	other := t.TempDir()
	write(t, filepath.Join(other, "b.jpg"), "b")
	write(t, filepath.Join(root, "cat", "a.jpg"), "a")
	write(t, filepath.Join(root, "cat", "kitten", "k.jpg"), "k")
	for name, target := range map[string]string{
		"dog":              other, // a class
		"cat/deep":         other, // a folder in a class
		"cat/b.jpg":        filepath.Join(other, "b.jpg"),
		"cat/kitten/loop":  filepath.Join(root, "cat"),
		"cat/kitten/self":  ".",
		"cat/round.jpg":    ".",
		"cat/dangling":     "nowhere",
		"cat/dangling.jpg": "nowhere",
	} {
		if err := os.Symlink(target, filepath.Join(root, filepath.FromSlash(name))); err != nil {
			t.Skipf("cannot make links here: %v", err)
		}
		if _, err := os.Readlink(filepath.Join(root, filepath.FromSlash(name))); err != nil {
			t.Skipf("cannot make links here: %v", err) // in an emulator of Windows
		}
	}
	f := imageFolder(t, os.DirFS(root))
	want := []string{"cat/a.jpg", "cat/b.jpg", "cat/dangling.jpg", "cat/deep/b.jpg", "cat/kitten/k.jpg", "dog/b.jpg"}
	if got := list(f); !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
	_, err := dataset.At(t.Context(), f, 2)
	if want := "dataset: sample 2 (cat/dangling.jpg): " + syscall.ENOENT.Error(); err == nil || err.Error() != want {
		t.Errorf("got error %v, want %s", err, want)
	}
}

func TestImageFolderGivesUpOnEndlessNesting(t *testing.T) {
	_, err := dataset.ImageFolder(endless{})
	if err == nil || !strings.HasSuffix(err.Error(), "more than 64 nested folders") {
		t.Errorf("got error %v", err)
	}
}

// endless is a file system in which every folder holds another one.
type endless struct{ fs.FS }

func TestFilesOfAnyKindHaveClasses(t *testing.T) {
	fsys := fstest.MapFS{"no/a.WAV": {Data: []byte("a")}, "no/b.jpg": {}, "yes/in/c.wav": {Data: []byte("c")}, "yes/d.flac": {Data: []byte("dd")}}
	f, err := dataset.Files(fsys, "audio", []string{".wav", ".flac"})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := list(f), []string{"no/a.WAV", "yes/d.flac", "yes/in/c.wav"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if got, want := fmt.Sprint(f, f.Spec(), f.Labels()), "3 files of 2 classes, skipped 1 .jpg audio uint8 (n), label int64 () [0 1 1]"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if s, err := dataset.At(t.Context(), f, 1); err != nil || string(s["audio"].Bytes()) != "dd" {
		t.Errorf("got %v, %v", s, err)
	}
	if f, err := dataset.Files(fsys, "audio", []string{".wav"}, dataset.NoClasses()); err != nil || f.String() != "2 files, skipped 1 .flac, 1 .jpg" || f.Classes() != nil {
		t.Errorf("without classes: %v, %v", f, err)
	}
	for _, wrong := range [][]string{{""}, {"."}, {"wav"}, {".tar.gz"}, nil} {
		if _, err := dataset.Files(fsys, "audio", wrong); err == nil {
			t.Errorf("extensions %q are no error", wrong)
		}
	}
	for want, c := range map[string]func() (*dataset.Folder, error){
		"dataset: Files: the file system is nil":                             func() (*dataset.Folder, error) { return dataset.Files(nil, "x", []string{".wav"}) },
		"dataset: folder: class no: no file (.flac), skipped 1 .jpg, 1 .wav": func() (*dataset.Folder, error) { return dataset.Files(fsys, "x", []string{".flac"}) },
		"dataset: spec: two fields are named \"label\"":                      func() (*dataset.Folder, error) { return dataset.Files(fsys, "label", []string{".wav"}) },
	} {
		if _, err := c(); err == nil || err.Error() != want {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}

func TestFewOfManyExtensionsAreNamed(t *testing.T) {
	fsys := fstest.MapFS{"cat/a.jpg": {}, "cat/a.txt": {}, "cat/b.txt": {}}
	for i := range 1000 {
		fsys[fmt.Sprintf("cat/scan.%04d", i)] = &fstest.MapFile{}
	}
	const want = "1 image of 1 class, skipped 1 .0000, 1 .0001, 1 .0002, 1 .0003, 1 .0004, 1 .0005, 1 .0006, 1 .0007, 1 .0008, 2 .txt, 991 others"
	if got := imageFolder(t, fsys).String(); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}
