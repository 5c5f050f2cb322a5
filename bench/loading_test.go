package bench_test

import (
	"context"
	"os"
	"testing"
	"time"

	"github.com/penstock-go/penstock/bench"
	"github.com/penstock-go/penstock/bench/result"
	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/loader"
	"github.com/penstock-go/penstock/transform"
)

// A load is a configuration of the first study. Batches is how many are loaded.
type load struct {
	data           string
	batch, workers int
	consumer       time.Duration
	help           bool
	batches        int
}

// loads is the grid of the first study: batch × workers × consumer × data, each
// with Help on and off where there is anybody to help. There are batches for
// four periods of as many as workers and one batch more, which without Help is a
// single worker's and takes as long as a period where samples wait rather than
// compute; and with a slow consumer, where only the first batch is slow, for one
// and some more. The whole grid leaves periods out beyond 8 workers to end in
// time: of one or two of them nobody can tell a peak every period.
func loads() (all []load) {
	slow := sized(0, 100*time.Millisecond, 2*time.Second)
	for _, data := range []string{"photos", "preprocessed"} {
		for _, batch := range sized([]int{8}, []int{16, 64}, []int{32, 128, 256, 512, 1024}) {
			for _, workers := range sized([]int{1, 2}, []int{1, 2, 4, 8}, []int{1, 2, 4, 8, 32, 48, 64}) {
				for _, help := range []bool{true, false} {
					if workers == 1 && !help {
						continue
					}
					fast := load{data, batch, workers, 0, help, max(sized(4, 16, 24), sized(1, min(4*workers, 2*workers+16), min(4*workers, workers+32))+1)}
					all = append(all, fast)
					if slow > 0 && (*full || batch == 16 && workers != 2 && workers != 8 && data == "photos") {
						all = append(all, load{data, batch, workers, slow, help, max(12, min(workers+4, 24))})
					}
				}
			}
		}
	}
	return all
}

// BenchmarkLoading is the first study: the wait for every single batch, by batch
// size, workers, what the consumer takes for a batch, and kind of data.
func BenchmarkLoading(b *testing.B) {
	of := map[string]dataset.Dataset{"photos": photos(b, transform.Eval(224)), "preprocessed": preprocessed(b, 224)}
	var cells []cell
	for _, k := range loads() {
		ds := repeated(b, of[k.data], k.batch*k.batches)
		config := result.Config{Batch: k.batch, Workers: k.workers, ConsumerSeconds: k.consumer.Seconds(), Data: k.data, Help: help(k.help)}
		cells = append(cells, cell{name: named(config), config: config, run: func(ctx context.Context) (result.Measured, error) {
			return loaded(ctx, ds, bench.Busy(k.consumer), loader.Workers(k.workers), loader.BatchSize(k.batch), loader.Help(k.help))
		}})
	}
	measure(b, result.Loading, cells)
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
		for _, on := range []bool{true, false} {
			if workers == 1 && !on {
				continue
			}
			ds := repeated(b, ds, batch*sized(8, max(8, 3*workers+1), max(8, 3*workers+1)))
			config := result.Config{Batch: batch, Workers: workers, Prefetch: 1, Data: "photos", Help: help(on), Simulated: throttle.String()}
			cells = append(cells, cell{name: named(config), config: config, run: func(ctx context.Context) (result.Measured, error) {
				return loaded(ctx, ds, nil, loader.Workers(workers), loader.BatchSize(batch), loader.Prefetch(1), loader.Help(on), loader.ReadAhead(0))
			}})
		}
	}
	measure(b, result.Loading, cells)
}

// loaded is an epoch of a loader that was just made. Its memory is taken before,
// the workers' readers are opened within.
func loaded(ctx context.Context, ds dataset.Dataset, body func(context.Context, *loader.Batch) error, options ...loader.Option) (result.Measured, error) {
	l, err := loader.New(ds, options...)
	if err != nil {
		return result.Measured{}, err
	}
	defer l.Close()
	return bench.Epoch(ctx, l.Epoch(ctx, 0), body)
}
