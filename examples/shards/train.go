package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"

	"github.com/penstock-go/penstock/examples/internal/shapes"
	"github.com/penstock-go/penstock/loader"
)

const (
	side      = 16 // of the images that the model sees, in pixels
	features  = 3*side*side + 1
	batchSize = 32
	rate      = 0.003
)

// A model is a linear classifier, and where its training is.
type model struct {
	Weights  []float32 // of class c and feature f: c·features + f
	Position *loader.Position
	Loss     float64 // of the epoch so far, summed over its samples
	Right    int     // samples of the epoch so far
	Seen     int     // samples of the epoch so far
}

// train takes steps until the last epoch is complete. Every step is saved, so a kill loses
// none.
func train(ctx context.Context, l *loader.Loader, o options) (*model, error) {
	path := filepath.Join(o.dir, "model.json")
	m, err := loadModel(path)
	if err != nil {
		return nil, err
	}
	position := l.Position(0)
	if m.Position != nil {
		position = *m.Position
		fmt.Printf("goes on at epoch %d, draw %d\n", position.Epoch, position.Draw)
	}
	steps, epoch := 0, position.Epoch
	for batch, err := range l.From(ctx, position, o.epochs) {
		if err != nil {
			return nil, err
		}
		if batch.Epoch() != epoch {
			m.report(epoch)
			epoch = batch.Epoch()
		}
		m.step(loader.Values[float32](batch, "image"), loader.Values[int64](batch, "label"))
		after := batch.Position()
		m.Position = &after
		if err := m.save(path); err != nil {
			return nil, err
		}
		if steps++; steps == o.kill {
			return nil, errKilled
		}
	}
	if m.Seen > 0 {
		m.report(epoch)
	}
	return m, nil
}

func (m *model) report(epoch int) {
	fmt.Printf("epoch %d: loss %.3f, %.0f %% right, of %d images\n", epoch, m.Loss/float64(m.Seen), 100*float64(m.Right)/float64(m.Seen), m.Seen)
	m.Loss, m.Right, m.Seen = 0, 0, 0
}

// step goes down the gradient of the cross-entropy, sample by sample.
func (m *model) step(images []float32, labels []int64) {
	classes := len(shapes.Names)
	scores := make([]float64, classes)
	for i, label := range labels {
		image := images[i*(features-1):][:features-1]
		best, sum := 0, 0.0
		for c := range scores {
			w := m.Weights[c*features:][:features]
			score := float64(w[features-1])
			for f, x := range image {
				score += float64(float32(w[f] * x))
			}
			if scores[c] = score; score > scores[best] {
				best = c
			}
		}
		most := scores[best]
		for c := range scores {
			scores[c] = math.Exp(scores[c] - most)
			sum += scores[c]
		}
		m.Loss -= math.Log(scores[label] / sum)
		m.Seen++
		if int64(best) == label {
			m.Right++
		}
		for c := range scores {
			slope := scores[c] / sum
			if int64(c) == label {
				slope--
			}
			down := float32(rate * slope)
			w := m.Weights[c*features:][:features]
			for f, x := range image {
				w[f] -= float32(down * x)
			}
			w[features-1] -= down
		}
	}
}

// loadModel reads the file of an earlier run, or makes a new model if there is none.
func loadModel(path string) (*model, error) {
	m := &model{Weights: make([]float32, len(shapes.Names)*features)}
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return m, nil
	}
	if err == nil {
		err = json.Unmarshal(text, m)
	}
	if err == nil && len(m.Weights) != len(shapes.Names)*features {
		err = fmt.Errorf("%d weights, want %d", len(m.Weights), len(shapes.Names)*features)
	}
	if err != nil {
		return nil, fmt.Errorf("%s holds no model: %w: remove it to start again", path, err)
	}
	return m, nil
}

// save replaces the file as a whole, so that a kill leaves the old or the new one.
func (m *model) save(path string) error {
	text, err := json.Marshal(m)
	if err != nil {
		return err
	}
	if err := os.WriteFile(path+".new", text, 0o666); err != nil {
		return err
	}
	return os.Rename(path+".new", path)
}
