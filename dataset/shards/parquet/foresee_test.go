package parquet_test

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/dataset/objects/prefetch"
	"github.com/penstock-go/penstock/dataset/shards"
	"github.com/penstock-go/penstock/dataset/shards/parquet"
	"github.com/penstock-go/penstock/loader"
	"github.com/penstock-go/penstock/sampler"
)

// numbers is a store with some copies of the table of testdata/peers.py.
func numbers(t testing.TB, copies int) *memoryStore {
	t.Helper()
	data, err := os.ReadFile("testdata/plain-v1-none.parquet")
	if err != nil {
		t.Fatal(err)
	}
	s := &memoryStore{objects: map[string][]byte{}}
	for k := range copies {
		s.objects[fmt.Sprintf("%d.parquet", k)] = data
	}
	return s
}

// Blocks that are some pages of several columns, at 30 ms to the first byte, with the time
// of the bubble: 2 workers that take 1 ms per sample take 2.5 s for 5,000 samples, if
// nothing else takes time.
func TestForeseenBlocksTakeAsLongAsLocalOnes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := numbers(t, 5)
		// Ranges are joined over 64 kB, which is more than the file. So each block is one.
		index := scan(t, s, parquet.Format(parquet.Columns("i", "s")), 2<<10, "{0..4}.parquet")
		s.take()
		s.before = func() { time.Sleep(30 * time.Millisecond) }
		p, err := prefetch.New(s, prefetch.MaxBytes(4<<20))
		if err != nil {
			t.Fatal(err)
		}
		ds := open(t, p, index, shards.Scalar[int64]("i", "i"), shards.Bytes("s", "s"))
		costly, err := dataset.Map(ds, ds.Spec(), func(_, _ dataset.Slot) error {
			time.Sleep(time.Millisecond)
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		l, err := loader.New(costly, loader.Workers(2), loader.BatchSize(50), loader.Sampler(sampler.Grouped(ds.Ends(), 1, sampler.Together(8))))
		if err != nil {
			t.Fatal(err)
		}
		begin, n := time.Now(), 0
		for b, err := range l.Epoch(t.Context(), 0) {
			if err != nil {
				t.Fatal(err)
			}
			n += b.Len()
		}
		took, reads, blocks := time.Since(begin), s.take(), len(ds.Ends())
		t.Logf("%d samples of %d blocks in %v, %d requests; %v", n, blocks, took, len(reads), p.Stats())
		if want := 2500 * time.Millisecond * 100 / 95; n != 5000 || took > want {
			t.Errorf("%d samples in %v, want %v at most", n, took, want)
		}
		if len(reads) > blocks {
			t.Errorf("%d requests for %d blocks", len(reads), blocks)
		}
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	})
}

// TestScanReadsOnlyTheEnd counts what an index costs.
func TestScanReadsOnlyTheEnd(t *testing.T) {
	s := numbers(t, 1)
	padding := strings.Repeat("x", 1<<20)
	data := s.objects["0.parquet"]
	s.objects["0.parquet"] = slices.Concat(data[:4], []byte(padding), data[4:])
	_, err := shards.Scan(t.Context(), s, parquet.Format(), []string{"0.parquet"})
	reads := s.take()
	if want := fmt.Sprint("0.parquet ", len(padding)+len(data)-128<<10, " ", 128<<10); len(reads) != 1 || reads[0] != want {
		t.Errorf("%v: reads %q, want %q", err, reads, want)
	}
}
