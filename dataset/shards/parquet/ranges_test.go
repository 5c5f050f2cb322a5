package parquet_test

import (
	"bytes"
	"fmt"
	"os"
	"testing"

	"github.com/penstock-go/penstock/dataset/objects/prefetch"
	"github.com/penstock-go/penstock/dataset/shards"
	"github.com/penstock-go/penstock/dataset/shards/parquet"
	"github.com/penstock-go/penstock/loader"
)

// TestBlocksOfSeveralRanges reads a row group of two large columns: each block is some
// pages of both, and all share the pages of the small columns.
func TestBlocksOfSeveralRanges(t *testing.T) {
	dir := t.TempDir()
	rows := make([]photo, 60)
	for i := range rows {
		rows[i].Label = int64(i % 3)
		rows[i].Image.Bytes, rows[i].Mask = make([]byte, 20_000+i*37), make([]byte, 20_000+i*53)
		for k := range rows[i].Image.Bytes {
			rows[i].Image.Bytes[k] = byte(3*i + k*k)
		}
		for k := range rows[i].Mask {
			rows[i].Mask[k] = byte(4*i + k*k)
		}
	}
	writePhotos(t, dir+"/0.parquet", rows)
	file, err := os.ReadFile(dir + "/0.parquet")
	if err != nil {
		t.Fatal(err)
	}
	s := &memoryStore{objects: map[string][]byte{"0.parquet": file}}
	index := scan(t, s, parquet.Format(), 256<<10, "0.parquet")
	s.take()
	p, err := prefetch.New(s, prefetch.MaxBytes(8<<20))
	if err != nil {
		t.Fatal(err)
	}
	got := open(t, p, index, shards.Bytes("image", "image"), shards.Bytes("mask", "mask"), shards.Scalar[int32]("label", "label"))
	l, err := loader.New(got, loader.BatchSize(8))
	if err != nil {
		t.Fatal(err)
	}
	for b, err := range l.Epoch(t.Context(), 0) {
		if err != nil {
			t.Fatal(err)
		}
		for row, i := range b.Indices() {
			for name, want := range map[string][]byte{"image": rows[i].Image.Bytes, "mask": rows[i].Mask} {
				o := b.Offsets(name)
				if !bytes.Equal(b.Bytes(name)[o[row]:o[row+1]], want) {
					t.Errorf("sample %d: another %s", i, name)
				}
			}
			if v := loader.Values[int32](b, "label")[row]; v != int32(i%3) {
				t.Errorf("sample %d: label %d", i, v)
			}
		}
	}
	if err := l.Close(); err != nil {
		t.Error(err)
	}
	reads := s.take()
	blocks := len(index.Ends())
	t.Logf("%d blocks, reads %q", blocks, reads)
	// Each block has two large ranges of its own. The small ones that it shares with others are read
	// again if they come to need them later.
	times := map[string]int{}
	large := 0
	for _, read := range reads {
		var name string
		var at, size int
		if _, err := fmt.Sscan(read, &name, &at, &size); err != nil {
			t.Fatal(err)
		}
		times[read]++
		most := blocks
		if size > 100_000 {
			large++
			most = 1
		}
		if times[read] > most {
			t.Errorf("%q was read %d times, want %d at most", read, times[read], most)
		}
	}
	if blocks < 4 || large != 2*blocks || len(times) > 3*blocks {
		t.Errorf("%d blocks: %d large ranges of %d different ones, want two large ones each, and three in all", blocks, large, len(times))
	}
}
