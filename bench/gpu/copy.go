package main

import (
	"context"
	"errors"
	"fmt"
	"time"
	"unsafe"

	"github.com/penstock-go/penstock/bench/result"
)

// copyPart measures plain copies to the device. The caller waits for each copy.
func (b *benchmark) copyPart(ctx context.Context) error {
	fmt.Printf("\n%14s %14s %14s %8s\n", "bytes", "Go's, GB/s", "pinned, GB/s", "ratio")
	for _, size := range b.sizes {
		if err := b.oneSize(ctx, size); err != nil {
			return fmt.Errorf("copies of %d bytes: %w", size, err)
		}
	}
	return nil
}

// oneSize measures copies of one size, from page-locked and from Go's memory in turns.
func (b *benchmark) oneSize(ctx context.Context, size int) (err error) {
	slab, err := b.pinned.Alloc(size)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, b.pinned.Free(slab)) }()
	target, err := b.driver.alloc(size)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, b.driver.free(target)) }()
	heap := make([]byte, size)
	for i := range heap { // touch every page before the clock starts
		heap[i], slab[i] = byte(i), byte(i)
	}
	sources := []struct {
		side   string
		memory []byte
		rates  []float64
	}{{side: "penstock, Go's memory", memory: heap}, {side: "penstock, page-locked", memory: slab}}
	for round := range b.rounds {
		for i := range sources {
			s := &sources[i]
			m, err := b.timed(ctx, target, s.memory)
			if err != nil {
				return err
			}
			s.rates = append(s.rates, float64(size)*float64(m.Samples)/m.Transfer/1e9)
			err = b.keep(result.Record{Study: result.Loading, Side: s.side, Round: round, Measured: m,
				Config: result.Config{Batch: 1, Data: fmt.Sprintf("copies of %d bytes", size), Device: "cuda"}})
			if err != nil {
				return err
			}
		}
	}
	before, after := median(sources[0].rates), median(sources[1].rates)
	fmt.Printf("%14d %14.2f %14.2f %8.2f\n", size, before, after, after/before)
	return nil
}

// timed makes the copies of a round, after one copy that does not count.
func (b *benchmark) timed(ctx context.Context, target uintptr, from []byte) (m result.Measured, err error) {
	for i := range b.options.copies + 1 {
		if err := ctx.Err(); err != nil {
			return m, err
		}
		begun := time.Now()
		if _, err := b.driver.upload(target, unsafe.Pointer(&from[0]), len(from)); err != nil {
			return m, err
		}
		if i > 0 {
			m.Waits = append(m.Waits, max(time.Since(begun).Seconds(), 1e-9))
			m.Transfer += m.Waits[i-1]
		}
	}
	m.Samples, m.Seconds = int64(len(m.Waits)), m.Transfer
	return m, nil
}
