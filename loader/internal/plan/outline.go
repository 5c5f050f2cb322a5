package plan

import "github.com/penstock-go/penstock/dataset"

// An Outline is a loader without workers and memory: what package loader tells package serve of one that is not made.
type Outline struct {
	Plans *Planner
	Spec  dataset.Spec // of batches
	// Text describes everything that decides the content of batches, except the samples and the rank: "batches of 32 of
	// 334 samples; order Shuffle(334 samples, seed 7); seed 7; errors end the loop". Steps of Collate appear by their
	// String, or by their type.
	Text string
}
