package cache_test

import (
	"errors"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/penstock-go/penstock/dataset/objects/cache"
)

func TestFullDiskLeadsToReadsFromTheStore(t *testing.T) {
	dir := t.TempDir()
	if err := unix.Mount("tmpfs", dir, "tmpfs", 0, "size=96k"); err != nil {
		t.Skipf("cannot mount a small disk: %v", err)
	}
	defer func() {
		if err := unix.Unmount(dir, 0); err != nil {
			t.Error(err)
		}
	}()
	s := newSource(40)
	c, err := cache.New(s, dir, 2*s.room(), cache.BlockSize(blockSize))
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		s.read(t, c, upTo(40)...) // compares the bytes
	}
	got := c.Stats()
	if !errors.Is(got.DiskError, unix.ENOSPC) || got.Stored == 0 || got.Hits < got.Stored || got.Damaged > 0 {
		t.Errorf("%v", got)
	}
	if _, others, used := tree(t, dir); used != got.Used || strings.Contains(strings.Join(others, " "), ".part") {
		t.Errorf("%d bytes of %d, besides blocks %v", used, got.Used, others)
	}
	if err := c.Close(); err != nil {
		t.Error(err)
	}
}
