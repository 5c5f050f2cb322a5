package dataset_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"testing/fstest"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/dataset/packed"
)

// planned is a dataset that prints what it will read.
type planned struct{ squares }

func (planned) Foresee(f dataset.Future) (stop func()) {
	for batch := range f.Len() {
		fmt.Println("batch", batch, "reads", f.At(batch, nil))
	}
	return func() { fmt.Println("stop") }
}

// epoch is a Future, as a loader makes one.
type epoch [][]int

func (e epoch) Len() int                      { return len(e) }
func (e epoch) At(batch int, dst []int) []int { return append(dst, e[batch]...) }
func (e epoch) Begun() int                    { return 0 }
func (e epoch) Done() int                     { return 0 }

// Datasets that wrap another one pass the future on, with the indices of the underlying
// dataset.
func ExampleForesee() {
	odd, err := dataset.Subset(planned{squares{10}}, []int{1, 3, 5, 7, 9})
	if err != nil {
		log.Fatal(err)
	}
	stop := dataset.Foresee(odd, epoch{{4, 0}, {2, 3}})
	stop()
	// Output:
	// batch 0 reads [9 1]
	// batch 1 reads [5 7]
	// stop
}

// photoFolder reads one file per sample.
type photoFolder struct{ squares }

func (photoFolder) Foresee(f dataset.Future) (stop func()) {
	return dataset.ForeseeFiles(os.DirFS("photos"), f, dataset.FileBlocks{
		Len: 10,
		At: func(i int, dst []dataset.FilePart) []dataset.FilePart {
			return append(dst, dataset.FilePart{Path: fmt.Sprintf("%d.jpg", i), Len: -1})
		},
	})
}

// A dataset of files says which of them it will read. The operating system, or the file system of
// package objects, then fetches them in that order.
func ExampleForeseeFiles() {
	if stop := dataset.Foresee(photoFolder{}, epoch{{4, 0}}); stop != nil {
		defer stop() // of a loader: when all batches are complete
	}
	// Output:
}

// A packed file leaves out a large field, once its checksum has been compared. Its reader
// then reads the parts that are needed.
func ExamplePartReader() {
	ctx := context.Background()
	spec := dataset.Spec{{Name: "text", Dtype: dataset.Uint8, Ragged: true}, {Name: "label", Dtype: dataset.Int64}}
	texts := dataset.Func(1, spec, func(_ context.Context, i int, dst dataset.Slot) error {
		copy(dataset.Grow[uint8](dst, 0, 1<<20), "It was a dark and stormy night")
		dataset.Set(dst, 1, int64(7))
		return nil
	})
	var file bytes.Buffer
	if err := packed.Write(ctx, &file, texts); err != nil {
		log.Fatal(err)
	}
	ds, err := packed.Open(fstest.MapFS{"texts.packed": {Data: file.Bytes()}}, "texts.packed")
	if err != nil {
		log.Fatal(err)
	}
	r, err := ds.Open()
	if err != nil {
		log.Fatal(err)
	}
	defer r.Close()
	slot := dataset.NewSlot(spec...)
	if err := r.Place(ctx, 0, slot); err != nil { // reads and checks everything
		log.Fatal(err)
	}
	n, parts, err := r.(dataset.PartReader).PlaceParts(ctx, 0, 0, slot)
	if err != nil {
		log.Fatal(err)
	}
	word := make([]byte, 4)
	if _, err := parts.ReadAt(word, 9); err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%q of %d bytes, label %d\n", word, n, dataset.Row[int64](slot, 1))
	// Output: "dark" of 1048576 bytes, label [7]
}

// busy is the error of a service that has no time now.
type busy struct{}

func (busy) Error() string   { return "status 503" }
func (busy) Temporary() bool { return true }

func ExampleMayPass() {
	fmt.Println(dataset.MayPass(fmt.Errorf("read cat/1.jpg: %w", busy{})))
	fmt.Println(dataset.MayPass(errors.New("cat/1.jpg: not a JPEG file")))
	// Output:
	// true
	// false
}
