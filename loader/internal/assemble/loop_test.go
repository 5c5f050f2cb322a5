package assemble_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/loader/internal/assemble"
	"github.com/penstock-go/penstock/loader/internal/plan"
	"github.com/penstock-go/penstock/loader/internal/slab"
	"github.com/penstock-go/penstock/sampler"
)

// A slowOpener is a dataset that takes a while to open, but for the first time.
type slowOpener struct {
	dataset.Dataset
	opened atomic.Int32
}

func (s *slowOpener) Open() (dataset.Reader, error) {
	if s.opened.Add(1) > 1 {
		time.Sleep(100 * time.Millisecond)
	}
	return s.Dataset.Open()
}

// A slowRefuser is an Allocator that gives memory once.
type slowRefuser struct {
	slab.Heap
	gave bool
}

func (s *slowRefuser) Alloc(n int) ([]byte, error) {
	if s.gave {
		time.Sleep(2 * time.Second)
		return nil, errors.New("no more")
	}
	s.gave = true
	return s.Heap.Alloc(n)
}

// TestABatchThatIsCompleteWhenTheTimeoutCountsIsDelivered: the loop may come late to the end of its Timeout, here because
// of an Allocator. Then both that and the batch have come, and which of them it sees first is by chance.
func TestABatchThatIsCompleteWhenTheTimeoutCountsIsDelivered(t *testing.T) {
	for range 30 {
		synctest.Test(t, func(t *testing.T) {
			ds := &slowOpener{Dataset: dataset.Func(4, dataset.Spec{{Name: "x", Dtype: dataset.Int64}}, func(context.Context, int, dataset.Slot) error {
				time.Sleep(500 * time.Millisecond)
				return nil
			})}
			steps, err := assemble.NewSteps(ds.Spec(), nil)
			if err != nil {
				t.Fatal(err)
			}
			plans := plan.New(plan.Options{Len: ds.Len, Sampler: sampler.Sequential(4), Size: 1})
			pool := slab.NewPool(slab.Config{Spec: ds.Spec(), Memory: new(slowRefuser), Least: 1, Budget: 1 << 20}, 1)
			if err := pool.Add(); err != nil {
				t.Fatal(err)
			}
			team := assemble.New(assemble.Config{Dataset: ds, Plans: plans, Pool: pool, Steps: steps, Workers: 2, Timeout: time.Second, Elastic: true})
			begun := time.Now()
			l, err := team.Begin(t.Context(), plans.Start(0), 1)
			if err != nil {
				t.Fatal(err)
			}
			l.Start()
			j, err := l.Next(nil, nil)
			if late := time.Since(begun) > time.Second; err != nil || !late {
				t.Errorf("got %v after %v, want batch 0, late", err, time.Since(begun))
			} else {
				team.Release(j)
			}
			l.Stop()
			if left, err := team.Close(); err != nil || len(left) > 0 {
				t.Error(left, err)
			}
		})
	}
}
