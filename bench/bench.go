// Package bench measures the loader as a whole, on files, in samples per second and in
// milliseconds to the first batch. Its benchmarks repeat five studies of PyTorch's
// DataLoader, and answer some smaller questions.
//
//	go test -bench . ./bench/...                            # from the project's root, on made-up data
//	go test -bench Loading ./bench -photos DIR              # on your own photos, a folder per class
//	go test -bench . ./bench -rounds 5 -results FILE.jsonl  # keep the wait for every batch, for bench/report
//	go test -bench Loading ./bench -full -timeout 24h       # the study's whole grid
//
// Configurations that are compared take turns in every round, so that a change of the
// machine's speed affects all of them. A benchmark reports the median over rounds, and as
// spread-% the difference between the least and the greatest round, in percent of the median.
// The first batch's wait is reported separately. The median, the 99th percentile and the
// longest wait are those of the later batches; with fewer than a hundred waits the 99th
// percentile is the longest one.
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

// Side is the name of this library in records.
const Side = "penstock"

// Epoch measures a loop over batches: the wait for every batch, from the end of the loop
// body to the next batch, and as Compute the time of body, which is called for every batch
// and may be nil. Seconds is the time from the loop's start to its end.
//
// CPU and allocations are those of the whole process, including the start of the loop.
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

// counted runs f and measures the process's allocations and CPU time meanwhile.
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

// Blank returns a record of this library, on this machine, at this time. The caller fills
// in the study, the configuration and the figures.
func Blank(ctx context.Context) (result.Record, error) {
	machine, err := result.ThisMachine(ctx)
	if err != nil {
		return result.Record{}, err
	}
	return result.Record{Side: Side, Date: time.Now().UTC().Truncate(time.Second), Machine: machine, Versions: result.Versions(ctx)}, nil
}
