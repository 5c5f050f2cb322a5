package cache_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"io/fs"
	"iter"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/penstock-go/penstock/dataset/objects"
	"github.com/penstock-go/penstock/dataset/objects/cache"
)

// A source is a store of n objects "0", "1" and so on, whose bytes depend on the name and
// the version.
type source struct {
	n, size int // the objects have size to 2·size-1 bytes
	version string
	silent  bool // the store tells no versions
	reads   atomic.Int64
	stats   atomic.Int64
	bytes   atomic.Int64
}

func (s *source) Identity() string { return "source" }

func (s *source) object(i int) objects.Object {
	return objects.Object{Name: fmt.Sprint(i), Size: int64(len(content(fmt.Sprint(i), s.version, s.size))), Version: s.version}
}

// contents keeps what content has made.
var contents sync.Map

func content(name, version string, size int) []byte {
	id := fmt.Sprint(name, "/", version, "/", size)
	if data, ok := contents.Load(id); ok {
		return data.([]byte)
	}
	data := makeContent(name, version, size)
	contents.Store(id, data)
	return data
}

func makeContent(name, version string, size int) []byte {
	h := fnv.New64a()
	fmt.Fprint(h, name, "/", version)
	r := rand.NewChaCha8([32]byte{0: byte(h.Sum64()), 1: byte(h.Sum64() >> 8), 2: byte(h.Sum64() >> 16)})
	data := make([]byte, size+int(h.Sum64()>>32)%size)
	r.Read(data)
	return data
}

func (s *source) List(context.Context, string) iter.Seq2[objects.Object, error] {
	return func(yield func(objects.Object, error) bool) {
		for i := range s.n {
			if !yield(s.object(i), nil) {
				return
			}
		}
	}
}

func (s *source) Stat(_ context.Context, name string) (objects.Object, error) {
	s.stats.Add(1)
	o := objects.Object{Name: name, Size: int64(len(content(name, s.version, s.size)))}
	if !s.silent {
		o.Version = s.version
	}
	return o, nil
}

func (s *source) ReadAt(_ context.Context, o objects.Object, p []byte, off int64) error {
	s.reads.Add(1)
	if o.Version != "" && o.Version != s.version {
		return objects.ErrReplaced
	}
	data := content(o.Name, s.version, s.size)
	if off < 0 || int64(len(p)) > int64(len(data))-off {
		return errors.New("out of range")
	}
	s.bytes.Add(int64(copy(p, data[off:])))
	return nil
}

// room is how many bytes all blocks of the source take on disk.
func (s *source) room() (n int64) {
	for i := range s.n {
		n += s.object(i).Size + 4
	}
	return n
}

const blockSize = 8 << 10

func newSource(n int) *source { return &source{n: n, size: blockSize / 2, version: "v1"} }

func open(t testing.TB, s objects.Store, dir string, limit int64, options ...cache.Option) *cache.Cache {
	t.Helper()
	c, err := cache.New(s, dir, limit, append([]cache.Option{cache.BlockSize(blockSize)}, options...)...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
	return c
}

// read reads objects whole, and compares them.
func (s *source) read(t testing.TB, c objects.Store, indices ...int) {
	t.Helper()
	for _, i := range indices {
		o := s.object(i)
		p := make([]byte, o.Size)
		if err := c.ReadAt(t.Context(), o, p, 0); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(p, content(o.Name, s.version, s.size)) {
			t.Fatalf("object %d has wrong bytes", i)
		}
	}
}

// upTo is the numbers from 0 to n-1.
func upTo(n int) []int {
	all := make([]int, n)
	for i := range all {
		all[i] = i
	}
	return all
}

var isBlock = regexp.MustCompile(`^[0-9a-f]{2}/[0-9a-f]{30}$`)

// tree is the files of a folder, and the number of bytes of blocks and of parts of them.
func tree(t testing.TB, dir string) (blocks, others []string, used int64) {
	t.Helper()
	err := filepath.WalkDir(dir, func(name string, e fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil || e.IsDir() {
			return err
		}
		local, err := filepath.Rel(dir, name)
		if err != nil {
			return err
		}
		info, err := os.Lstat(name)
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil {
			return err
		}
		if local = filepath.ToSlash(local); isBlock.MatchString(local) {
			blocks = append(blocks, name)
		} else {
			others = append(others, local)
		}
		if len(local) >= 32 {
			used += info.Size()
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return blocks, others, used
}
