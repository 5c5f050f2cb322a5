package stream_test

import (
	"testing"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/dataset/stream"
	"github.com/penstock-go/penstock/internal/allocs"
)

func TestPlaceAllocatesNothing(t *testing.T) {
	ds := open(t, &numbers{n: 1000}, t.TempDir(), stream.Window(100), stream.BlockSize(4<<10))
	if have, _, err := ds.Await(t.Context(), 1000, nil); have != 1000 || err != nil {
		t.Fatal(have, err)
	}
	r, err := ds.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	slot := dataset.NewSlot(ds.Spec()...)
	k := 0
	place := func() {
		if err := r.Place(t.Context(), 300+k%100, slot); err != nil {
			t.Fatal(err)
		}
		k++
	}
	for range 100 {
		place()
	}
	if got := allocs.PerRun(0, 100, place); got != 0 {
		t.Errorf("%v allocations per sample", got)
	}
}
