package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/penstock-go/penstock/bench"
	"github.com/penstock-go/penstock/bench/model"
	"github.com/penstock-go/penstock/bench/result"
)

const modelSize = 64 // of pictures, in pixels on each side

// inference measures a model alone, on gorgonia's VM: at least so many pictures
// as samples, after a batch that does not count.
func inference(ctx context.Context, o options, w io.Writer) error {
	kinds := model.Kinds()
	at := slices.IndexFunc(kinds, func(k model.Kind) bool { return k.Name == o.model })
	if at < 0 {
		return fmt.Errorf("penstock: -model %s: there is none", o.model)
	}
	net, err := kinds[at].New(o.batch, modelSize)
	if err != nil {
		return err
	}
	defer net.Close()
	one := told{Parameters: net.Parameters()}
	if one.Record, err = bench.Blank(ctx); err != nil {
		return err
	}
	r := rand.New(rand.NewPCG(1, 5))
	pictures := make([]float32, o.batch*3*modelSize*modelSize)
	for i := range pictures {
		pictures[i] = float32(r.NormFloat64())
	}
	if err := net.Infer(pictures); err != nil {
		return err
	}
	m := &one.Record.Measured
	begun := time.Now()
	for m.Samples < int64(o.samples) {
		if err := net.Infer(pictures); err != nil {
			return err
		}
		m.Samples += int64(o.batch)
	}
	m.Seconds = time.Since(begun).Seconds()
	m.PerItem = m.Seconds / float64(m.Samples)
	one.Record.Study = result.Inference
	one.Record.Config = result.Config{Batch: o.batch, Data: "random", Model: o.model, Device: "cpu"}
	return json.NewEncoder(w).Encode(one)
}
