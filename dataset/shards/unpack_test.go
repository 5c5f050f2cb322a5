package shards_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/penstock-go/penstock/dataset/objects"
	"github.com/penstock-go/penstock/dataset/shards"
	"github.com/penstock-go/penstock/dataset/shards/internal/shardfmt"
	"github.com/penstock-go/penstock/internal/datatest"
)

// inverted is a format with one block per object: a tar file whose bytes are inverted, the
// second half first.
type inverted struct {
	shards.Format
	unpacks bool
}

func (inverted) String() string { return "inverted" }

func (f inverted) Split(ctx context.Context, s objects.Store, name string, _ int64, emit func(shardfmt.Shard) error) error {
	o, err := s.Stat(ctx, name)
	if err != nil {
		return err
	}
	half := o.Size / 2
	return emit(shardfmt.Shard{Object: o, Compression: shardfmt.ByFormat, Blocks: []shardfmt.Block{{
		Rows: 10, Off: half, Len: half, More: []shardfmt.Range{{Off: 0, Len: half}}, Size: 100, Meta: []byte("inverted"),
	}}})
}

func (f inverted) Layout(schema []byte) (shardfmt.Layout, error) {
	l, err := f.Format.Layout(schema)
	if !f.unpacks {
		return l, err
	}
	return inverter{l}, err
}

type inverter struct{ shardfmt.Layout }

func (inverter) Unpack(dst, stored []byte, b *shardfmt.Block) ([]byte, error) {
	if stored[0] != ^byte('0') || string(b.Meta) != "inverted" {
		return nil, errors.New("not inverted")
	}
	for _, c := range stored {
		dst = append(dst, ^c)
	}
	return dst, nil
}

// invertedStore has the shards of [numbered] in that format.
func invertedStore(t testing.TB) *memoryStore {
	t.Helper()
	s, _ := numbered(t)
	for name, data := range s.objects {
		half := len(data) / 2
		data = slices.Concat(data[half:], data[:half])
		for k := range data {
			data[k] = ^data[k]
		}
		s.objects[name] = data
	}
	return s
}

func TestBlocksAreUnpackedFromAllTheirRanges(t *testing.T) {
	s := invertedStore(t)
	format := inverted{shards.WebDataset(), true}
	index := scan(t, s, format, 1, "s{0..1}.tar")
	ds := open(t, s, format, index, shards.Scalar[int64]("n", "cls"))
	r, slot := datatest.Open(t, ds), newSlot(ds)
	size := len(s.objects["s0.tar"]) / 2
	for range 2 {
		for i := range ds.Len() {
			place(t, r, slot, i)
		}
	}
	var want []string
	for shard := range 2 {
		want = append(want, fmt.Sprintf("s%d.tar %d %d", shard, size, size), fmt.Sprintf("s%d.tar 0 %d", shard, size))
	}
	if got := s.take(); !slices.Equal(got, want) {
		t.Errorf("reads %q, want %q", got, want)
	}
}

// TestUnpackedBlocksCountAsTheyAre has an index that says 100 bytes per block.
func TestUnpackedBlocksCountAsTheyAre(t *testing.T) {
	for _, c := range []struct{ blocks, reads int }{{1, 8}, {2, 4}} {
		s := invertedStore(t)
		format := inverted{shards.WebDataset(), true}
		index := scan(t, s, format, 1, "s{0..1}.tar")
		ds := numberedDataset(t, s, index, shards.MaxBytes(int64(c.blocks*len(s.objects["s0.tar"]))))
		r, slot := datatest.Open(t, ds), newSlot(ds)
		for _, i := range []int{0, 10, 1, 11} {
			place(t, r, slot, i)
		}
		if got := s.take(); len(got) != c.reads {
			t.Errorf("memory for %d blocks: %d reads, want %d", c.blocks, len(got), c.reads)
		}
	}
}

// TestBlocksThatCannotBeUnpackedAreReadAgain damages a block for good.
func TestBlocksThatCannotBeUnpackedAreReadAgain(t *testing.T) {
	s := invertedStore(t)
	format := inverted{shards.WebDataset(), true}
	ds := numberedDataset(t, s, scan(t, s, format, 1, "s{0..1}.tar"))
	half := len(s.objects["s0.tar"]) / 2
	s.objects["s0.tar"][half] = 0
	r, slot := datatest.Open(t, ds), newSlot(ds)
	for range 2 {
		if err := r.Place(t.Context(), 3, slot); err == nil || !strings.HasSuffix(err.Error(), "not inverted") {
			t.Errorf("error %v, want that of Unpack", err)
		}
	}
	if got := s.take(); len(got) != 6 {
		t.Errorf("reads %q, want two ranges, and again in two reads each", got)
	}
	place(t, r, slot, 12)
}

func TestOnlyUnpackersHaveBlocksOfTheirOwnCompression(t *testing.T) {
	s := invertedStore(t)
	_, err := shards.Scan(t.Context(), s, inverted{shards.WebDataset(), false}, []string{"s0.tar"})
	if want := "s0.tar: compressed by its format, but inverted compresses no blocks"; err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("error %v, want %q", err, want)
	}
}
