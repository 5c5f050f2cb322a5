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

// BenchmarkLoading is the first study: the wait for every batch, by batch size, number of
// workers, time of the consumer per batch, and data, with Help on and, if there are two
// workers or more, off.
//
// A period is as many batches as there are workers. An epoch has four periods and one batch
// more. With a slow consumer, where only the first batch is slow, it has one period and some
// batches more. With more than 8 workers the whole grid has fewer periods, to save time.
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

// BenchmarkThrottled is the same with files that are as slow as over a network. Its workers
// wait rather than compute, so few processors can show up to 64 workers. An epoch has three
// periods of as many batches as workers and one batch more, and at least 8 batches. Without
// Help a single worker assembles that last batch, which takes as long as a period, while the
// others have nothing to do. So samples per second are up to a quarter lower than in a long
// epoch.
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
				Options: []loader.Option{loader.InFlight(workers + 1)}}})
		}
	}
	measure(b, cells)
}
