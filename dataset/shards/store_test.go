package shards_test

import (
	"archive/tar"
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"iter"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/dataset/objects"
	"github.com/penstock-go/penstock/dataset/shards"
)

// A memoryStore holds objects in memory and lists the reads.
type memoryStore struct {
	objects map[string][]byte
	before  func(ctx context.Context, name string, off int64) error // of a read; may be nil
	damage  func(name string, off int64, p []byte)                  // after a read; may be nil

	mu    sync.Mutex
	reads []string // "name offset length"
}

func (s *memoryStore) List(_ context.Context, prefix string) iter.Seq2[objects.Object, error] {
	return func(yield func(objects.Object, error) bool) {
		for _, name := range slices.Sorted(maps.Keys(s.objects)) {
			if strings.HasPrefix(name, prefix) && !yield(s.object(name), nil) {
				return
			}
		}
	}
}

func (s *memoryStore) object(name string) objects.Object {
	return objects.Object{Name: name, Size: int64(len(s.objects[name])), Version: "1"}
}

func (s *memoryStore) Identity() string { return "" }

func (s *memoryStore) Stat(_ context.Context, name string) (objects.Object, error) {
	if _, ok := s.objects[name]; !ok {
		return objects.Object{}, fmt.Errorf("stat %s: %w", name, fs.ErrNotExist)
	}
	return s.object(name), nil
}

func (s *memoryStore) ReadAt(ctx context.Context, o objects.Object, p []byte, off int64) error {
	s.mu.Lock()
	s.reads = append(s.reads, fmt.Sprint(o.Name, " ", off, " ", len(p)))
	s.mu.Unlock()
	if s.before != nil {
		if err := s.before(ctx, o.Name, off); err != nil {
			return err
		}
	}
	data := s.objects[o.Name]
	if o.Version != "" && o.Version != "1" || o.Size != int64(len(data)) {
		return fmt.Errorf("read %s: %w", o.Name, objects.ErrReplaced)
	}
	if off < 0 || off+int64(len(p)) > int64(len(data)) {
		return fmt.Errorf("read %s: %w", o.Name, fs.ErrInvalid)
	}
	copy(p, data[off:])
	if s.damage != nil {
		s.damage(o.Name, off, p)
	}
	return nil
}

// take returns the reads since the last call.
func (s *memoryStore) take() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	reads := s.reads
	s.reads = nil
	return reads
}

// A tarFile is a member of an archive.
type tarFile struct {
	name string
	data string
}

// archive makes a tar file. Names that end in a slash are folders.
func archive(t testing.TB, list ...tarFile) []byte {
	t.Helper()
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, f := range list {
		h := &tar.Header{Name: f.name, Size: int64(len(f.data)), Mode: 0o600}
		if strings.HasSuffix(f.name, "/") {
			h.Typeflag = tar.TypeDir
		}
		if err := w.WriteHeader(h); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write([]byte(f.data)); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// numberedShards is a store of shards s0.tar and so on with that many samples each, from
// "000" on. Each sample has its number, and takes 1024 bytes.
func numberedShards(t testing.TB, count, each int) *memoryStore {
	t.Helper()
	s := &memoryStore{objects: map[string][]byte{}}
	for shard := range count {
		var list []tarFile
		for i := range each {
			n := each*shard + i
			list = append(list, tarFile{fmt.Sprintf("%03d.cls", n), fmt.Sprint(n)})
		}
		s.objects[fmt.Sprintf("s%d.tar", shard)] = archive(t, list...)
	}
	return s
}

// numbered is two shards with ten samples each, in blocks of five.
func numbered(t testing.TB) (*memoryStore, *shards.Index) {
	t.Helper()
	s := numberedShards(t, 2, 10)
	index := scan(t, s, shards.WebDataset(), 5120, "s{0..1}.tar")
	s.take()
	return s, index
}

// numberedDataset is a dataset of the store's samples.
func numberedDataset(t testing.TB, s objects.Store, index *shards.Index, options ...shards.Option) *shards.Dataset {
	t.Helper()
	ds, err := shards.Open(s, index, []shards.Field{shards.Scalar[int64]("n", "cls")}, options...)
	if err != nil {
		t.Fatal(err)
	}
	return ds
}

func newSlot(ds dataset.Dataset) dataset.Slot { return dataset.NewSlot(ds.Spec()...) }
