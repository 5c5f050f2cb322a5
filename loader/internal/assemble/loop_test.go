package assemble

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/loader/internal/plan"
	"github.com/penstock-go/penstock/loader/internal/slab"
	"github.com/penstock-go/penstock/sampler"
)

// TestABatchThatIsCompleteWhenTheTimeoutCountsIsDelivered: on a busy machine, the loop may come to the end of its Timeout
// late.
func TestABatchThatIsCompleteWhenTheTimeoutCountsIsDelivered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ds := dataset.Func(4, dataset.Spec{{Name: "x", Dtype: dataset.Int64}}, func(context.Context, int, dataset.Slot) error { return nil })
		steps, err := NewSteps(ds.Spec(), nil)
		if err != nil {
			t.Fatal(err)
		}
		plans := plan.New(plan.Options{Len: ds.Len, Sampler: sampler.Sequential(4), Size: 1})
		pool := slab.NewPool(slab.Config{Spec: ds.Spec(), Memory: slab.Heap{}, Least: 1}, 1)
		if _, err := pool.Add(); err != nil {
			t.Fatal(err)
		}
		team := New(Config{Dataset: ds, Plans: plans, Pool: pool, Steps: steps, Workers: 1, Timeout: time.Second})
		l, err := team.Begin(t.Context(), plans.Start(0), 1)
		if err != nil {
			t.Fatal(err)
		}
		l.Start()
		synctest.Wait()
		j, err := l.expired()
		if err != nil || j == nil || j.K != 0 {
			t.Fatalf("got %v, want batch 0", err)
		}
		team.Release(j)
		l.Stop()
		if left, err := team.Close(); err != nil || len(left) > 0 {
			t.Error(left, err)
		}
	})
}
