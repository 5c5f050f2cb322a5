package files_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"testing/fstest"

	"github.com/penstock-go/penstock/internal/files"
)

// latin makes a folder with names in Latin-1, if the system allows such names.
func latin(t *testing.T) string {
	root := t.TempDir()
	folder := filepath.Join(root, "caf\xe9")
	if err := os.Mkdir(folder, 0o755); err != nil {
		t.Skipf("cannot make names that are not UTF-8 here: %v", err)
	}
	for _, name := range []string{"na\xefve.jpg", "plain.jpg"} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(name), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

func TestNamesThatAreNotUTF8AreFound(t *testing.T) {
	fsys := os.DirFS(latin(t))
	const name = "caf\xe9/na\xefve.jpg"
	if _, err := fs.ReadFile(fsys, name); err == nil {
		t.Error("io/fs takes such names by itself now")
	}
	fsys = files.AnyName(fsys)
	if got, err := fs.ReadFile(fsys, name); err != nil || string(got) != "na\xefve.jpg" {
		t.Errorf("got %q, error %v", got, err)
	}
	if entries, err := fs.ReadDir(fsys, "caf\xe9"); err != nil || len(entries) != 2 {
		t.Errorf("got %v, error %v", entries, err)
	}
	if info, err := fs.Stat(fsys, name); err != nil || info.Size() != 9 {
		t.Errorf("got %v, error %v", info, err)
	}
}

func TestAnyNameStaysInsideItsFolder(t *testing.T) {
	root := latin(t)
	fsys := files.AnyName(os.DirFS(filepath.Join(root, "caf\xe9")))
	for _, name := range []string{"..", "../caf\xe9", "a/../../x", "/etc", "", "\xe9/../..", "plain.jpg/"} {
		if _, err := fsys.Open(name); !errors.Is(err, fs.ErrInvalid) {
			t.Errorf("Open(%q): error %v, want fs.ErrInvalid", name, err)
		}
	}
	if _, err := fsys.Open("plain.jpg/\xe9\x00"); err == nil {
		t.Error("a name with a zero is opened")
	}
	if err := fstest.TestFS(files.AnyName(os.DirFS(t.TempDir())), []string{}...); err != nil {
		t.Error(err)
	}
}

func TestAnyNameLeavesOtherFileSystems(t *testing.T) {
	m := fstest.MapFS{}
	if got, ok := files.AnyName(m).(fstest.MapFS); !ok || got == nil {
		t.Errorf("got %T", files.AnyName(m))
	}
}
