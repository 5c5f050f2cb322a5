package cache_test

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
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

func TestAReadDoesNotWaitForAHeldFolderOnceItsContextIsDone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, dir := newSource(2), t.TempDir()
		c := open(t, s, dir, 100*blockSize)
		release := hold(t, dir)
		ctx, cancel := context.WithCancel(t.Context())
		o := s.object(0)
		p := make([]byte, o.Size)
		var err error
		ended := false
		go func() {
			err = c.ReadAt(ctx, o, p, 0)
			ended = true
		}()
		time.Sleep(time.Minute)
		synctest.Wait()
		if ended {
			t.Error("the read has not waited for the folder")
		}
		cancel()
		synctest.Wait()
		if !ended || err != nil || !bytes.Equal(p, content("0", "v1", s.size)) {
			t.Errorf("the read has ended: %v, with error %v", ended, err)
		}
		if got := c.Stats(); got.Stored != 0 || got.DiskErrors != 0 {
			t.Errorf("%v", got)
		}
		release()
		s.read(t, c, 0, 0)
		if got := c.Stats(); got.Stored != 1 || got.Hits != 1 {
			t.Errorf("afterwards: %v", got)
		}
	})
}

func TestForgetAndCloseWaitASecondForAHeldFolder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, dir := newSource(1), t.TempDir()
		c, err := cache.New(s, dir, 100*blockSize, cache.BlockSize(blockSize))
		if err != nil {
			t.Fatal(err)
		}
		s.read(t, c, 0)
		release := hold(t, dir)
		begin := time.Now()
		c.Forget(s.object(0), 0, s.object(0).Size)
		if err := c.Close(); err != nil {
			t.Error(err)
		}
		if took := time.Since(begin); took != 2*time.Second {
			t.Errorf("they took %v, want a second each", took)
		}
		release()
		open(t, s, dir, 100*blockSize)
		if _, others, _ := tree(t, dir); strings.Count(strings.Join(others, " "), ".session") != 1 {
			t.Errorf("the session that was not put away is left: %v", others)
		}
	})
}

// A read without a deadline waits for the folder, and must not keep Close from ending.
func TestCloseEndsTheWaitOfReads(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, dir := newSource(1), t.TempDir()
		c, err := cache.New(s, dir, 100*blockSize, cache.BlockSize(blockSize))
		if err != nil {
			t.Fatal(err)
		}
		release := hold(t, dir)
		defer release()
		o := s.object(0)
		p := make([]byte, o.Size)
		read := make(chan error, 1)
		go func() { read <- c.ReadAt(t.Context(), o, p, 0) }()
		time.Sleep(time.Minute)
		closed := make(chan error, 1)
		go func() { closed <- c.Close() }()
		time.Sleep(time.Minute)
		for what, ended := range map[string]chan error{"Close": closed, "the read": read} {
			select {
			case err := <-ended:
				if err != nil {
					t.Errorf("%s: %v", what, err)
				}
			default:
				t.Fatalf("%s has not ended", what)
			}
		}
		if !bytes.Equal(p, content("0", "v1", s.size)) {
			t.Error("the read has brought other bytes")
		}
	})
}

// Each block would wait a second.
func TestForgetOfManyBlocksWaitsOnceForAHeldFolder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, dir := newSource(1), t.TempDir()
		s.size = 3 * blockSize
		c := open(t, s, dir, 100*blockSize)
		s.read(t, c, 0)
		release := hold(t, dir)
		begin := time.Now()
		c.Forget(s.object(0), 0, s.object(0).Size)
		if took := time.Since(begin); took != time.Second {
			t.Errorf("it took %v, want a second", took)
		}
		release()
	})
}
