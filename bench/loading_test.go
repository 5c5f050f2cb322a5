package bench_test

import (
	"os"
	"testing"
	"time"

	"github.com/penstock-go/penstock/bench"
	"github.com/penstock-go/penstock/bench/result"
	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/loader"
	"github.com/penstock-go/penstock/transform"
)

// BenchmarkLoading is the first study: the wait for every single batch, by batch
// size, workers, what the consumer takes for a batch, and kind of data, each with
// Help on and off where there is anybody to help.
//
// There are batches for four periods of as many as workers and one batch more; and
// with a slow consumer, where only the first batch is slow, for one and some more.
// The whole grid leaves periods out beyond 8 workers to end in time.
func BenchmarkLoading(b *testing.B) {
	of := map[string]dataset.Dataset{"photos": photos(b, transform.Eval(224)), "preprocessed": preprocessed(b, 224)}
	slow := sized(0, 0.1, 2.)
	var cells []cell
	add := func(data string, c result.Config, batches int) {
		for _, help := range []string{result.HelpOn, result.HelpOff} {
			if c.Data, c.Help = data, help; c.Workers > 1 || help == result.HelpOn {
				cells = append(cells, cell{Run: bench.Run{Study: result.Loading, Config: c, Dataset: repeated(b, of[data], c.Batch*batches)}})
			}
		}
	}
	for _, data := range []string{"photos", "preprocessed"} {
		for _, batch := range sized([]int{8}, []int{16, 64}, []int{32, 128, 256, 512, 1024}) {
			for _, workers := range sized([]int{1, 2}, []int{1, 2, 4, 8}, []int{1, 2, 4, 8, 32, 48, 64}) {
				periods := sized(1, min(4*workers, 2*workers+16), min(4*workers, workers+32))
				add(data, result.Config{Batch: batch, Workers: workers}, max(sized(4, 16, 24), periods+1))
				if slow > 0 && (*full || batch == 16 && workers != 2 && workers != 8 && data == "photos") {
					add(data, result.Config{Batch: batch, Workers: workers, ConsumerSeconds: slow}, max(12, min(workers+4, 24)))
				}
			}
		}
	}
	measure(b, cells)
}

// BenchmarkThrottled is the same with files as slow as a network's, which shows
// up to 64 workers what few processors cannot: work that waits. Epochs are three
// periods of as many batches as workers and one batch more, 8 batches at least.
// Without Help that one is a single worker's, while the others have nothing to do,
// which takes as long as a period: its samples per second are up to a quarter
// below those of a long epoch. Nothing is read ahead: only the operating system
// can do that.
func BenchmarkThrottled(b *testing.B) {
	const batch = 8
	throttle := bench.Throttle{Latency: 80 * time.Millisecond, BytesPerSecond: 100e6}
	ds := transformed(b, throttle.FS(os.DirFS(photosFolder(b))), transform.Eval(224))
	var cells []cell
	for _, workers := range sized([]int{4}, []int{1, 2, 4, 8, 16, 32, 64}, []int{1, 2, 4, 8, 16, 32, 48, 64}) {
		for _, help := range []string{result.HelpOn, result.HelpOff} {
			if workers == 1 && help == result.HelpOff {
				continue
			}
			config := result.Config{Batch: batch, Workers: workers, Prefetch: 1, Data: "photos", Help: help, Simulated: throttle.String()}
			cells = append(cells, cell{Run: bench.Run{Study: result.Loading, Config: config, Dataset: repeated(b, ds, batch*max(8, 3*workers+1)),
				Options: []loader.Option{loader.Prefetch(1), loader.ReadAhead(0)}}})
		}
	}
	measure(b, cells)
}
