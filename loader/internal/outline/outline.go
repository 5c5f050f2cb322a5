// Package outline is what package loader tells package serve of a loader that is not made.
package outline

import (
	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/loader/internal/plan"
)

// An Outline is a loader without workers and memory.
type Outline struct {
	Plans *plan.Planner
	Spec  dataset.Spec // of batches
	// Text describes everything that decides the content of batches, except the samples and the rank: "batches of 32 of
	// 334 samples; order Shuffle(334 samples, seed 7); seed 7; errors end the loop". Steps of Collate appear by their
	// String, or by their type.
	Text string
}
