package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"
	"unsafe"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/gpu"
	"github.com/penstock-go/penstock/loader"
)

// rowWidth of numbered's samples, each of 8 KiB.
const rowWidth = 1024

// value is element k of sample i.
func value(i, k int) int64 { return int64(i)*1_000_003 + int64(k) }

// numbered is a dataset of which every sample differs.
func numbered(n int) dataset.Dataset {
	spec := dataset.Spec{{Name: "x", Dtype: dataset.Int64, Shape: dataset.Shape{rowWidth}}}
	return dataset.Func(n, spec, func(_ context.Context, i int, dst dataset.Slot) error {
		for k, row := 0, dataset.Row[int64](dst, 0); k < rowWidth; k++ {
			row[k] = value(i, k)
		}
		return nil
	})
}

// staged makes a stage over a loader in page-locked memory, until the check ends.
func (s *subject) staged(ds dataset.Dataset, batch, buffers int) (*gpu.Stage, error) {
	p, err := s.device.Pinned()
	if err != nil {
		return nil, err
	}
	s.later(p.Close)
	l, err := loader.New(ds, loader.Memory(p), loader.BatchSize(batch), loader.Workers(2))
	if err != nil {
		return nil, err
	}
	s.later(l.Close)
	stage, err := gpu.NewStage(s.device, l, gpu.Buffers(buffers))
	if err != nil {
		return nil, err
	}
	s.later(stage.Close)
	return stage, nil
}

// checkStage lets a kernel read every batch long after its loop body.
func checkStage(s *subject) error {
	const batches, size = 300, 8
	if err := s.open(); err != nil {
		return err
	}
	stage, err := s.staged(numbered(batches*size), size, 3)
	if err != nil {
		return err
	}
	const part = 8 * blocks * threads
	sums, err := s.take(batches * part)
	if err != nil {
		return err
	}
	for leave := range 10 {
		s.step("a loop that is left at batch %d", leave)
		for b, err := range stage.Epoch(context.Background(), 0) {
			if err != nil {
				return err
			}
			if b.Number() == leave {
				break
			}
		}
	}
	s.step("the loop")
	var want []uint64
	for b, err := range stage.Epoch(context.Background(), 0) {
		if err != nil {
			return err
		}
		var expected []int64
		for _, i := range b.Indices() {
			for k := range rowWidth {
				expected = append(expected, value(i, k))
			}
		}
		content := unsafe.Slice((*byte)(unsafe.Pointer(&expected[0])), 8*len(expected))
		if b.Number() != len(want) || b.Indices()[0] != len(want)*size {
			return fmt.Errorf("batch %d begins with sample %d, want batch %d", b.Number(), b.Indices()[0], len(want))
		}
		column := b.Column("x")
		if column.Bytes != len(content) {
			return fmt.Errorf("batch %d has %d bytes, want %d", b.Number(), column.Bytes, len(content))
		}
		if b.Number()%10 == 0 {
			got := make([]byte, len(content))
			if _, err := b.Download(got, "x"); err != nil {
				return err
			}
			if !slices.Equal(got, content) {
				return fmt.Errorf("batch %d: Download returns other data", b.Number())
			}
		}
		err := errors.Join(
			s.spin(s.other, 500*time.Microsecond),
			s.launch("sums", s.other, uint64(column.Pointer), uint64(column.Bytes), uint64(sums)+uint64(part*len(want))),
			b.UsedBy(s.other),
		)
		if err != nil {
			return err
		}
		want = append(want, weighted(content))
	}
	if err := s.wait(s.other); err != nil {
		return err
	}
	if len(want) != batches {
		return fmt.Errorf("%d batches came, want %d", len(want), batches)
	}
	for i := range want {
		got, err := s.total(sums + uintptr(i*part))
		if err != nil {
			return err
		}
		if got != want[i] {
			return fmt.Errorf("batch %d: the sum on the device is %d, want %d", i, got, want[i])
		}
	}
	stats := stage.Stats()
	s.note("%d batches of %d bytes; %d of %d were early; %.0f %% of the upload time was hidden",
		batches, size*rowWidth*8, stats.Early, stats.Batches, 100*stats.HiddenShare())
	return nil
}
