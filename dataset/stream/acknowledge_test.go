package stream_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/penstock-go/penstock/dataset/stream"
	"github.com/penstock-go/penstock/loader"
)

// A queue gives records again until they are acknowledged, and never after that.
func TestAQueueIsAcknowledgedWhatIsSealed(t *testing.T) {
	const n = 200
	queue := &queue{numbers: &numbers{n: n}}
	dir := t.TempDir()
	var got []int64
	var position loader.Position
	for k := 0; len(got) < n; k++ {
		queue.at = queue.safe // a new consumer gets what is not acknowledged
		ds, err := stream.New(queue, dir, stream.BlockSize(300))
		if err != nil {
			t.Fatal(err)
		}
		queue.sealed = func() int { return ds.Stats().Next }
		l, err := loader.New(ds, loader.BatchSize(8))
		if err != nil {
			t.Fatal(err)
		}
		if k == 0 {
			position = l.Position(0)
		}
		for _, b := range collect(t, l, position, 3) {
			got, position = append(got, b.records...), b.position
		}
		if err := errors.Join(l.Close(), ds.Close()); err != nil {
			t.Fatal(err)
		}
		if k%2 == 0 { // the last acknowledgement is lost, as if the process was killed before it
			queue.safe = max(0, queue.before)
		}
	}
	if !slices.Equal(got, order(n, 1, 0)) {
		t.Errorf("got %v", got)
	}
}

type queue struct {
	*numbers
	before, safe int // acknowledged
	sealed       func() int
}

func (q *queue) Acknowledge(_ context.Context, mark []byte) error {
	at := seeking{&numbers{}}
	if err := at.Seek(context.Background(), mark); err != nil {
		return err
	}
	if at.at > q.sealed() {
		return errors.New("acknowledged before it is sealed")
	}
	q.before, q.safe = q.safe, at.at
	q.at = max(q.at, q.safe)
	return nil
}
