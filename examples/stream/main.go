// Stream trains on a stream while it comes in, and goes on exactly after a kill.
//
//	go run ./examples/stream -kill 20   # dies in the middle of its 21st batch
//	go run ./examples/stream            # goes on with that batch
//
// It writes into the folder stream-example (-dir); remove it to start anew. A goroutine appends lines of JSON to a log;
// the loop reads them, shuffled in windows. The weights at the end are the same bit for bit as without the kill.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"log"
	"math/rand/v2"
	"os"
	"path/filepath"
	"time"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/dataset/stream"
	"github.com/penstock-go/penstock/loader"
)

// A tail is a log that is read while it is written: at its end Read waits until all lines are written.
type tail struct {
	*os.File
	written chan struct{}
}

func (t tail) Read(p []byte) (int, error) {
	n, err := t.File.Read(p)
	for ; err == io.EOF; n, err = t.File.Read(p) {
		select {
		case <-t.written:
			return t.File.Read(p)
		case <-time.After(time.Millisecond):
		}
	}
	return n, err
}

// produce writes the log, a few lines at a time: those of an earlier run again, as they are.
func produce(path string, written chan struct{}) error {
	defer close(written) // after an error, too, or the reader would wait for ever
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE, 0o666)
	if err != nil {
		return err
	}
	defer f.Close()
	for n := range 5000 {
		r := rand.New(rand.NewPCG(1, uint64(n)))
		x := 2*r.Float64() - 1
		if _, err = fmt.Fprintf(f, `{"x": %g, "y": %g}`+"\n", x, 3*x+1+0.1*r.NormFloat64()); err != nil {
			break
		}
		time.Sleep(time.Duration(n%25/24) * time.Millisecond)
	}
	return err
}

func main() {
	log.SetFlags(0)
	dir := flag.String("dir", "stream-example", "`folder` for the log, the spool and the state of the training")
	workers := flag.Int("workers", 2, "`goroutines` that assemble batches")
	kill := flag.Int("kill", -1, "number of `batches` after which to die, in the middle of the next one; never if -1")
	flag.Parse()
	if err := errors.Join(os.MkdirAll(*dir, 0o777), run(*dir, *workers, *kill)); err != nil {
		log.Fatal(err)
	}
}

func run(dir string, workers, kill int) (err error) {
	path, written := filepath.Join(dir, "log.jsonl"), make(chan struct{})
	produced := make(chan error, 1)
	file, err := os.OpenFile(path, os.O_RDONLY|os.O_CREATE, 0o666)
	if err != nil {
		return err
	}
	go func() { produced <- produce(path, written) }()
	defer file.Close()
	ds, err := stream.New(stream.Lines(tail{file, written}, "json"), filepath.Join(dir, "spool"), stream.Window(1000), stream.MaxBytes(64<<20))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, <-produced, ds.Close()) }()
	points, err := dataset.Map(ds, dataset.Spec{{Name: "x", Dtype: dataset.Float64}, {Name: "y", Dtype: dataset.Float64}},
		func(dst, src dataset.Slot) error { // in a worker
			var p struct{ X, Y float64 }
			err := json.Unmarshal(dataset.Row[byte](src, 0), &p)
			dataset.Set(dst, 0, p.X)
			dataset.Set(dst, 1, p.Y)
			return err
		})
	if err != nil {
		return err
	}
	l, err := loader.New(points, loader.BatchSize(50), loader.Workers(workers))
	if err != nil {
		return err
	}
	defer l.Close()
	var at struct { // what a training program saves
		Weights  [2]float64
		Position loader.Position
	}
	at.Position = l.Position(0)
	saved := filepath.Join(dir, "state.json")
	if text, err := os.ReadFile(saved); err == nil {
		if err := json.Unmarshal(text, &at); err != nil {
			return fmt.Errorf("%s: %w", saved, err)
		}
		fmt.Printf("goes on after %d lines\n", at.Position.Draw)
	}
	for batch, err := range l.From(context.Background(), at.Position, 1) {
		if err != nil {
			return err
		}
		if kill--; kill == -1 {
			log.Print("killed; run again without -kill")
			os.Exit(0) // nothing is closed
		}
		step(&at.Weights, loader.Values[float64](batch, "x"), loader.Values[float64](batch, "y"))
		at.Position = batch.Position()
		text, err := json.Marshal(at)
		if err := errors.Join(err, os.WriteFile(saved+".new", text, 0o666), os.Rename(saved+".new", saved)); err != nil {
			return err
		}
		if err := ds.Commit(at.Position.Draw); err != nil { // the spool needs no earlier records
			return err
		}
	}
	fmt.Printf("after %d lines: y = %.17g x + %.17g\n%v\n", at.Position.Draw, at.Weights[0], at.Weights[1], ds.Stats())
	return nil
}

// step is a step of gradient descent for y = w[0]·x + w[1]. The conversions keep processors from fusing operations.
func step(w *[2]float64, x, y []float64) {
	var slope, offset float64
	for k := range x {
		wrong := float64(w[0]*x[k]) + w[1] - y[k]
		slope, offset = slope+float64(wrong*x[k]), offset+wrong
	}
	w[0] -= 0.5 * slope / float64(len(x))
	w[1] -= 0.5 * offset / float64(len(x))
}
