// Pretrain trains a small GPT on the project's own texts with GoMLX, on the backend in Go. A run that is killed goes on
// after its last checkpoint, and has the same losses, bit for bit, as one that was not.
//
//	go run ./examples/pretrain -kill-at 37   # dies after step 37
//	go run ./examples/pretrain               # goes on after step 30
//
// It writes the folder pretrain: files of tokens, the checkpoint, and loss.png, a curve of the losses.
package main

import (
	"context"
	"encoding/gob"
	"errors"
	"flag"
	"fmt"
	"image"
	"image/png"
	"io/fs"
	"log"
	"os"
	"path/filepath"

	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/gobackend"
	"github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
	"github.com/gomlx/gomlx/ml/layers"
	"github.com/gomlx/gomlx/ml/layers/activation"
	"github.com/gomlx/gomlx/ml/layers/attention"
	"github.com/gomlx/gomlx/ml/layers/norm"
	"github.com/gomlx/gomlx/ml/model"
	"github.com/gomlx/gomlx/ml/train"
	"github.com/gomlx/gomlx/ml/train/loss"
	"github.com/gomlx/gomlx/ml/train/optimizer"

	"github.com/penstock-go/penstock/examples/pretrain/texts"
	"github.com/penstock-go/penstock/loader"
	"github.com/penstock-go/penstock/loader/gomlx"
)

const (
	blocks, heads, width = 2, 4, 64
	every                = 10 // steps from one checkpoint to the next
)

func main() {
	log.SetFlags(0)
	dir := flag.String("dir", ".", "`folder` of the project, with its texts")
	out := flag.String("out", "pretrain", "`folder` to write")
	steps := flag.Int("steps", 40, "`batches` to train on, in all runs together")
	killAt := flag.Int("kill-at", -1, "`step` after which to die; never if -1")
	workers := flag.Int("workers", 2, "`goroutines` that assemble batches")
	flag.Parse()
	if flag.NArg() > 0 {
		log.Fatalf("%q is no flag: see -h", flag.Arg(0))
	}
	if *steps < 1 {
		log.Fatalf("-steps %d: want 1 or more", *steps)
	}
	must(0, os.MkdirAll(*out, 0o777))
	l := must(texts.New(context.Background(), *dir, *out, loader.Workers(*workers)))
	defer l.Close()
	c := load(filepath.Join(*out, "checkpoint"), l.Position(0))
	// One operation at a time, on all processors: on a single one several would wait for each other for ever.
	backend := must(gobackend.New("ops_sequential"))
	defer backend.Finalize()
	batches := must(gomlx.New(backend, l, gomlx.Inputs("input_ids", "position_ids", "segment_ids"), gomlx.Labels("labels", "loss_mask"),
		gomlx.From(c.Position), gomlx.Infinite(true)))
	c.store.SetParam(model.ParamInitialSeed, int64(1))
	loop := train.NewLoop(train.NewTrainer(backend, c.store, gpt, crossEntropy, optimizer.Adam().LearningRate(0.003).Done(), nil, nil))
	loop.OnStep("checkpoint", 0, func(_ *train.Loop, metrics []*tensors.Tensor) error {
		c.Losses, c.Position = append(c.Losses, tensors.ToScalar[float32](metrics[0])), batches.Position()
		step := len(c.Losses)
		fmt.Printf("step %d: loss %v\n", step, c.Losses[step-1])
		if step == *killAt {
			fmt.Println("killed; run again without -kill-at")
			os.Exit(0)
		}
		if step%every == 0 || step == *steps {
			c.save()
		}
		return nil
	})
	if done := len(c.Losses); done < *steps {
		fmt.Printf("begins after step %d, of %d\n", done, *steps)
		must(loop.RunSteps(batches, *steps-done))
	}
	draw(filepath.Join(*out, "loss.png"), c.Losses)
}

// must is v, unless there is an error, which ends the program.
func must[T any](v T, err error) T {
	if err != nil {
		log.Fatal(err)
	}
	return v
}

// gpt takes input_ids, position_ids and segment_ids, (rows, length) each, and gives logits (rows, length, tokens).
func gpt(scope *model.Scope, _ any, inputs []*graph.Node) []*graph.Node {
	ids, positions, segments := inputs[0], inputs[1], inputs[2]
	x := graph.Add(layers.Embedding(scope.In("token"), ids, dtypes.Float32, texts.End+1, width),
		layers.Embedding(scope.In("position"), positions, dtypes.Float32, texts.Length, width))
	// A token sees itself and those before it, of its own text.
	before := graph.InsertAxes(graph.LowerTriangular(x.Graph(), texts.Length), 0)
	seen := graph.LogicalAnd(graph.Equal(graph.InsertAxes(segments, 2), graph.InsertAxes(segments, 1)), before)
	for k := range blocks {
		in := scope.In("block%d", k)
		normed := norm.LayerNorm(in.In("before_attention"), x, -1).Done()
		x = graph.Add(x, attention.SelfAttention(in, normed, heads, width/heads).WithQueryKeyMatrixMask(seen).Done())
		normed = norm.LayerNorm(in.In("before_dense"), x, -1).Done()
		wide := activation.Gelu(layers.DenseWithBias(in.In("wide"), normed, 4*width))
		x = graph.Add(x, layers.DenseWithBias(in.In("narrow"), wide, width))
	}
	return []*graph.Node{layers.DenseWithBias(scope.In("logits"), norm.LayerNorm(scope, x, -1).Done(), texts.End+1)}
}

// crossEntropy is the mean over all labels, which loss_mask tells from places without one.
func crossEntropy(labels, logits []*graph.Node) *graph.Node {
	is := graph.GreaterThan(labels[1], graph.ZerosLike(labels[1]))
	return loss.SparseCategoricalCrossEntropyLogits([]*graph.Node{graph.InsertAxes(labels[0], -1), is}, logits)
}

// A checkpoint is what a run needs to go on: its place in the data, and the model with the state of Adam.
type checkpoint struct {
	Position  loader.Position
	Losses    []float32
	Variables []string // whose tensors follow in the file

	name  string
	store *model.Store
}

// load reads a checkpoint. If there is no file, it is that before the first step.
func load(name string, begin loader.Position) *checkpoint {
	c := &checkpoint{Position: begin, name: name, store: model.NewStore()}
	f, err := os.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return c
	}
	defer must(f, err).Close()
	in := gob.NewDecoder(f)
	if err := in.Decode(c); err != nil {
		log.Fatalf("%s is no checkpoint: %v: remove it to begin anew", name, err)
	}
	for _, v := range c.Variables {
		must(c.store.CreateVariable(v, must(tensors.GobDeserialize(in))))
	}
	return c
}

// save replaces the file as a whole: a kill leaves the old one or the new one.
func (c *checkpoint) save() {
	c.Variables = nil
	for v := range c.store.IterVariables() {
		c.Variables = append(c.Variables, v.Path())
	}
	f := must(os.Create(c.name + ".new"))
	out := gob.NewEncoder(f)
	must(0, out.Encode(c))
	for v := range c.store.IterVariables() {
		must(0, v.MustValue().GobSerialize(out))
	}
	must(0, f.Close())
	must(0, os.Rename(f.Name(), c.name))
}

// draw draws the losses of all steps: what is below them is grey, with a line at every whole number.
func draw(name string, losses []float32) {
	const w, h, perUnit = 600, 300, 50
	picture := image.NewGray(image.Rect(0, 0, w, h))
	for i := range picture.Pix {
		picture.Pix[i] = 255
		if at := h - i/w; at%perUnit > 0 && float32(at) <= perUnit*losses[i%w*len(losses)/w] {
			picture.Pix[i] = 100
		}
	}
	f := must(os.Create(name))
	must(0, errors.Join(png.Encode(f, picture), f.Close()))
}
