package loader_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/internal/loadertest"
	"github.com/penstock-go/penstock/loader"
)

// TestABatchIsAssembledWhileAnotherIsInTheLoopBody, if there is memory for two. The loop body
// takes twice as long as a batch, so the loop waits for the first one only.
func TestABatchIsAssembledWhileAnotherIsInTheLoopBody(t *testing.T) {
	onTwoProcessors(t)
	const batches = 20
	for name, options := range map[string][]loader.Option{
		"InFlight":          {loader.Workers(1), loader.InFlight(2)},
		"Auto and InFlight": {loader.Workers(loader.Auto), loader.InFlight(2)},
		"Auto and Budget":   {loader.Workers(loader.Auto), loader.Budget(2 * 1024)},
		"Budget":            {loader.Workers(2), loader.Budget(2 * 1024)},
	} {
		for _, ragged := range []bool{false, true} {
			synctest.Test(t, func(t *testing.T) {
				ds := &fake{n: batches, spec: dataset.Spec{{Name: "x", Dtype: dataset.Uint8, Shape: dataset.Shape{1024}}}}
				if ragged {
					ds.spec[0] = dataset.Field{Name: "x", Dtype: dataset.Uint8, Ragged: true}
				}
				ds.place = func(_ context.Context, _ int, dst dataset.Slot) error {
					if ragged {
						dataset.Grow[uint8](dst, 0, 300)
					}
					time.Sleep(time.Second)
					return nil
				}
				l := loadertest.New(t, ds, options...)
				begun := time.Now()
				for _, err := range l.Epoch(t.Context(), 0) {
					if err != nil {
						t.Fatal(err)
					}
					time.Sleep(2 * time.Second)
				}
				if got, want := time.Since(begun), (1+2*batches)*time.Second; got != want {
					t.Errorf("%s, ragged %v: %v, want %v\n%v", name, ragged, got, want, l.Stats())
				}
			})
		}
	}
}
