package parquet_test

import (
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
	before  func() // of a read; may be nil

	mu    sync.Mutex
	reads []string // "name offset length"
}

func (s *memoryStore) List(_ context.Context, prefix string) iter.Seq2[objects.Object, error] {
	return func(yield func(objects.Object, error) bool) {
		for _, name := range slices.Sorted(maps.Keys(s.objects)) {
			if strings.HasPrefix(name, prefix) && !yield(objects.Object{Name: name, Size: int64(len(s.objects[name]))}, nil) {
				return
			}
		}
	}
}

func (s *memoryStore) Identity() string { return "" }

func (s *memoryStore) Stat(_ context.Context, name string) (objects.Object, error) {
	data, ok := s.objects[name]
	if !ok {
		return objects.Object{}, fmt.Errorf("stat %s: %w", name, fs.ErrNotExist)
	}
	return objects.Object{Name: name, Size: int64(len(data)), Version: "1"}, nil
}

func (s *memoryStore) ReadAt(_ context.Context, o objects.Object, p []byte, off int64) error {
	s.mu.Lock()
	s.reads = append(s.reads, fmt.Sprint(o.Name, " ", off, " ", len(p)))
	s.mu.Unlock()
	if s.before != nil {
		s.before()
	}
	data := s.objects[o.Name]
	if off < 0 || off+int64(len(p)) > int64(len(data)) {
		return fmt.Errorf("read %s: %w", o.Name, fs.ErrInvalid)
	}
	copy(p, data[off:])
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

// scan makes an index, as it is after it was saved and read.
func scan(t testing.TB, s objects.Store, f shards.Format, size int64, names ...string) *shards.Index {
	t.Helper()
	index, err := shards.Scan(t.Context(), s, f, names, shards.BlockSize(size))
	if err != nil {
		t.Fatal(err)
	}
	var file bytes.Buffer
	if _, err := index.WriteTo(&file); err != nil {
		t.Fatal(err)
	}
	if index, err = shards.ReadIndex(&file, f); err != nil {
		t.Fatal(err)
	}
	return index
}

func open(t testing.TB, s objects.Store, index *shards.Index, fields ...shards.Field) *shards.Dataset {
	t.Helper()
	ds, err := shards.Open(s, index, fields)
	if err != nil {
		t.Fatal(err)
	}
	return ds
}

func newSlot(ds dataset.Dataset) dataset.Slot { return dataset.NewSlot(ds.Spec()...) }
