package cache_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/dataset/objects"
	"github.com/penstock-go/penstock/dataset/objects/cache"
	"github.com/penstock-go/penstock/internal/datatest"
	"github.com/penstock-go/penstock/internal/files"
	"github.com/penstock-go/penstock/internal/testenv"
)

func TestBlocksAreServedFromDiskInThisRunAndInLaterOnes(t *testing.T) {
	s, dir := newSource(50), t.TempDir()
	for run := range 2 {
		c := open(t, s, dir, s.room())
		for range 2 {
			s.read(t, c, upTo(50)...)
		}
		got := c.Stats()
		if run == 0 && (got.Hits != 50 || got.Misses != 50 || got.Stored != 50) || run == 1 && (got.Hits != 100 || got.Misses != 0) {
			t.Errorf("run %d: %v", run, got)
		}
		if got.Used != s.room() || got.HitBytes+got.MissBytes != 2*(s.room()-4*50) {
			t.Errorf("run %d: %+v, want %d bytes", run, got, s.room())
		}
		if err := c.Close(); err != nil {
			t.Error(err)
		}
		if err := c.ReadAt(t.Context(), s.object(0), make([]byte, 1), 0); !errors.Is(err, fs.ErrClosed) || !dataset.MayPass(err) || !persists(err) {
			t.Errorf("a read after Close: %v", err)
		}
	}
	if n := s.reads.Load(); n != 50 {
		t.Errorf("%d reads of the store, want one per block", n)
	}
}

// The claim that the policy is made for: no policy has more hits than the share that fits,
// and this one has as many, from the second epoch on.
func TestSecondEpochHitsTheShareThatFits(t *testing.T) {
	testenv.Whole(t)
	const n = 400
	for _, share := range []float64{0.25, 0.5, 0.75} {
		for _, caches := range []int{1, 3} { // of one folder, as several processes have
			s, dir := newSource(n), t.TempDir()
			limit := int64(share * float64(s.room()))
			var all []*cache.Cache
			for range caches {
				all = append(all, open(t, s, dir, limit))
			}
			r := rand.New(rand.NewPCG(1, uint64(100*share)))
			for epoch := range 3 {
				before := s.reads.Load()
				for k, i := range r.Perm(n) {
					s.read(t, all[k%caches], i)
				}
				hits := 1 - float64(s.reads.Load()-before)/n
				t.Logf("share %v, %d caches, epoch %d: %.1f %% hits", share, caches, epoch, 100*hits)
				if epoch > 0 && hits < share-0.01 {
					t.Errorf("share %v, %d caches, epoch %d: %.1f %% hits", share, caches, epoch, 100*hits)
				}
			}
			if _, _, used := tree(t, dir); used > limit || used != all[0].Stats().Used {
				t.Errorf("%d bytes in the folder, the limit is %d, Stats says %d", used, limit, all[0].Stats().Used)
			}
		}
	}
}

func TestRangesAreBlocksOfTheirOwn(t *testing.T) {
	s := newSource(1)
	c := open(t, s, t.TempDir(), 100*blockSize)
	want := content("0", "v1", s.size)
	for range 2 {
		for _, r := range [][2]int{{0, 10}, {5, 15}, {0, len(want)}, {len(want) - 1, len(want)}, {7, 7}} {
			p := make([]byte, r[1]-r[0])
			if err := c.ReadAt(t.Context(), s.object(0), p, int64(r[0])); err != nil || string(p) != string(want[r[0]:r[1]]) {
				t.Errorf("%v: %v", r, err)
			}
			if len(p) > 0 != c.Has(s.object(0), int64(r[0]), int64(len(p))) {
				t.Errorf("%v: Has is wrong", r)
			}
		}
	}
	if got := c.Stats(); got.Hits != 4 || got.Misses != 4 || got.Passed != 0 {
		t.Errorf("%v", got)
	}
	for _, r := range [][2]int64{{1, 9000}, {-1, 2}, {1 << 40, 1}} {
		if err := c.ReadAt(t.Context(), s.object(0), make([]byte, r[1]), r[0]); err == nil {
			t.Errorf("%d bytes from byte %d: no error", r[1], r[0])
		}
	}
}

func TestBytesThatAreReadOnceAreNotKept(t *testing.T) {
	s := newSource(1)
	c := open(t, s, t.TempDir(), 100*blockSize)
	o := s.object(0)
	p := make([]byte, o.Size)
	for range 2 {
		ctx, cancel := context.WithCancel(files.Once(t.Context()))
		if err := c.ReadAt(ctx, o, p, 0); err != nil || string(p) != string(content("0", "v1", s.size)) {
			t.Error(err)
		}
		cancel()
	}
	if got := c.Stats(); got.Passed != 2 || got.Stored != 0 || c.Has(o, 0, o.Size) {
		t.Errorf("%v", got)
	}
}

func TestLongReadsAreSeveralBlocks(t *testing.T) {
	s := newSource(3)
	s.size = 3 * blockSize
	c := open(t, s, t.TempDir(), 100*blockSize)
	o := s.object(1)
	blocks := (o.Size + blockSize - 1) / blockSize
	for range 3 {
		s.read(t, c, 1) // compares the bytes
		if !c.Has(o, 0, o.Size) || c.Has(o, 1, o.Size-1) || c.Has(s.object(2), 0, s.object(2).Size) {
			t.Error("Has is wrong")
		}
	}
	if got := c.Stats(); got.Misses != blocks || got.Hits != 2*blocks || got.HitBytes != 2*o.Size || got.Passed != 0 || s.reads.Load() != blocks {
		t.Errorf("%v, and %d reads of the store for %d blocks", got, s.reads.Load(), blocks)
	}
	c.Forget(o, 0, o.Size)
	s.read(t, c, 1)
	if got := c.Stats(); got.Misses != 2*blocks || got.Damaged != blocks || c.Stats().Used != o.Size+4*blocks {
		t.Errorf("after Forget: %v", got)
	}
}

// An object of unknown size, and a range that ends after the largest int64.
func TestARangeThatCannotBeIsAnErrorOfTheStore(t *testing.T) {
	s := newSource(1)
	c := open(t, s, t.TempDir(), 100*blockSize)
	o := s.object(0)
	o.Size = -1
	if err := c.ReadAt(t.Context(), o, make([]byte, 10), math.MaxInt64-1); err == nil {
		t.Error("no error")
	}
	if c.Has(o, math.MaxInt64-1, 10) {
		t.Error("Has says that it is there")
	}
}

func TestReplacedObjectsHaveNewBlocks(t *testing.T) {
	s := newSource(3)
	c := open(t, s, t.TempDir(), 100*blockSize)
	s.read(t, c, 0, 1, 2)
	old := s.object(0)
	s.version = "v2"
	s.read(t, c, 0, 1, 2)
	if err := c.ReadAt(t.Context(), old, make([]byte, 9), 1); !errors.Is(err, objects.ErrReplaced) {
		t.Errorf("a part of the old version: %v", err)
	}
}

func TestUnknownVersionsAreAskedForOnce(t *testing.T) {
	s, dir := newSource(3), t.TempDir()
	for range 2 {
		c := open(t, s, dir, 100*blockSize)
		for range 3 {
			o := s.object(1)
			o.Version = ""
			p := make([]byte, o.Size)
			if err := c.ReadAt(t.Context(), o, p, 0); err != nil || string(p) != string(content("1", "v1", s.size)) {
				t.Error(err)
			}
			if !c.Has(o, 0, o.Size) {
				t.Error("the block is not there")
			}
		}
	}
	if s.reads.Load() != 1 || s.stats.Load() != 2 {
		t.Errorf("%d reads and %d Stats, want 1 and 2", s.reads.Load(), s.stats.Load())
	}
	s.silent = true
	c := open(t, s, t.TempDir(), 100*blockSize)
	for range 2 {
		if err := c.ReadAt(t.Context(), objects.Object{Name: "1", Size: -1}, make([]byte, 3), 0); err != nil {
			t.Error(err)
		}
	}
	if got := c.Stats(); got.Passed != 2 || got.Hits+got.Misses != 0 {
		t.Errorf("a store without versions: %v", got)
	}
}

func TestErrorsOfTheStoreAreNotKept(t *testing.T) {
	s := newSource(1)
	c := open(t, s, t.TempDir(), 100*blockSize)
	o := s.object(0)
	s.version = "v2"
	if err := c.ReadAt(t.Context(), o, make([]byte, o.Size), 0); !errors.Is(err, objects.ErrReplaced) {
		t.Error(err)
	}
	s.version = "v1"
	s.read(t, c, 0)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := c.ReadAt(ctx, o, make([]byte, o.Size), 0); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

func TestImageFolderOverACacheIsTheSame(t *testing.T) {
	dir := t.TempDir()
	r := rand.NewChaCha8([32]byte{1})
	for i := range 30 {
		name := filepath.Join(dir, fmt.Sprintf("class %d", i%3), fmt.Sprintf("%d.jpg", i))
		data := make([]byte, 10_000*i+1)
		r.Read(data)
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := dataset.ImageFolder(os.DirFS(dir))
	if err != nil {
		t.Fatal(err)
	}
	c, err := cache.New(objects.Folder(dir), t.TempDir(), 256<<20)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	fsys, err := objects.NewFS(t.Context(), c, "")
	if err != nil {
		t.Fatal(err)
	}
	got, err := dataset.ImageFolder(fsys)
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		datatest.Same(t, got, want)
	}
	if s := c.Stats(); s.Misses != 30 || s.Hits < 30 || s.Stored != 30 {
		t.Errorf("%v", s)
	}
}

func TestStatsAreOneLine(t *testing.T) {
	s := cache.Stats{Hits: 750, Misses: 250, HitBytes: 6 << 30, MissBytes: 2 << 30, Used: 2 << 30, Limit: 2 << 30}
	const want = "75.0% hits (750 of 1000 reads), 6 GiB read from disk, 2 GiB from the store; 2 GiB of 2 GiB used"
	if got := s.String(); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	s.Damaged = 2
	if got := s.String(); got != want+"; 2 damaged, 0 disk errors" {
		t.Error(got)
	}
	s.DiskErrors, s.DiskError = 3, fs.ErrPermission
	if got := s.String(); got != want+"; 2 damaged, 3 disk errors, the latest: permission denied" {
		t.Error(got)
	}
	dir := t.TempDir()
	if got := open(t, newSource(1), dir, 1<<20).String(); got != "blocks of source in "+dir+", at most 1 MiB" {
		t.Error(got)
	}
}

func persists(err error) bool {
	var e interface{ Persistent() bool }
	return errors.As(err, &e) && e.Persistent()
}
