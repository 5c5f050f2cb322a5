package trace_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"time"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/loader"
	"github.com/penstock-go/penstock/loader/trace"
)

// uneven is a dataset of four samples, of which number 2 takes 400 ms.
func uneven() dataset.Dataset {
	spec := dataset.Spec{{Name: "x", Dtype: dataset.Float32}}
	return dataset.Func(4, spec, func(_ context.Context, i int, dst dataset.Slot) error {
		dst.Stage(dataset.StageDecode)
		if i == 2 {
			time.Sleep(400 * time.Millisecond)
		}
		dataset.Set(dst, 0, float32(i))
		return nil
	})
}

func ExampleFile() {
	dir, err := os.MkdirTemp("", "")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	f, err := os.Create(filepath.Join(dir, "trace.json"))
	if err != nil {
		log.Fatal(err)
	}
	defer f.Close()

	l, err := loader.New(uneven(), loader.BatchSize(2), loader.Observe(trace.File(f)))
	if err != nil {
		log.Fatal(err)
	}
	for _, err := range l.Epoch(context.Background(), 0) {
		if err != nil {
			log.Fatal(err)
		}
	}
	if err := l.Close(); err != nil { // ends the file
		log.Fatal(err)
	}
	info, err := f.Stat()
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("the file is written:", info.Size() > 1000)
	// Output: the file is written: true
}

func ExampleSlowest() {
	slow := trace.Slowest(1)
	l, err := loader.New(uneven(), loader.BatchSize(2), loader.Observe(slow.Trace()))
	if err != nil {
		log.Fatal(err)
	}
	defer l.Close()
	for _, err := range l.Epoch(context.Background(), 0) {
		if err != nil {
			log.Fatal(err)
		}
	}
	for _, s := range slow.Samples() {
		fmt.Printf("sample %d in stage %s: more than 390 ms %t\n", s.Index, s.Stages[0].Name, s.Took > 390*time.Millisecond)
	}
	// Output: sample 2 in stage decode: more than 390 ms true
}
