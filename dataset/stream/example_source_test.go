package stream_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"os"
	"strconv"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/dataset/stream"
	"github.com/penstock-go/penstock/loader"
)

// A mailbox is a queue that keeps messages until they are acknowledged. Its mark is the number
// of messages that were given out.
type mailbox struct {
	messages []int64
	given    int
	safe     int // acknowledged
}

func (m *mailbox) String() string     { return "mailbox" }
func (m *mailbox) Spec() dataset.Spec { return dataset.Spec{{Name: "message", Dtype: dataset.Int64}} }
func (m *mailbox) Mark() []byte       { return strconv.AppendInt(nil, int64(m.given), 10) }

func (m *mailbox) Next(ctx context.Context, dst dataset.Slot) error {
	if m.given == len(m.messages) {
		return io.EOF // a queue without an end waits here for the next message, or for ctx
	}
	dataset.Set(dst, 0, m.messages[m.given])
	m.given++
	return nil
}

func (m *mailbox) Acknowledge(_ context.Context, mark []byte) error {
	n, err := strconv.Atoi(string(mark))
	m.safe = n
	return err
}

// A queue as a source: messages are acknowledged when they are in the spool, so that a process
// that is killed loses none. Sync keeps them through a crash of the machine, too.
func ExampleAcknowledger() {
	dir := folder()
	defer os.RemoveAll(dir)
	queue := &mailbox{messages: []int64{7, 8, 9, 10, 11}}
	ds, err := stream.New(queue, dir, stream.Sync(true))
	if err != nil {
		log.Fatal(err)
	}
	l, err := loader.New(ds, loader.BatchSize(3))
	if err != nil {
		log.Fatal(err)
	}
	for batch, err := range l.Epoch(context.Background(), 0) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(loader.Values[int64](batch, "message"))
	}
	if err := errors.Join(l.Close(), ds.Close()); err != nil {
		log.Fatal(err)
	}
	fmt.Println(queue.safe, "acknowledged")
	// Output:
	// [7 8 9]
	// [10 11]
	// 5 acknowledged
}

// A loop that never calls Commit fills the spool. Instead of a wait for ever it gets ErrFull.
func ExampleDataset_Commit() {
	dir := folder()
	defer os.RemoveAll(dir)
	queue := &mailbox{messages: make([]int64, 10_000)}
	ds, err := stream.New(queue, dir, stream.BlockSize(1<<10), stream.MaxBytes(16<<10))
	if err != nil {
		log.Fatal(err)
	}
	defer ds.Close()
	l, err := loader.New(ds, loader.BatchSize(100), loader.Workers(2))
	if err != nil {
		log.Fatal(err)
	}
	defer l.Close()
	position := l.Position(0)
	for _, err := range l.From(context.Background(), position, 1) {
		if err != nil {
			fmt.Println("full:", errors.Is(err, stream.ErrFull))
		}
	}
	samples := 0
	for batch, err := range l.From(context.Background(), position, 1) {
		if err != nil {
			log.Fatal(err)
		}
		samples += batch.Len()
		position = batch.Position() // save it, and then
		if err := ds.Commit(position.Draw); err != nil {
			log.Fatal(err)
		}
	}
	fmt.Println(samples, "samples")
	// Output:
	// full: true
	// 10000 samples
}
