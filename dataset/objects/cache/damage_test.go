package cache_test

import (
	"os"
	"testing"
)

func TestDamagedBlocksAreReadAgain(t *testing.T) {
	for name, damage := range map[string]func(data []byte) []byte{
		"a flipped bit":         func(b []byte) []byte { b[len(b)/2] ^= 4; return b },
		"the first bit":         func(b []byte) []byte { b[0] ^= 1; return b },
		"a bit of the checksum": func(b []byte) []byte { b[len(b)-1] ^= 128; return b },
		"a lost end":            func(b []byte) []byte { return b[:len(b)-5] },
		"no byte":               func([]byte) []byte { return nil },
		"zeros":                 func(b []byte) []byte { clear(b); return b },
	} {
		s, dir := newSource(5), t.TempDir()
		c := open(t, s, dir, 10*blockSize)
		s.read(t, c, upTo(5)...)
		blocks, _, _ := tree(t, dir)
		for _, name := range blocks {
			data, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(name, damage(data), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		s.read(t, c, upTo(5)...) // compares the bytes
		s.read(t, c, upTo(5)...)
		got := c.Stats()
		if got.Damaged != 5 || got.Misses != 10 || got.Hits != 5 || got.DiskErrors != 0 {
			t.Errorf("%s: %v", name, got)
		}
	}
}

func TestBlockUnderTheKeyOfAnotherIsDamaged(t *testing.T) {
	s, dir := newSource(2), t.TempDir()
	s.size = 1 // all objects have one byte
	c := open(t, s, dir, 4*blockSize)
	s.read(t, c, 0, 1)
	blocks, _, _ := tree(t, dir)
	if err := os.Rename(blocks[0], blocks[1]); err != nil {
		t.Fatal(err)
	}
	s.read(t, c, 0, 1)
	if got := c.Stats(); got.Damaged != 1 || got.Misses != 4 {
		t.Errorf("%v", got)
	}
}

func TestForgottenBlocksAreReadAgain(t *testing.T) {
	s := newSource(2)
	c := open(t, s, t.TempDir(), 4*blockSize)
	for range 2 {
		s.read(t, c, 0, 1)
		o := s.object(0)
		o.Version = ""
		c.Forget(o, 0, o.Size) // its version is not known yet
		c.Forget(s.object(0), 0, o.Size)
		c.Forget(s.object(0), 0, o.Size)
	}
	if got := c.Stats(); got.Misses != 3 || got.Damaged != 2 || got.Used != s.object(1).Size+4 {
		t.Errorf("%v", got)
	}
}
