// Resume shows how a run that was killed resumes exactly where it stopped.
//
//	go run ./examples/resume -kill 5   # dies in the middle of its sixth batch
//	go run ./examples/resume           # resumes with that batch
//
// The second run may use other -workers. Every line ends in a checksum of the batch, random
// noise included, to compare with a run that was never killed.
//
// The file resume.json holds the position after the last finished batch; a run that is complete
// removes it. A run takes less than a second.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"hash/crc32"
	"io/fs"
	"log"
	"os"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/loader"
)

func main() {
	log.SetFlags(0)
	state := flag.String("state", "resume.json", "`file` that holds the position")
	kill := flag.Int("kill", -1, "number of `batches` after which to die, in the middle of the next one; never if -1")
	workers := flag.Int("workers", 2, "`goroutines` that assemble batches")
	flag.Parse()
	if flag.NArg() > 0 {
		log.Fatalf("%q is no flag: see -h", flag.Arg(0))
	}
	if err := run(*state, *kill, *workers); err != nil {
		log.Fatal(err)
	}
}

func run(state string, kill, workers int) error {
	l, err := loader.New(noisy(40), loader.Workers(workers), loader.BatchSize(8), loader.Shuffle(true), loader.Seed(7))
	if err != nil {
		return err
	}
	defer l.Close()

	position, err := load(state)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		position = l.Position(0)
	case err != nil:
		return err
	default:
		fmt.Printf("resumed at epoch %d, draw %d\n", position.Epoch, position.Draw)
	}
	done := 0
	for batch, err := range l.From(context.Background(), position, 2) {
		if err != nil {
			return err
		}
		if done++; done-1 == kill {
			fmt.Println("killed; run again without -kill")
			os.Exit(0)
		}
		values, _ := json.Marshal(loader.Values[float64](batch, "x"))
		fmt.Printf("epoch %d, batch %d: samples %v, checksum %08x\n",
			batch.Epoch(), batch.Number(), batch.Indices(), crc32.ChecksumIEEE(values))
		// A training program would save the model's weights together with the position.
		if err := save(state, batch.Position()); err != nil {
			return err
		}
	}
	return os.Remove(state)
}

func load(path string) (p loader.Position, err error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return p, err
	}
	if err := json.Unmarshal(text, &p); err != nil {
		return p, fmt.Errorf("%s holds no position: %w: remove it to start a new run, or give another -state", path, err)
	}
	return p, nil
}

// save replaces the file as a whole, so that a kill leaves the old or the new one.
func save(path string, p loader.Position) error {
	text, err := json.Marshal(p)
	if err != nil {
		return err
	}
	if err := os.WriteFile(path+".new", text, 0o666); err != nil {
		return err
	}
	return os.Rename(path+".new", path)
}

// noisy is a dataset of n numbers with random noise, as augmentations add.
func noisy(n int) dataset.Dataset {
	spec := dataset.Spec{{Name: "x", Dtype: dataset.Float64}}
	return dataset.Func(n, spec, func(_ context.Context, i int, dst dataset.Slot) error {
		dataset.Set(dst, 0, float64(i)+dst.Rand().NormFloat64())
		return nil
	})
}
