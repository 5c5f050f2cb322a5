// Package bench measures the loader as a whole, on files: what its users get, in
// samples per second and in milliseconds to the first batch. Its benchmarks are
// five studies of PyTorch's DataLoader, done again, and some smaller questions.
//
//	go test -bench . ./bench/...                            # from the project's root, on made-up data
//	go test -bench Loading ./bench -photos DIR              # on your own photos, a folder per class
//	go test -bench . ./bench -rounds 5 -results FILE.jsonl  # keep every single wait, for bench/report
//	go test -bench Loading ./bench -full -timeout 24h       # the study's whole grid
//
// Configurations that are compared take turns, round by round, so that a machine
// whose speed drifts treats them alike; what is reported is the median over
// rounds, and as spread-% what lies between the least and the most of them. The
// first batch's wait has a figure of its own; median, 99th percentile and longest
// are of the waits after it, of which the 99th percentile is the longest where
// they are fewer than a hundred.
package bench

import (
	"context"
	"fmt"
	"iter"
	"runtime"
	"time"

	"github.com/penstock-go/penstock/bench/result"
	"github.com/penstock-go/penstock/loader"
)

// Side is what the records of this library are called.
const Side = "penstock"

// Epoch measures a loop over batches: the wait for every single one as the loop
// sees it, from the end of its body to the next batch, and what body takes, as
// Compute. Body is what is done with a batch; nil is nothing. Seconds are from
// the loop's start to its end.
//
// CPU is that of the whole process, and so are allocations, those of the loop's
// start included.
func Epoch(ctx context.Context, batches iter.Seq2[*loader.Batch, error], body func(context.Context, *loader.Batch) error) (result.Measured, error) {
	m := result.Measured{Waits: make([]float64, 0, 4096)}
	err := counted(ctx, &m, func() error {
		begun := time.Now()
		free := begun // when the loop was free for the next batch
		for batch, err := range batches {
			arrived := time.Now()
			if err != nil {
				return err
			}
			m.Waits = append(m.Waits, arrived.Sub(free).Seconds())
			m.Samples += int64(batch.Len())
			m.LoadingEnd = arrived.Sub(begun).Seconds()
			free = arrived
			if body != nil {
				if err := body(ctx, batch); err != nil {
					return fmt.Errorf("bench: batch %d: %w", batch.Number(), err)
				}
				free = time.Now()
				m.Compute += free.Sub(arrived).Seconds()
			}
		}
		m.Seconds = time.Since(begun).Seconds()
		return nil
	})
	summed(&m)
	return m, err
}

// counted runs f and counts what the process allocates and computes meanwhile.
func counted(ctx context.Context, m *result.Measured, f func() error) error {
	var before, after runtime.MemStats
	cpu := cpuTime(ctx)
	runtime.ReadMemStats(&before)
	err := f()
	runtime.ReadMemStats(&after)
	m.CPU = cpuTime(ctx) - cpu
	m.Allocations = int64(after.Mallocs - before.Mallocs)
	m.AllocatedBytes = int64(after.TotalAlloc - before.TotalAlloc)
	return err
}

// summed adds up the waits.
func summed(m *result.Measured) {
	for _, w := range m.Waits {
		m.Waiting += w
	}
	if len(m.Waits) > 0 {
		m.FirstBatch = m.Waits[0]
	}
}

func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Blank is a record of this library on this machine, now, in which study,
// configuration and figures are missing.
func Blank(ctx context.Context) (result.Record, error) {
	machine, err := result.ThisMachine(ctx)
	if err != nil {
		return result.Record{}, err
	}
	return result.Record{Side: Side, Date: time.Now().UTC().Truncate(time.Second), Machine: machine, Versions: result.Versions(ctx)}, nil
}
