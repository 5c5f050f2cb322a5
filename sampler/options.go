package sampler

import "fmt"

// A BatchOption sets one thing of [Fixed] and [ByLength].
type BatchOption struct{ set func(*batchConfig) }

type batchConfig struct {
	size     int
	dropLast bool
}

// BatchSize sets the samples per batch. The default is 1. One below 1 panics.
func BatchSize(n int) BatchOption {
	return BatchOption{func(c *batchConfig) { c.size = n }}
}

// DropLast sets whether a batch that is shorter than the others is left out.
func DropLast(on bool) BatchOption {
	return BatchOption{func(c *batchConfig) { c.dropLast = on }}
}

// newBatchConfig applies the options of a constructor of that name.
func newBatchConfig(name string, options []BatchOption) batchConfig {
	c := batchConfig{size: 1}
	for _, o := range options {
		if o.set != nil {
			o.set(&c)
		}
	}
	if c.size < 1 {
		panic(fmt.Sprintf("sampler: %s: BatchSize(%d): want 1 or more", name, c.size))
	}
	return c
}

// A DrawOption sets one thing of [Random], [Weighted] and [WeightedDistinct].
type DrawOption struct{ set func(*drawConfig) }

type drawConfig struct{ draws int }

// Draws sets the samples per epoch. A negative n panics.
func Draws(n int) DrawOption {
	return DrawOption{func(c *drawConfig) { c.draws = n }}
}

// newDraws is the number of draws that the options of a constructor of that name
// ask for, or otherwise.
func newDraws(name string, otherwise int, options []DrawOption) int {
	c := drawConfig{otherwise}
	for _, o := range options {
		if o.set != nil {
			o.set(&c)
		}
	}
	if c.draws < 0 {
		panic(fmt.Sprintf("sampler: %s: Draws(%d): want 0 or more", name, c.draws))
	}
	return c.draws
}

// A GroupOption sets one thing of [Grouped].
type GroupOption struct{ set func(*groupConfig) }

type groupConfig struct{ together, lanes int }

// Together sets how many groups of a lane are mixed with each other. The default
// is 1. An n below 1 panics.
func Together(n int) GroupOption {
	return GroupOption{func(c *groupConfig) { c.together = n }}
}

// Lanes sets in how many equal parts the groups are read at the same time. The
// default is 1. Take a multiple of the number of ranks, better one that several
// numbers of ranks divide: a rank then needs few groups of others. An n below 1
// panics.
func Lanes(n int) GroupOption {
	return GroupOption{func(c *groupConfig) { c.lanes = n }}
}

// newGroupConfig applies the options of a constructor of that name.
func newGroupConfig(name string, options []GroupOption) groupConfig {
	c := groupConfig{together: 1, lanes: 1}
	for _, o := range options {
		if o.set != nil {
			o.set(&c)
		}
	}
	if c.together < 1 {
		panic(fmt.Sprintf("sampler: %s: Together(%d): want 1 or more", name, c.together))
	}
	if c.lanes < 1 {
		panic(fmt.Sprintf("sampler: %s: Lanes(%d): want 1 or more", name, c.lanes))
	}
	return c
}
