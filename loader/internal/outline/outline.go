// Package outline tells package serve what a loader would load, without the loader's workers and memory.
package outline

import (
	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/loader/internal/plan"
)

// An Outline is a loader without workers and memory.
type Outline struct {
	Plans *plan.Planner
	Spec  dataset.Spec // of batches
	// Text describes everything that decides the content of batches, except the samples and the rank: "batches of 32
	// of 334 samples; order Shuffle(334 samples, seed 7); seed 7; errors end the loop". Steps of Collate appear by
	// their String, or by their type.
	Text string
}

// Of makes an outline. The options are a []loader.Option, and errors are those of loader.New. Package loader sets it.
var Of func(ds dataset.Dataset, options any) (*Outline, error)
