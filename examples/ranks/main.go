// Ranks loads its share of an epoch, as torchrun, Slurm, Open MPI and Kubernetes say in the environment. A run that was
// killed goes on with another number of processes.
//
//	go run ./examples/ranks                       # one process
//	mpirun -n 4 ranks -out first                  # four; kill them
//	mpirun -n 3 ranks -out second -after first    # three go on
//	ranks -check -out second -after first         # checks that every sample was loaded once
//
// Every rank records its batches in a file of -out. docs/launchers.md shows all launchers.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"log"
	"os"
	"path/filepath"
	"time"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/loader"
	"github.com/penstock-go/penstock/sampler"
)

var step = flag.Duration("step", 5*time.Millisecond, "time that a training step takes")

const samples, batchSize = 2200, 16 // of the dataset, and of every rank

// A record is one batch of a rank: a line of its file.
type record struct {
	Position loader.Position `json:"position"` // after the batch
	Indices  []int           `json:"indices"`  // the samples of the batch
}

func main() {
	log.SetFlags(0)
	out := flag.String("out", "ranks-example", "`folder` in which every rank records what it has loaded")
	after := flag.String("after", "", "`folder` of a run that was killed: go on where it ended")
	check := flag.Bool("check", false, "check that -after and -out together hold every sample once")
	flag.Parse()
	do := work
	if *check {
		do = checkOnce
	}
	if err := do(*out, *after); err != nil {
		log.Fatal(err)
	}
}

// work loads this rank's share of the epoch. With after it goes on where that run ended.
func work(out, after string) error {
	rank, world, err := sampler.FromEnv()
	if err != nil {
		return err
	}
	ds := dataset.Func(samples, dataset.Spec{{Name: "x", Dtype: dataset.Int64}}, func(_ context.Context, i int, dst dataset.Slot) error {
		dataset.Set(dst, 0, int64(i))
		return nil
	})
	l, err := loader.New(ds, loader.BatchSize(batchSize), loader.Shuffle(true), loader.Seed(1), loader.Ranks(rank, world, sampler.KeepExact))
	if err != nil {
		return err
	}
	defer l.Close()
	from := l.Position(0)
	if after != "" {
		if from, _, err = read(after, from); err != nil {
			return err
		}
	}
	os.MkdirAll(out, 0o755) // without the folder, Create fails
	file, err := os.Create(filepath.Join(out, fmt.Sprintf("rank-%d-of-%d.jsonl", rank, world)))
	if err != nil {
		return err
	}
	defer file.Close()
	for b, err := range l.From(context.Background(), from, from.Epoch+1) {
		if err != nil {
			return err
		}
		time.Sleep(*step)
		if err := json.NewEncoder(file).Encode(record{b.Position(), b.Indices()}); err != nil {
			return err
		}
	}
	fmt.Printf("rank %d of %d: %d samples\n", rank, world, l.Stats().Samples)
	return nil
}

// read reads what the ranks of a run have recorded. The run goes on at common, after the last step that all of them have
// completed. A rank without a record never left the start.
func read(dir string, start loader.Position) (common loader.Position, records []record, err error) {
	names, _ := filepath.Glob(filepath.Join(dir, "rank-*-of-*.jsonl"))
	if len(names) == 0 {
		return common, nil, fmt.Errorf("folder %q holds no records of a run", dir)
	}
	var rank, world int
	fmt.Sscanf(filepath.Base(names[0]), "rank-%d-of-%d", &rank, &world)
	common = loader.Position{Epoch: start.Epoch + 1}
	for rank := range world {
		last := start
		file, err := os.Open(filepath.Join(dir, fmt.Sprintf("rank-%d-of-%d.jsonl", rank, world)))
		for lines := json.NewDecoder(file); err == nil; {
			var r record
			if err = lines.Decode(&r); err == nil {
				records, last = append(records, r), r.Position
			}
		}
		file.Close()
		if err != io.EOF && err != io.ErrUnexpectedEOF && !errors.Is(err, os.ErrNotExist) { // a kill cuts the last line
			return common, nil, err
		}
		if before(last, common) {
			common = last
		}
	}
	return common, records, nil
}

func before(a, b loader.Position) bool {
	return a.Epoch < b.Epoch || a.Epoch == b.Epoch && a.Draw < b.Draw
}

// checkOnce checks that the run in out, and before it that in after, have loaded every sample exactly once.
func checkOnce(out, after string) error {
	common, first, err := read(after, loader.Position{})
	_, second, failed := read(out, loader.Position{})
	if err := errors.Join(err, failed); err != nil {
		return err
	}
	var times [samples]int
	for k, r := range append(first, second...) {
		for _, i := range r.Indices {
			if k >= len(first) || !before(common, r.Position) { // what comes after it was loaded again
				times[i]++
			}
		}
	}
	for i, n := range times {
		if n != 1 {
			return fmt.Errorf("sample %d was loaded %d times", i, n)
		}
	}
	fmt.Printf("%d samples, each exactly once\n", samples)
	return nil
}
