// Stream trains on a stream while it comes in, and goes on exactly after a kill.
//
//	go run ./examples/stream -kill 20   # dies in the middle of its 21st batch
//	go run ./examples/stream            # goes on with that batch
//
// It writes into the folder stream-example (-dir), and takes a second. Remove the folder to start
// anew. A producer appends lines of JSON to a log. The loop reads them in batches, shuffled in
// windows. The weights at the end are the same bit for bit as without the kill, and for
// any number of -workers.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/signal"
	"path/filepath"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/dataset/stream"
	"github.com/penstock-go/penstock/internal/usage"
	"github.com/penstock-go/penstock/loader"
)

// options are what the flags say.
type options struct {
	dir     string
	lines   int
	workers int
	kill    int
	die     func()
}

func main() {
	var o options
	usage.NewFolder(&o.dir, "dir", "stream-example", "`folder` for the log, the spool and the state of the training")
	usage.Int(&o.lines, "lines", 5000, 1, "number of `lines` that the producer writes in all")
	usage.Int(&o.workers, "workers", 2, 0, "`goroutines` that assemble batches")
	usage.Int(&o.kill, "kill", -1, -1, "number of `batches` after which to die, in the middle of the next one; never if -1")
	usage.Parse("Stream trains on a stream while it comes in, and goes on exactly after a kill.")
	o.die = func() {
		fmt.Println("killed; run again without -kill")
		os.Exit(0) // nothing is closed
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	_, err := run(ctx, o)
	if ctx.Err() != nil {
		err = errors.New("interrupted; the same command goes on with the next batch")
	}
	if err != nil {
		usage.Fatal(err)
	}
}

var errKilled = errors.New("killed")

// A state is what a training program saves: its weights, and where it is in the stream.
type state struct {
	Weights  [2]float64
	Position loader.Position
}

func run(ctx context.Context, o options) (weights [2]float64, err error) {
	follow, err := produce(ctx, filepath.Join(o.dir, "log.jsonl"), o.lines)
	if err != nil {
		return weights, err
	}
	defer follow.Close()
	ds, err := stream.New(stream.Lines(follow, "json"), filepath.Join(o.dir, "spool"), stream.Window(1000), stream.MaxBytes(64<<20))
	if err != nil {
		return weights, err
	}
	defer func() {
		follow.stop() // ends a Read that waits for the producer
		err = errors.Join(err, ds.Close())
	}()
	points, err := dataset.Map(ds, dataset.Spec{{Name: "x", Dtype: dataset.Float64}, {Name: "y", Dtype: dataset.Float64}}, parse)
	if err != nil {
		return weights, err
	}
	l, err := loader.New(points, loader.BatchSize(50), loader.Workers(o.workers))
	if err != nil {
		return weights, err
	}
	defer l.Close()

	file := filepath.Join(o.dir, "state.json")
	at, err := load(file, l)
	if err != nil {
		return weights, err
	}
	done := 0
	for batch, err := range l.From(ctx, at.Position, 1) {
		if err != nil {
			return weights, err
		}
		if done++; done-1 == o.kill {
			o.die()
			return at.Weights, errKilled
		}
		step(&at.Weights, loader.Values[float64](batch, "x"), loader.Values[float64](batch, "y"))
		at.Position = batch.Position()
		if err := save(file, at); err != nil {
			return weights, err
		}
		if err := ds.Commit(at.Position.Draw); err != nil { // the spool needs no earlier records
			return weights, err
		}
		if batch.Number()%10 == 9 {
			fmt.Printf("batch %d: y = %.4f x + %.4f; spool: %v\n", batch.Number(), at.Weights[0], at.Weights[1], ds.Stats())
		}
	}
	fmt.Printf("after %d lines: y = %.17g x + %.17g\n", at.Position.Draw, at.Weights[0], at.Weights[1])
	return at.Weights, nil
}

// parse reads a line in a worker.
func parse(dst, src dataset.Slot) error {
	var p struct{ X, Y float64 }
	if err := json.Unmarshal(dataset.Row[byte](src, 0), &p); err != nil {
		return err
	}
	dataset.Set(dst, 0, p.X)
	dataset.Set(dst, 1, p.Y)
	return nil
}

// step is a step of gradient descent for y = w[0]·x + w[1].
func step(w *[2]float64, x, y []float64) {
	var slope, offset float64
	for k := range x {
		wrong := float64(w[0]*x[k]) + w[1] - y[k]
		slope += float64(wrong * x[k])
		offset += wrong
	}
	const rate = 0.5
	w[0] -= float64(rate * slope / float64(len(x)))
	w[1] -= float64(rate * offset / float64(len(x)))
}

func load(file string, l *loader.Loader) (at state, err error) {
	text, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return state{Position: l.Position(0)}, nil
	}
	if err != nil {
		return at, err
	}
	if err := json.Unmarshal(text, &at); err != nil {
		return at, fmt.Errorf("%s holds no state: %w: remove the folder to start anew", file, err)
	}
	fmt.Printf("goes on after %d lines\n", at.Position.Draw)
	return at, nil
}

// save replaces the file as a whole, so that a kill leaves the old or the new one.
func save(file string, at state) error {
	text, err := json.Marshal(at)
	if err != nil {
		return err
	}
	if err := os.WriteFile(file+".new", text, 0o666); err != nil {
		return err
	}
	return os.Rename(file+".new", file)
}
