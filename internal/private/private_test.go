//go:build unix

package private_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/penstock-go/penstock/internal/private"
)

const nobody = 65534

// give gives a file to another user.
func give(t *testing.T, name string) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("only the administrator gives files to others")
	}
	if err := os.Lchown(name, nobody, nobody); err != nil {
		t.Fatal(err)
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// folder is a folder with these permissions, also those that the umask takes.
func folder(t *testing.T, perm fs.FileMode) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "folder")
	must(t, os.Mkdir(dir, 0o700))
	must(t, os.Chmod(dir, perm))
	return dir
}

func wantError(t *testing.T, err error, want string) {
	t.Helper()
	if err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("error %v, want %s", err, want)
	}
}

func openFolder(t *testing.T, dir string) *private.Folder {
	t.Helper()
	f, err := private.Open(dir)
	must(t, err)
	t.Cleanup(func() { f.Close() })
	return f
}

func wantPermissions(t *testing.T, name string, want fs.FileMode) {
	t.Helper()
	info, err := os.Stat(name)
	must(t, err)
	if got := info.Mode().Perm(); got != want {
		t.Errorf("%s has the permissions %v, want %v", name, got, want)
	}
}

func TestANewFolderIsItsUsersAlone(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a", "b")
	f := openFolder(t, dir)
	must(t, f.Mkdir("sub"))
	file, err := f.OpenFile("file", os.O_WRONLY|os.O_CREATE)
	must(t, err)
	must(t, file.Close())
	wantPermissions(t, dir, 0o700)
	wantPermissions(t, filepath.Join(dir, "sub"), 0o700)
	wantPermissions(t, filepath.Join(dir, "file"), 0o600)
}

func TestAFolderToWhichOthersCanWriteIsRefused(t *testing.T) {
	for _, perm := range []fs.FileMode{0o770, 0o707, 0o777 | fs.ModeSticky} {
		dir := folder(t, perm)
		must(t, os.WriteFile(filepath.Join(dir, "file"), nil, 0o600))
		_, err := private.Open(dir)
		wantError(t, err, "other users can write to it (d")
		wantPermissions(t, dir, perm.Perm())
	}
}

func TestAnEmptyFolderBecomesPrivate(t *testing.T) {
	dir := folder(t, 0o777)
	openFolder(t, dir)
	wantPermissions(t, dir, 0o755)
}

func TestAFolderThatOthersOnlyReadIsTakenAsItIs(t *testing.T) {
	dir := folder(t, 0o755)
	must(t, os.WriteFile(filepath.Join(dir, "file"), nil, 0o600))
	openFolder(t, dir)
	wantPermissions(t, dir, 0o755)
}

func TestAFolderOfAnotherUserIsRefused(t *testing.T) {
	dir := folder(t, 0o700)
	give(t, dir)
	_, err := private.Open(dir)
	wantError(t, err, "belongs to another user")
}

func TestALinkToAFolderIsFollowedIfNobodyElseHasMadeIt(t *testing.T) {
	dir := folder(t, 0o700)
	link := filepath.Join(t.TempDir(), "link")
	must(t, os.Symlink(dir, link))
	openFolder(t, link)
	give(t, link)
	for _, name := range []string{link, link + "/", link + "/."} {
		_, err := private.Open(name)
		wantError(t, err, "is a symbolic link of another user")
	}
}

// opened opens a file in both ways.
func opened(t *testing.T, dir, name string, flag int) map[string]error {
	t.Helper()
	errs := map[string]error{}
	f, err := openFolder(t, dir).OpenFile(name, flag)
	errs["Folder.OpenFile"] = err
	if err == nil {
		must(t, f.Close())
	}
	f, err = private.OpenFile(filepath.Join(dir, name), flag, 0o600)
	errs["OpenFile"] = err
	if err == nil {
		must(t, f.Close())
	}
	return errs
}

func TestOnlyFilesOfTheUserAreOpened(t *testing.T) {
	const foreign = "a file of somebody else"
	precious := filepath.Join(t.TempDir(), "precious")
	must(t, os.WriteFile(precious, []byte("precious"), 0o600))
	for name, c := range map[string]struct {
		prepare func(name string) error
		want    string
		reads   bool // whether it can be opened for reading
	}{
		"a link":            {func(name string) error { return os.Symlink(precious, name) }, "is no regular file: L", false},
		"a link to nothing": {func(name string) error { return os.Symlink("nothing", name) }, "is no regular file: L", false},
		"a pipe":            {func(name string) error { return syscall.Mkfifo(name, 0o600) }, "is no regular file: p", false},
		"a folder":          {func(name string) error { return os.Mkdir(name, 0o700) }, "is no regular file: d", false},
		"a second name":     {func(name string) error { return os.Link(precious, name) }, "has another name, too", true},
		foreign:             {func(name string) error { return os.WriteFile(name, nil, 0o666) }, "belongs to another user", false},
	} {
		t.Run(name, func(t *testing.T) {
			for _, flag := range []int{os.O_RDONLY, os.O_RDWR, os.O_RDWR | os.O_CREATE, os.O_WRONLY | os.O_CREATE | os.O_TRUNC, os.O_WRONLY | os.O_APPEND} {
				dir := folder(t, 0o700)
				must(t, c.prepare(filepath.Join(dir, "file")))
				if name == foreign {
					give(t, filepath.Join(dir, "file"))
				}
				for call, err := range opened(t, dir, "file", flag) {
					if flag == os.O_RDONLY && c.reads {
						must(t, err)
					} else if err == nil || !strings.Contains(err.Error(), c.want) {
						t.Errorf("%s, flags %#x: error %v, want %s", call, flag, err, c.want)
					}
				}
				if text, err := os.ReadFile(precious); string(text) != "precious" || err != nil {
					t.Fatalf("flags %#x: the file has %q, %v", flag, text, err)
				}
			}
		})
	}
}

func TestNoNameLeadsOutOfAFolder(t *testing.T) {
	outside := folder(t, 0o700)
	must(t, os.WriteFile(filepath.Join(outside, "file"), []byte("text"), 0o600))
	dir := folder(t, 0o700)
	must(t, os.Symlink(outside, filepath.Join(dir, "ab")))
	f := openFolder(t, dir)
	for _, name := range []string{"ab/file", "../" + filepath.Base(dir) + "/x", filepath.Join(outside, "file")} {
		_, err := f.Open(name)
		_, list := f.ReadDir(filepath.Dir(name))
		for call, err := range map[string]error{
			"Open": err, "ReadDir": list, "Remove": f.Remove(name), "Rename": f.Rename(name, "x"), "Touch": f.Touch(name), "Mkdir": f.Mkdir(name + "2"),
		} {
			if err == nil {
				t.Errorf("%s of %s: no error", call, name)
			}
		}
	}
	if _, err := os.Stat(filepath.Join(outside, "file")); err != nil {
		t.Error(err)
	}
}

func TestReadFileIsLimited(t *testing.T) {
	dir := folder(t, 0o700)
	must(t, os.WriteFile(filepath.Join(dir, "file"), []byte("text"), 0o600))
	f := openFolder(t, dir)
	if text, err := f.ReadFile("file", 4); string(text) != "text" || err != nil {
		t.Errorf("got %q, %v", text, err)
	}
	_, err := f.ReadFile("file", 3)
	wantError(t, err, "file has 4 bytes, more than 3")
}

func TestErrorsHaveThePath(t *testing.T) {
	for _, name := range []string{"none", "none/file"} {
		path := filepath.Join(t.TempDir(), name)
		_, err := private.OpenFile(path, os.O_RDWR, 0)
		if e, ok := errors.AsType[*fs.PathError](err); !ok || e.Path != path || !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("error %v", err)
		}
	}
}
