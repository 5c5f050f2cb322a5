package dataset_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/loader"
)

// table places samples one by one, or a batch by one query.
type table struct{ n int }

func (t table) Len() int                      { return t.n }
func (t table) Spec() dataset.Spec            { return dataset.Spec{{Name: "square", Dtype: dataset.Int64}} }
func (t table) Open() (dataset.Reader, error) { return t, nil }
func (t table) Close() error                  { return nil }

func (t table) Place(ctx context.Context, i int, dst dataset.Slot) error {
	if err := dataset.CheckIndex(i, t.n); err != nil {
		return err
	}
	dataset.Set(dst, 0, int64(i*i))
	return nil
}

func (t table) PlaceBatch(ctx context.Context, indices []int, dst dataset.Slots) error {
	fmt.Println("SELECT square FROM table WHERE id IN", indices)
	for k, i := range indices {
		if err := t.Place(ctx, i, dst.At(k)); err != nil {
			return err
		}
	}
	return nil
}

// A database answers one query for a batch faster than one for each sample. Datasets that wrap
// another one, such as Subset, keep the batch in one piece.
func ExampleBatchReader() {
	ds, err := dataset.Subset(table{100}, []int{3, 50, 99, 7})
	if err != nil {
		log.Fatal(err)
	}
	l, err := loader.New(ds, loader.BatchSize(2), loader.Workers(0))
	if err != nil {
		log.Fatal(err)
	}
	defer l.Close()
	for batch, err := range l.Epoch(context.Background(), 0) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(loader.Values[int64](batch, "square"))
	}
	// Output:
	// SELECT square FROM table WHERE id IN [3 50]
	// [9 2500]
	// SELECT square FROM table WHERE id IN [99 7]
	// [9801 49]
}

// Every worker has a device of its own, which it finds by its id.
func ExampleWorker() {
	spec := dataset.Spec{{Name: "x", Dtype: dataset.Float32}}
	devices := []string{"cuda:0", "cuda:1"}
	used := make([]bool, len(devices)) // a worker writes its own element
	ds := dataset.Func(1000, spec, func(ctx context.Context, i int, dst dataset.Slot) error {
		worker, ok := dataset.Worker(ctx)
		if !ok {
			return errors.New("not in a loader")
		}
		used[worker%len(devices)] = true // here the sample would be decoded on that device
		dataset.Set(dst, 0, float32(i))  // it must be the same for any worker
		return nil
	})
	l, err := loader.New(ds, loader.BatchSize(100), loader.Workers(1))
	if err != nil {
		log.Fatal(err)
	}
	defer l.Close()
	for _, err := range l.Epoch(context.Background(), 0) {
		if err != nil {
			log.Fatal(err)
		}
	}
	fmt.Println(devices, used)
	// Output: [cuda:0 cuda:1] [true false]
}

// A panic in your own code is an error that names the sample. The loop and the other workers
// end in order.
func ExamplePanicError() {
	spec := dataset.Spec{{Name: "label", Dtype: dataset.Int64}}
	labels := []int64{1, 0, 1}
	ds := dataset.Func(4, spec, func(_ context.Context, i int, dst dataset.Slot) error {
		dataset.Set(dst, 0, labels[i])
		return nil
	})
	l, err := loader.New(ds, loader.BatchSize(4))
	if err != nil {
		log.Fatal(err)
	}
	defer l.Close()
	for _, err := range l.Epoch(context.Background(), 0) {
		var panicked *dataset.PanicError
		if errors.As(err, &panicked) {
			fmt.Println(panicked.Value) // and panicked.Stack says where
		}
		var sample *loader.SampleError
		if errors.As(err, &sample) {
			fmt.Println("sample", sample.Index)
		}
	}
	// Output:
	// runtime error: index out of range [3] with length 3
	// sample 3
}

// Each is for writing a dataset to a file of another program.
func ExampleEach() {
	ds := squares{4}
	err := dataset.Each(context.Background(), ds, func(i int, s dataset.Slot) error {
		_, err := fmt.Fprintf(os.Stdout, "%s: %d\n", dataset.Name(ds, i), dataset.Row[int64](s, 1)[0])
		return err
	})
	if err != nil {
		log.Fatal(err)
	}
	// Output:
	// square of 0: 0
	// square of 1: 1
	// square of 2: 4
	// square of 3: 9
}
