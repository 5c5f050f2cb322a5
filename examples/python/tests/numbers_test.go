package tests

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"flag"
	"fmt"
	"os"
	"strings"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/loader"
	"github.com/penstock-go/penstock/loader/share"
)

// settings are those of a dataset that is easy to check: sample i holds the number i
// everywhere, besides what is random.
type settings struct {
	samples, size, batch, workers, slabs, fail, hangs, panics int
	seed                                                      uint64
	shuffle, dropLast, wrong, poison                          bool
}

func parsed(arguments []string) (s settings, err error) {
	flags := flag.NewFlagSet("numbers", flag.ContinueOnError)
	flags.IntVar(&s.samples, "samples", 100, "")
	flags.IntVar(&s.size, "size", 4096, "of field x")
	flags.IntVar(&s.batch, "batch_size", 8, "")
	flags.IntVar(&s.workers, "num_workers", 2, "")
	flags.IntVar(&s.slabs, "slabs", 5, "")
	flags.IntVar(&s.fail, "fail", -1, "the sample that cannot be placed")
	flags.IntVar(&s.hangs, "hangs", -1, "the sample that is never placed")
	flags.IntVar(&s.panics, "panics", -1, "the sample at which the program crashes")
	flags.Uint64Var(&s.seed, "seed", 0, "")
	flags.BoolVar(&s.shuffle, "shuffle", false, "")
	flags.BoolVar(&s.dropLast, "drop_last", false, "")
	flags.BoolVar(&s.wrong, "wrong", false, "memory that is not shared")
	flags.BoolVar(&s.poison, "poison", true, "overwrite what is given back")
	return s, flags.Parse(arguments)
}

// spec has small and large fields, and ragged ones.
func (s settings) spec() dataset.Spec {
	return dataset.Spec{
		{Name: "x", Dtype: dataset.Float32, Shape: dataset.Shape{s.size}},
		{Name: "y", Dtype: dataset.Int64},
		{Name: "random", Dtype: dataset.Float64, Shape: dataset.Shape{2}},
		{Name: "even", Dtype: dataset.Bool},
		{Name: "text", Dtype: dataset.Uint8, Ragged: true},
		{Name: "points", Dtype: dataset.Int32, Shape: dataset.Shape{2}, Ragged: true},
	}
}

func (s settings) dataset() dataset.Dataset {
	return dataset.Func(s.samples, s.spec(), func(_ context.Context, i int, dst dataset.Slot) error {
		switch i {
		case s.fail:
			return errors.New("number.txt: not a number")
		case s.hangs:
			select {}
		case s.panics:
			go panic("this program is to crash")
			select {}
		}
		x := dataset.Row[float32](dst, 0)
		for k := range x {
			x[k] = float32(i)
		}
		dataset.Set(dst, 1, int64(i))
		r := dst.Rand()
		copy(dataset.Row[float64](dst, 2), []float64{r.Float64(), r.Float64()})
		dataset.Set(dst, 3, i%2 == 0)
		copy(dataset.Grow[uint8](dst, 4, i%7), strings.Repeat("x", 7))
		points := dataset.Grow[int32](dst, 5, 1000*(i%5)) // large, and 0 elements in some
		for k := range points {
			points[k] = int32(i)
		}
		return nil
	})
}

func (s settings) loader(memory loader.Allocator) (*loader.Loader, error) {
	return loader.New(s.dataset(), loader.BatchSize(s.batch), loader.Workers(s.workers), loader.InFlight(s.slabs),
		loader.Shuffle(s.shuffle), loader.Seed(s.seed), loader.DropLast(s.dropLast), loader.Memory(memory), loader.Poison(s.poison))
}

// serve is the program that Python starts.
func serve(arguments []string) error {
	s, err := parsed(arguments)
	if err != nil {
		return err
	}
	if s.samples < 1 {
		return fmt.Errorf("samples %d: want some", s.samples)
	}
	var memory share.Memory
	allocator := loader.Allocator(&memory)
	if s.wrong {
		allocator = loader.Heap{}
	}
	l, err := s.loader(allocator)
	if err != nil {
		return err
	}
	defer l.Close()
	return share.Serve(context.Background(), l, &memory, share.Info("pid", os.Getpid()))
}

// sums are those of all batches of an epoch's Go loop, over the bytes of all fields.
func (s settings) sums(ctx context.Context, epoch int) (sums []string, err error) {
	l, err := s.loader(loader.Heap{})
	if err != nil {
		return nil, err
	}
	defer l.Close()
	for batch, err := range l.Epoch(ctx, epoch) {
		if err != nil {
			return nil, err
		}
		sums = append(sums, sum(batch))
	}
	return sums, nil
}

// sum is that of the bytes of all fields.
func sum(batch *loader.Batch) string {
	h := sha256.New()
	for _, f := range batch.Spec() {
		h.Write(batch.Bytes(f.Name))
	}
	return hex.EncodeToString(h.Sum(nil))
}
