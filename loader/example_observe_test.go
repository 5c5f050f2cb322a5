package loader_test

import (
	"cmp"
	"context"
	"fmt"
	"log"
	"runtime"
	"slices"
	"time"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/loader"
)

// A hook prints the samples that fail.
func ExampleObserve() {
	trace := loader.Trace{
		SampleFailed: func(err *loader.SampleError) { fmt.Println("failed: sample", err.Index) },
	}
	l, err := loader.New(unlucky(16), loader.BatchSize(8), loader.Workers(0),
		loader.Skip(loader.NoLimit), loader.Observe(trace))
	if err != nil {
		log.Fatal(err)
	}
	defer l.Close()
	for batch, err := range l.Epoch(context.Background(), 0) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(batch.Len(), "samples")
	}
	// Output:
	// 8 samples
	// failed: sample 13
	// 7 samples
}

// The statistics of every epoch.
func ExampleStats_Sub() {
	l, err := loader.New(squares(8), loader.BatchSize(4))
	if err != nil {
		log.Fatal(err)
	}
	defer l.Close()
	for epoch := range 2 {
		before := l.Stats()
		for _, err := range l.Epoch(context.Background(), epoch) {
			if err != nil {
				log.Fatal(err)
			}
		}
		s := l.Stats().Sub(before)
		fmt.Println(s.Samples, "samples in", s.Batches, "batches")
	}
	// Output:
	// 8 samples in 2 batches
	// 8 samples in 2 batches
}

// An observer finds the slowest stage of every sample.
func ExampleTrace() {
	spec := dataset.Spec{{Name: "x", Dtype: dataset.Float32}}
	ds := dataset.Func(3, spec, func(_ context.Context, i int, dst dataset.Slot) error {
		dst.Stage(dataset.StageRead)
		time.Sleep(5 * time.Millisecond)
		dst.Stage(dataset.StageDecode)
		time.Sleep(time.Duration(150*i) * time.Millisecond)
		dataset.Set(dst, 0, float32(i))
		return nil
	})
	l, err := loader.New(ds, loader.Workers(0), loader.BatchSize(2), loader.Observe(loader.Trace{
		SampleDone: func(s loader.SampleInfo) {
			slowest := slices.MaxFunc(s.Stages, func(a, b loader.StageSpan) int { return cmp.Compare(a.Took, b.Took) })
			fmt.Printf("sample %d in row %d of batch %d: %s\n", s.Index, s.Row, s.Batch.Batch, slowest.Name)
		},
		BatchEnded: func(b loader.BatchInfo, took time.Duration) { fmt.Printf("batch %d was used\n", b.Batch) },
	}))
	if err != nil {
		log.Fatal(err)
	}
	defer l.Close()
	for _, err := range l.Epoch(context.Background(), 0) {
		if err != nil {
			log.Fatal(err)
		}
	}
	// Output:
	// sample 0 in row 0 of batch 0: read
	// sample 1 in row 1 of batch 0: decode
	// batch 0 was used
	// sample 2 in row 0 of batch 1: decode
	// batch 1 was used
}

// The loader adds workers, beyond the number of processors, because reads take long.
func ExampleAuto() {
	spec := dataset.Spec{{Name: "x", Dtype: dataset.Float32}}
	ds := dataset.Func(1<<20, spec, func(_ context.Context, i int, dst dataset.Slot) error {
		dst.Stage(dataset.StageRead)
		time.Sleep(5 * time.Millisecond) // a server that is far away
		dataset.Set(dst, 0, float32(i))
		return nil
	})
	l, err := loader.New(ds, loader.Workers(loader.Auto), loader.Budget(64<<20), loader.BatchSize(8))
	if err != nil {
		log.Fatal(err)
	}
	defer l.Close()
	for _, err := range l.Epoch(context.Background(), 0) {
		if err != nil {
			log.Fatal(err)
		}
		if s := l.Stats(); s.Workers > runtime.GOMAXPROCS(0) {
			fmt.Println("more workers than processors")
			break
		}
	}
	// Output:
	// more workers than processors
}
