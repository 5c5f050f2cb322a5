package cache_test

import (
	"bytes"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/penstock-go/penstock/dataset/objects/cache"
	"github.com/penstock-go/penstock/internal/private"
)

// hold locks a folder as another process does, until release is called.
func hold(t *testing.T, dir string) (release func()) {
	t.Helper()
	f, err := os.OpenFile(filepath.Join(dir, "lock"), os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	if err := private.Lock(f); err != nil {
		t.Fatal(err)
	}
	return func() {
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	}
}

func TestReadsAndCloseDoNotWaitLongForAHeldFolder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, dir := newSource(2), t.TempDir()
		c, err := cache.New(s, dir, 100*blockSize, cache.BlockSize(blockSize))
		if err != nil {
			t.Fatal(err)
		}
		s.read(t, c, 1)
		release := hold(t, dir)
		o := s.object(0)
		p := make([]byte, o.Size)
		begin := time.Now()
		for range 2 { // nothing is stored for a second after the first
			if err := c.ReadAt(t.Context(), o, p, 0); err != nil || !bytes.Equal(p, content("0", "v1", s.size)) {
				t.Errorf("other bytes, or error %v", err)
			}
		}
		if took := time.Since(begin); took > 200*time.Millisecond {
			t.Errorf("the reads took %v", took)
		}
		if got := c.Stats(); got.Stored != 1 || got.DiskErrors != 0 {
			t.Errorf("%v", got)
		}
		release()
		time.Sleep(2 * time.Second)
		s.read(t, c, 0, 0)
		if got := c.Stats(); got.Stored != 2 || got.Hits != 1 {
			t.Errorf("afterwards: %v", got)
		}
		release = hold(t, dir)
		begin = time.Now()
		c.Forget(o, 0, o.Size)
		if err := c.Close(); err != nil {
			t.Error(err)
		}
		if took := time.Since(begin); took > 200*time.Millisecond {
			t.Errorf("Forget and Close took %v", took)
		}
		release()
	})
}

// In this test time is real: goroutines that wait for a mutex do not let that of synctest go on.
func TestReadsWaitForAHeldFolderTogether(t *testing.T) {
	s, dir := newSource(100), t.TempDir()
	c, err := cache.New(s, dir, 100*blockSize, cache.BlockSize(blockSize))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	defer hold(t, dir)()
	begin := time.Now()
	var readers sync.WaitGroup
	for i := range 100 {
		readers.Go(func() {
			o := s.object(i)
			if err := c.ReadAt(t.Context(), o, make([]byte, o.Size), 0); err != nil {
				t.Error(err)
			}
		})
	}
	readers.Wait()
	if took := time.Since(begin); took > 2*time.Second {
		t.Errorf("100 reads took %v, one waits for a tenth of a second", took)
	}
	if got := c.Stats(); got.Stored != 0 || got.DiskErrors != 0 {
		t.Errorf("%v", got)
	}
}
