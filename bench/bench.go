// Package bench measures the loader as a whole, on files. Its grids repeat five studies of PyTorch's DataLoader:
// go test -bench measures corners of them, and the program studies all of them, beside PyTorch.
//
//	go test -bench . ./bench/...                       # from the project's root, on made-up data
//	go test -bench Loading ./bench -photos DIR         # on your own photos, a folder per class
//	go test -bench Loading ./bench -full -timeout 24h  # the study's whole grid
//
// An iteration is an epoch of a new loader. The first batch's wait is reported separately: the median and the
// longest wait are those of the later batches.
package bench

import (
	"context"
	"fmt"
	"iter"
	"runtime"
	"time"

	"github.com/penstock-go/penstock/bench/result"
)

// A batch is one of loader or of gpu.
type batch interface {
	Len() int
	Number() int
}

// Epoch measures a loop over batches: the wait for every batch, from the end of the loop body to the next batch, and
// as Compute the time of body, which is called for every batch and may be nil. Seconds is the time from the loop's
// start to its end.
//
// CPU and allocations are those of the whole process, including the start of the loop.
func Epoch[B batch](ctx context.Context, batches iter.Seq2[B, error], body func(context.Context, B) error) (result.Measured, error) {
	m := result.Measured{Waits: make([]float64, 0, 4096)}
	err := counted(ctx, &m, func() error {
		begun := time.Now()
		free := begun // when the loop was free for the next batch
		for b, err := range batches {
			arrived := time.Now()
			if err != nil {
				return err
			}
			m.Waits = append(m.Waits, arrived.Sub(free).Seconds())
			m.Samples += int64(b.Len())
			m.LoadingEnd = arrived.Sub(begun).Seconds()
			free = arrived
			if body != nil {
				if err := body(ctx, b); err != nil {
					return fmt.Errorf("bench: batch %d: %w", b.Number(), err)
				}
				free = time.Now()
				m.Compute += free.Sub(arrived).Seconds()
			}
		}
		m.Seconds = time.Since(begun).Seconds()
		return nil
	})
	for _, w := range m.Waits {
		m.Waiting += w
	}
	if len(m.Waits) > 0 {
		m.FirstBatch = m.Waits[0]
	}
	return m, err
}

// Inferred measures the inference of at least so many samples, in batches of equal size. It calls infer for every
// batch, and once before the clock starts.
func Inferred(ctx context.Context, batch, samples int, infer func() error) (m result.Measured, err error) {
	if err := infer(); err != nil {
		return m, err
	}
	err = counted(ctx, &m, func() error {
		begun := time.Now()
		for m.Samples < int64(samples) {
			if err := infer(); err != nil {
				return err
			}
			m.Samples += int64(batch)
		}
		m.Seconds = time.Since(begun).Seconds()
		return nil
	})
	m.PerItem = m.Seconds / float64(m.Samples)
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

func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }
