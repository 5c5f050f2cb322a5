package shards_test

import (
	"testing"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/dataset/objects"
	"github.com/penstock-go/penstock/dataset/objects/cache"
	"github.com/penstock-go/penstock/dataset/shards"
	"github.com/penstock-go/penstock/internal/datatest"
)

// What a scan reads would take the room of blocks, which are read in every epoch.
func TestAScanLeavesTheCacheToTheBlocks(t *testing.T) {
	s := numberedShards(t, 2, 10)
	disk, err := cache.New(s, t.TempDir(), 1<<20, cache.BlockSize(1<<18), cache.Identity("numbers"))
	if err != nil {
		t.Skip(err) // some systems cannot have one
	}
	defer disk.Close()
	index := scan(t, disk, shards.WebDataset(), 5120, "s{0..1}.tar")
	if got := disk.Stats(); got.Stored != 0 || got.Used != 0 {
		t.Errorf("after the scan: %v", got)
	}
	ds := numberedDataset(t, disk, index, shards.MaxBytes(0))
	for range 2 {
		for i := range ds.Len() {
			if _, err := dataset.At(t.Context(), ds, i); err != nil {
				t.Fatal(err)
			}
		}
	}
	blocks := int64(len(ds.Ends()))
	if got := disk.Stats(); got.Stored != blocks || got.Misses != blocks || got.Hits < blocks {
		t.Errorf("after two epochs of %d blocks: %v", blocks, got)
	}
}

// stubborn is a cache that cannot forget.
type stubborn struct{ objects.Store }

func TestDamagedBlocksOfADividedRangeAreReadAgain(t *testing.T) {
	for _, damaged := range []int64{5120, 5120 + 2560, 5120 + 5120 - 512} { // the first, one in the middle and the last of ten
		s, index := numbered(t)
		disk, err := cache.New(s, t.TempDir(), 1<<20, cache.BlockSize(512), cache.Identity("numbers"))
		if err != nil {
			t.Skip(err) // some systems cannot have one
		}
		defer disk.Close()
		s.damage = func(_ string, off int64, p []byte) {
			if off == damaged && len(p) == 512 {
				p[100] ^= 1
			}
		}
		ds := numberedDataset(t, stubborn{disk}, index)
		place(t, datatest.Open(t, ds), newSlot(ds), 7)
		if got := disk.Stats(); got.Stored < 10 {
			t.Errorf("the range was not divided: %v", got)
		}
	}
}
