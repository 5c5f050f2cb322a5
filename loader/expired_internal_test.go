package loader

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/penstock-go/penstock/dataset"
)

// TestABatchThatIsCompleteWhenTheTimeoutCountsIsDelivered: on a busy machine, the loop may come
// to the end of its Timeout late.
func TestABatchThatIsCompleteWhenTheTimeoutCountsIsDelivered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ds := dataset.Func(4, dataset.Spec{{Name: "x", Dtype: dataset.Int64}}, func(context.Context, int, dataset.Slot) error { return nil })
		l, err := New(ds, Workers(1), Timeout(time.Second))
		if err != nil {
			t.Fatal(err)
		}
		r, err := l.begin(t.Context(), l.plans.Start(0), 1)
		if err != nil {
			t.Fatal(err)
		}
		r.start()
		synctest.Wait()
		j, err := r.expired()
		if err != nil || j == nil || j.K != 0 {
			t.Errorf("got %v, want batch 0", err)
		}
		if j != nil {
			l.release(j)
		}
		l.end(r)
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	})
}
