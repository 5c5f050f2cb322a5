package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"

	"github.com/penstock-go/penstock/examples/train/net"
	"github.com/penstock-go/penstock/loader"
)

// A state is all that a step depends on, and its history.
type state struct {
	model    *net.Model
	*adam    // counts the steps
	position loader.Position
	history
}

// A history holds the losses and accuracies of a run.
type history struct {
	losses      []float32 // of every step, in nats
	validLosses []float32 // of the validation images, after every epoch
	accuracy    []float32 // of the validation images, from 0 to 1
	chance      float64   // the accuracy of always naming the most frequent class
}

// note is the part of the state that a checkpoint holds in JSON, next to the
// settings that must not change within a run.
type note struct {
	Files    string          `json:"files"` // as in data
	Batch    int             `json:"batch"`
	Rate     float64         `json:"lr"`
	Seed     uint64          `json:"seed"`
	Steps    int             `json:"steps"`
	Chance   float64         `json:"chance"`
	Position loader.Position `json:"position"`
}

const noteKey = "train" // in the checkpoint's notes

// series are the history's arrays by their names in a checkpoint.
func (t *trainer) series() map[string]*[]float32 {
	return map[string]*[]float32{
		"history.accuracy": &t.accuracy, "history.held_losses": &t.validLosses, "history.losses": &t.losses,
	}
}

// save writes the checkpoint.
func (t *trainer) save() error {
	text, err := json.Marshal(note{t.data.files, t.batch, t.rate, t.seed, t.steps, t.chance, t.position})
	if err != nil {
		return err
	}
	c := &net.Checkpoint{Model: t.model, Notes: map[string]string{noteKey: string(text)}}
	c.Arrays = append(append(c.Arrays, t.mean...), t.square...)
	series := t.series()
	for _, name := range slices.Sorted(maps.Keys(series)) {
		values := *series[name]
		c.Arrays = append(c.Arrays, net.Array{Name: name, Shape: []int{len(values)}, Values: values})
	}
	return c.Write(t.checkpoint)
}

// restore takes the state from the checkpoint. If there is none, or with -fresh, it
// makes the state of a new run. A checkpoint with other settings is an error, and
// stays as it is.
func (t *trainer) restore() error {
	c, err := net.Read(t.checkpoint)
	if t.fresh || errors.Is(err, fs.ErrNotExist) {
		t.model, err = net.New(t.size, t.data.classes, t.seed)
		if err == nil {
			t.adam = newAdam(t.model)
			t.position = t.trainLoader.Position(0)
		}
		return err
	}
	if err != nil {
		return fmt.Errorf("%w; -fresh starts a new run", err)
	}
	if err := t.take(c); err != nil {
		return fmt.Errorf("checkpoint %s: %w; -fresh starts a new run", t.checkpoint, err)
	}
	return nil
}

func (t *trainer) take(c *net.Checkpoint) error {
	var n note
	if text, exists := c.Notes[noteKey]; !exists {
		return fmt.Errorf("note %q is missing", noteKey)
	} else if err := json.Unmarshal([]byte(text), &n); err != nil {
		return fmt.Errorf("note %q: %w", noteKey, err)
	}
	for _, s := range []struct {
		field     string
		got, want any
	}{
		{"size", c.Model.Size, t.size}, {"classes", fmt.Sprint(c.Model.Classes), fmt.Sprint(t.data.classes)},
		{"files", n.Files, t.data.files}, {"batch", n.Batch, t.batch}, {"lr", n.Rate, t.rate}, {"seed", n.Seed, t.seed},
	} {
		if s.got != s.want {
			return fmt.Errorf("%s is %v, this run's is %v", s.field, s.got, s.want)
		}
	}
	t.model, t.adam = c.Model, newAdam(c.Model)
	for _, arrays := range [][]net.Array{t.mean, t.square} {
		if err := c.Fill(arrays); err != nil {
			return err
		}
	}
	for name, to := range t.series() {
		values, err := c.Series(name)
		if err != nil {
			return err
		}
		*to = values
	}
	t.steps, t.position, t.chance = n.Steps, n.Position, n.Chance
	return t.consistent()
}

// consistent returns an error if position and history cannot belong to one run.
func (t *trainer) consistent() error {
	p := t.position
	left, err := t.trainLoader.Len(p)
	if err != nil {
		return err
	}
	steps := (p.Epoch+1)*t.perEpoch - left
	switch epochs := steps / t.perEpoch; {
	case left > 0 && p.Draw%t.batch != 0:
		return fmt.Errorf("position: epoch %d, draw %d is not after a batch", p.Epoch, p.Draw)
	case t.steps != steps || len(t.losses) != steps:
		return fmt.Errorf("steps is %d, with %d losses, but %d are before the position", t.steps, len(t.losses), steps)
	case len(t.accuracy) != epochs || len(t.validLosses) != epochs:
		return fmt.Errorf("history: %d epochs are validated, but %d are before the position", len(t.accuracy), epochs)
	}
	return nil
}
