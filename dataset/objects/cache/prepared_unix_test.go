//go:build unix

package cache_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/penstock-go/penstock/dataset/objects/cache"
)

const cacheTag = "Signature: 8a477f597d28d172789f06886806bc55\n# blocks of penstock, format 1\n"

// prepared is a folder that looks like a cache, with these permissions.
func prepared(t *testing.T, perm os.FileMode) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "penstock-cache")
	for _, err := range []error{
		os.Mkdir(dir, 0o700),
		os.Chmod(dir, perm),
		os.WriteFile(filepath.Join(dir, "CACHEDIR.TAG"), []byte(cacheTag), 0o666),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestAFolderThatOthersMayHavePreparedIsRefused(t *testing.T) {
	_, err := cache.New(newSource(1), prepared(t, 0o777), 1<<30)
	if err == nil || !strings.Contains(err.Error(), "penstock-cache: other users can write to it (drwxrwxrwx): choose a new folder") {
		t.Errorf("error %v", err)
	}
}

func TestNoLinkInAFolderIsWrittenThrough(t *testing.T) {
	for _, name := range []string{"lock", "CACHEDIR.TAG"} {
		precious := filepath.Join(t.TempDir(), "authorized_keys")
		const text = "ssh-ed25519 AAAAC3Nza victim@host\n"
		if err := os.WriteFile(precious, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		dir := prepared(t, 0o700)
		_ = os.Remove(filepath.Join(dir, name))
		if err := os.Symlink(precious, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
		if _, err := cache.New(newSource(1), dir, 1<<30); err == nil || !strings.Contains(err.Error(), name+" is no regular file: L") {
			t.Errorf("%s: error %v", name, err)
		}
		if got, err := os.ReadFile(precious); string(got) != text || err != nil {
			t.Errorf("%s: the file behind the link has %q, %v", name, got, err)
		}
	}
}

// The checksum of a block needs no secret, but a block of somebody else's is not read.
func TestABlockOfAnotherUserIsNotRead(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only the administrator gives files to others")
	}
	s, dir := newSource(3), t.TempDir()
	c := open(t, s, dir, 10*blockSize)
	s.read(t, c, upTo(3)...)
	blocks, _, _ := tree(t, dir)
	for _, name := range blocks {
		if err := os.Chown(name, 65534, 65534); err != nil {
			t.Fatal(err)
		}
	}
	s.read(t, c, upTo(3)...)
	got := c.Stats()
	if got.Hits != 0 || got.Misses != 6 || got.DiskErrors != 3 || !strings.Contains(got.DiskError.Error(), "belongs to another user") {
		t.Errorf("%v", got)
	}
}
