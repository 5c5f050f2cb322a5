//go:build cgo

// Onnx measures a cell of the fifth study in ONNX Runtime, which it is given as JSON, and prints what the program studies reads.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"

	"github.com/penstock-go/penstock/bench"
	"github.com/penstock-go/penstock/bench/result"
	"github.com/penstock-go/penstock/examples/onnx/model"
	"github.com/penstock-go/penstock/examples/onnx/nets"
	"github.com/penstock-go/penstock/examples/onnx/ort"
)

func main() {
	if len(os.Args) != 2 || os.Args[1] == "-h" {
		fmt.Fprintln(os.Stderr, "Onnx measures EfficientNet-Lite0 or a ViT-Tiny in ONNX Runtime for the program studies.\nusage: onnx CELL")
		os.Exit(2)
	}
	var c bench.Cell
	err := json.Unmarshal([]byte(os.Args[1]), &c)
	if err == nil {
		err = run(context.Background(), c)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "onnx:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, c bench.Cell) error {
	m, parameters, err := measure(ctx, c)
	if err != nil {
		return err
	}
	versions := result.Versions(ctx)
	versions["onnxruntime"] = ort.Version()
	return json.NewEncoder(os.Stdout).Encode(map[string]any{"measured": m, "versions": versions, "parameters": parameters})
}

// measure measures the cell's net, and counts its parameters. The weights of the ViT are random, which takes the same time.
func measure(ctx context.Context, c bench.Cell) (m result.Measured, parameters int, err error) {
	files, err := model.Find(model.Folder())
	if err != nil {
		return m, 0, err
	}
	switch parameters = nets.Lite0Parameters; c.Config.Model {
	case "efficientnet-lite0":
	case "vit-tiny":
		dir, err := os.MkdirTemp("", "vit-")
		if err != nil {
			return m, 0, err
		}
		defer os.RemoveAll(dir)
		files.Net, parameters = filepath.Join(dir, "vit.onnx"), nets.ViTTiny.Parameters()
		if err := os.WriteFile(files.Net, nets.ViTTiny.Random(1), 0o666); err != nil {
			return m, 0, err
		}
	default:
		return m, 0, fmt.Errorf("%q: want efficientnet-lite0 or vit-tiny", c.Config.Model)
	}
	stop, err := ort.Start(files.Library)
	if err != nil {
		return m, 0, err
	}
	defer func() { err = errors.Join(err, stop()) }()
	session, err := ort.Open(files.Net, 0)
	if err != nil {
		return m, 0, err
	}
	defer func() { err = errors.Join(err, session.Close()) }()
	batch := c.Config.Batch
	r := rand.New(rand.NewPCG(1, 5))
	images, logits := make([]float32, batch*session.Values()), make([]float32, batch*session.Classes())
	for i := range images {
		images[i] = float32(r.NormFloat64())
	}
	m, err = bench.Inferred(ctx, batch, c.Samples, func() error { return session.Run(images, logits, batch) })
	return m, parameters, err
}
