package remote_test

import (
	"context"
	"io"
	"net"
	"syscall"
	"testing"
	"time"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/loader"
	"github.com/penstock-go/penstock/loader/serve"
)

// BenchmarkService compares the service with a loop that sends the same bytes over a TCP
// connection. Both sides of both are in this process and their turns alternate. The samples
// cost nothing to make, so that only what the service adds is measured.
func BenchmarkService(b *testing.B) {
	const rows, perTurn = 64, 12
	ds := dataset.Func(rows*perTurn, dataset.Spec{{Name: "image", Dtype: dataset.Float32, Shape: dataset.Shape{3, 224, 224}}, {Name: "label", Dtype: dataset.Int64}},
		func(context.Context, int, dataset.Slot) error { return nil })
	far := open(b, []string{newReplica(b, ds, nil, serve.Loader(loader.BatchSize(rows)))})
	size := rows * (3*224*224*4 + 8)
	raw := rawLoop(b, size)
	epoch := 0
	turn := func() {
		for _, err := range far.Epoch(b.Context(), epoch) {
			if err != nil {
				b.Fatal(err)
			}
		}
		epoch++
	}
	turn()
	raw(perTurn)
	var took, used [2]time.Duration
	for b.Loop() {
		for side, work := range []func(){turn, func() { raw(perTurn) }} {
			begun, before := time.Now(), cpu(b)
			work()
			took[side] += time.Since(begun)
			used[side] += cpu(b) - before
		}
	}
	gb := float64(b.N) * perTurn * float64(size) / 1e9
	b.ReportMetric(gb/took[0].Seconds(), "GB/s")
	b.ReportMetric(gb/took[1].Seconds(), "TCP-GB/s")
	b.ReportMetric(100*took[1].Seconds()/took[0].Seconds(), "%ofTCP")
	b.ReportMetric(used[0].Seconds()/gb, "CPU-s/GB")
	b.ReportMetric(used[1].Seconds()/gb, "TCP-CPU-s/GB")
}

// cpu is the processor time of this process so far.
func cpu(b *testing.B) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// rawLoop sends and receives messages of that many bytes.
func rawLoop(b *testing.B, size int) func(n int) {
	listener, err := net.Listen("tcp", "localhost:0")
	if err != nil {
		b.Fatal(err)
	}
	sent := make(chan int)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		c, err := listener.Accept()
		if err != nil {
			b.Error(err)
			return
		}
		defer c.Close()
		messages := [6][]byte{} // as many as the service has batches of a rank
		for k := range messages {
			messages[k] = make([]byte, size)
		}
		for n := range sent {
			for k := range n {
				if _, err := c.Write(messages[k%len(messages)]); err != nil {
					b.Error(err)
				}
			}
		}
	}()
	c, err := net.Dial("tcp", listener.Addr().String())
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		close(sent)
		<-ended
		c.Close()
		listener.Close()
	})
	buffers := [5][]byte{} // as many as the loader has slabs
	for k := range buffers {
		buffers[k] = make([]byte, size)
	}
	return func(n int) {
		sent <- n
		for k := range n {
			if _, err := io.ReadFull(c, buffers[k%len(buffers)]); err != nil {
				b.Fatal(err)
			}
		}
	}
}
