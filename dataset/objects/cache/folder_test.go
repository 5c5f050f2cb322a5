package cache_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/penstock-go/penstock/dataset/objects"
	"github.com/penstock-go/penstock/dataset/objects/cache"
	"github.com/penstock-go/penstock/internal/private"
)

func TestNewSaysWhatIsWrong(t *testing.T) {
	s := newSource(1)
	foreign, other := t.TempDir(), t.TempDir()
	for name, data := range map[string]string{filepath.Join(foreign, "thesis.tex"): "mine", filepath.Join(other, "CACHEDIR.TAG"): "Signature: 8a477f597d28d172789f06886806bc55\n# of another program\n"} {
		if err := os.WriteFile(name, []byte(data), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	file := filepath.Join(foreign, "thesis.tex")
	for _, c := range []struct {
		store   objects.Store
		dir     string
		limit   int64
		options []cache.Option
		want    string
	}{
		{s, t.TempDir(), 256<<20 - 1, nil, "cache: limit of 268435455 bytes: want at least 4 times BlockSize, 268435456"},
		{s, t.TempDir(), 39, []cache.Option{cache.BlockSize(10)}, "cache: limit of 39 bytes: want at least 4 times BlockSize, 40"},
		{s, t.TempDir(), 39, []cache.Option{cache.BlockSize(0)}, "cache: BlockSize(0): want 1 or more"},
		{s, t.TempDir(), 1 << 40, []cache.Option{cache.BlockSize(1<<30 + 1)}, "cache: BlockSize(1073741825): want 1073741824 at most"},
		{anonymous{s}, t.TempDir(), 1 << 40, nil, "cache: the store has no identity: want Identity"},
		{s, foreign, 1 << 40, nil, "cache: folder " + foreign + ": holds thesis.tex and no valid CACHEDIR.TAG: want an empty folder, or one that New has made"},
		{s, other, 1 << 40, nil, "cache: folder " + other + ": CACHEDIR.TAG is of another program or another version"},
		{s, file, 1 << 40, nil, "cache: folder " + file + ": " + syscall.ENOTDIR.Error()},
	} {
		_, err := cache.New(c.store, c.dir, c.limit, c.options...)
		if err == nil || err.Error() != c.want {
			t.Errorf("got  %v\nwant %s", err, c.want)
		}
	}
	if data, err := os.ReadFile(file); err != nil || string(data) != "mine" {
		t.Error("a foreign file has changed")
	}
}

// anonymous has no identity.
type anonymous struct{ objects.Store }

func (anonymous) Identity() string { return "" }

func TestIdentityTellsStoresApart(t *testing.T) {
	dir := t.TempDir()
	s := newSource(1)
	for _, name := range []string{"one", "two", "one"} {
		c := open(t, anonymous{s}, dir, 100*blockSize, cache.Identity(name))
		if c.Identity() != name {
			t.Errorf("identity %q", c.Identity())
		}
		s.read(t, c, 0)
	}
	if n := s.reads.Load(); n != 2 {
		t.Errorf("%d reads of the store, want 2", n)
	}
}

func TestForeignFilesAreLeftAlone(t *testing.T) {
	s, dir := newSource(50), t.TempDir()
	c := open(t, s, dir, s.room()/4)
	s.read(t, c, upTo(50)...)
	names := []string{"notes.txt", "ff/notes.txt", "zz/" + strings.Repeat("0", 30), "ff.part", "backup.session"}
	for _, name := range names {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), make([]byte, 1<<20), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	again := open(t, s, dir, 4*blockSize)
	s.read(t, again, upTo(50)...)
	for _, name := range names {
		if _, err := os.Stat(filepath.Join(dir, name)); err != nil {
			t.Error(err)
		}
	}
	if got := again.Stats(); got.Used > got.Limit || got.DiskErrors > 0 {
		t.Errorf("%v", got)
	}
}

func TestUnusedBlocksAreDeletedByNew(t *testing.T) {
	s, dir := newSource(10), t.TempDir()
	c := open(t, s, dir, s.room())
	s.read(t, c, upTo(10)...)
	blocks, _, _ := tree(t, dir)
	old := time.Now().Add(-73 * time.Hour)
	for _, name := range blocks {
		if err := os.Chtimes(name, old, old); err != nil {
			t.Fatal(err)
		}
	}
	s.read(t, c, 0, 1, 2)
	open(t, s, dir, s.room())
	if left, _, used := tree(t, dir); len(left) != 3 || used != c.Stats().Used {
		t.Errorf("%d blocks are left, want the 3 that were used: %v", len(left), c.Stats())
	}
}

func TestSmallerLimitIsKeptFromTheStart(t *testing.T) {
	s, dir := newSource(40), t.TempDir()
	c := open(t, s, dir, s.room())
	s.read(t, c, upTo(40)...)
	open(t, s, dir, s.room()/2)
	if _, _, used := tree(t, dir); used > s.room()/2 || used < s.room()/2-2*blockSize {
		t.Errorf("%d bytes, the limit is %d", used, s.room()/2)
	}
}

// A disk that fails makes reads slower, not wrong.
func TestDiskErrorsLeadToReadsFromTheStore(t *testing.T) {
	for name, breakIt := range map[string]func(dir string) error{
		"files in place of folders": func(dir string) error {
			for i := range 256 {
				if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("%02x", i)), nil, 0o600); err != nil {
					return err
				}
			}
			return nil
		},
		"the folder is gone": os.RemoveAll,
	} {
		s, dir := newSource(20), filepath.Join(t.TempDir(), "blocks")
		c, err := cache.New(s, dir, s.room(), cache.BlockSize(blockSize))
		if err != nil {
			t.Fatal(err)
		}
		if err := breakIt(dir); err != nil {
			if runtime.GOOS != "windows" { // there, a folder that is in use may not be removed
				t.Fatal(err)
			}
			t.Logf("%s: not tested: %v", name, err)
			_ = c.Close() // the folder is broken
			continue
		}
		for range 2 {
			s.read(t, c, upTo(20)...)
		}
		got := c.Stats()
		if got.Misses != 40 || got.Hits != 0 || got.DiskErrors == 0 || got.DiskError == nil || !strings.Contains(got.String(), "disk error") {
			t.Errorf("%s: %v", name, got)
		}
		_ = c.Close() // the folder is broken
	}
}

func TestPartsOfLivingProcessesStayAndThoseOfDeadOnesGo(t *testing.T) {
	s, dir := newSource(1), t.TempDir()
	open(t, s, dir, 4*blockSize)
	key := strings.Repeat("0", 32)
	living, dead := key+".fedcba9876543210.part", key+".0123456789abcdef.part"
	for _, name := range []string{living, dead} {
		if err := os.WriteFile(filepath.Join(dir, name), make([]byte, 100), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	f, err := os.OpenFile(filepath.Join(dir, living), os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := private.Lock(f); err != nil {
		t.Fatal(err)
	}
	c := open(t, s, dir, 4*blockSize)
	_, others, _ := tree(t, dir)
	if !slices.Contains(others, living) || slices.Contains(others, dead) {
		t.Errorf("left: %v", others)
	}
	if used := c.Stats().Used; used != 100 {
		t.Errorf("%d bytes used, want those of the living part", used)
	}
}

// TestManyMayOpenAFolderThatIsNew at the same time. Some write blocks before others have looked for
// the tag.
func TestManyMayOpenAFolderThatIsNew(t *testing.T) {
	s := newSource(2)
	rounds := 300
	if testing.Short() {
		rounds = 30
	}
	for range rounds {
		dir := t.TempDir()
		var group errgroup.Group
		for range 8 {
			group.Go(func() error {
				c, err := cache.New(s, dir, 8*blockSize, cache.BlockSize(blockSize))
				if err != nil {
					return err
				}
				p := make([]byte, s.object(0).Size)
				return errors.Join(c.ReadAt(t.Context(), s.object(0), p, 0), c.Close())
			})
		}
		if err := group.Wait(); err != nil {
			t.Fatal(err)
		}
	}
}
