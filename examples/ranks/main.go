// Ranks loads a dataset in several processes, as in distributed training, each
// with its share of every epoch. Every process takes its rank from the environment,
// as torchrun, Slurm, Open MPI and Kubernetes set it. Here the program starts its own
// processes.
//
//	go run ./examples/ranks [-world N]
package main

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"log"
	"os"
	"os/exec"
	"strings"

	"golang.org/x/sync/errgroup"
	"gorgonia.org/tensor"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/loader"
	"github.com/penstock-go/penstock/sampler"
)

const samples = 22

func main() {
	log.SetFlags(0)
	world := flag.Int("world", 3, "number of processes")
	flag.Usage = func() {
		fmt.Fprintln(flag.CommandLine.Output(), "Ranks loads a dataset in several processes, each with its share of every epoch.\n\nFlags:")
		flag.PrintDefaults()
	}
	flag.Parse()
	if *world < 1 || *world > 64 {
		log.Fatalf("-world %d: want 1 to 64", *world)
	}
	run := launch
	if os.Getenv("WORLD_SIZE") != "" {
		run = func(int) error { return work() }
	}
	if err := run(*world); err != nil {
		log.Fatal(err)
	}
}

// work is what every rank does.
func work() error {
	rank, world, err := sampler.FromEnv()
	if err != nil {
		return err
	}
	shard, err := sampler.Shard(sampler.Shuffle(samples, 1), rank, world, sampler.KeepExact)
	if err != nil {
		return err
	}
	ds := dataset.Func(samples, dataset.Spec{{Name: "x", Dtype: tensor.Int64}},
		func(_ context.Context, i int, dst dataset.Slot) error {
			dataset.Set(dst, 0, int64(i))
			return nil
		})
	l, err := loader.New(ds, loader.Workers(2), loader.BatchSize(4), loader.Sampler(shard))
	if err != nil {
		return err
	}
	defer l.Close()
	for batch, err := range l.Epoch(context.Background(), 0) {
		if err != nil {
			return err
		}
		fmt.Printf("rank %d of %d, batch %d: %v\n", rank, world, batch.Number(), batch.Indices())
	}
	return nil
}

// launch starts the processes, prints what they load, and checks that every sample is
// loaded exactly once.
func launch(world int) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	outputs := make([]bytes.Buffer, world)
	var group errgroup.Group
	for rank := range world {
		group.Go(func() error {
			cmd := exec.Command(self)
			cmd.Env = append(os.Environ(), fmt.Sprint("RANK=", rank), fmt.Sprint("WORLD_SIZE=", world))
			cmd.Stdout, cmd.Stderr = &outputs[rank], os.Stderr
			return cmd.Run()
		})
	}
	if err := group.Wait(); err != nil {
		return err
	}
	times := map[string]int{}
	for rank := range outputs {
		fmt.Print(outputs[rank].String())
		for line := range strings.Lines(outputs[rank].String()) {
			_, list, _ := strings.Cut(strings.TrimSpace(line), ": ")
			for _, index := range strings.Fields(strings.Trim(list, "[]")) {
				times[index]++
			}
		}
	}
	for index, n := range times {
		if n != 1 {
			return fmt.Errorf("sample %s was loaded %d times", index, n)
		}
	}
	if len(times) != samples {
		return fmt.Errorf("%d of %d samples were loaded", len(times), samples)
	}
	fmt.Printf("%d samples, each exactly once\n", samples)
	return nil
}
