package sampler

import "fmt"

// A BatchOption is an option of [Fixed] and [ByLength].
type BatchOption struct{ set func(*batchConfig) }

type batchConfig struct {
	size     int
	dropLast bool
}

// BatchSize sets the number of samples per batch. The default is 1. An n below 1
// panics.
func BatchSize(n int) BatchOption {
	return BatchOption{func(c *batchConfig) { c.size = n }}
}

// DropLast sets whether to leave out a batch that is shorter than BatchSize. The
// default is false.
func DropLast(on bool) BatchOption {
	return BatchOption{func(c *batchConfig) { c.dropLast = on }}
}

// newBatchConfig applies the options of the named constructor.
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

// A DrawOption is an option of [Random], [Weighted], [Balanced] and [WeightedWithoutReplacement].
type DrawOption struct{ set func(*drawConfig) }

type drawConfig struct{ draws int }

// Draws sets the number of samples per epoch. The default is the number of samples
// for [Random] and [Balanced], the number of weights for [Weighted], and the number of
// positive weights for [WeightedWithoutReplacement]. A negative n panics.
func Draws(n int) DrawOption {
	return DrawOption{func(c *drawConfig) { c.draws = n }}
}

// newDraws is the number of draws that the options of the named constructor set, or
// otherwise if they set none.
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

// A GroupOption is an option of [Grouped].
type GroupOption struct{ set func(*groupConfig) }

type groupConfig struct{ together, lanes int }

// Together sets how many groups of a lane form a pool, whose samples are shuffled
// with each other. The default is 1. An n below 1 panics.
func Together(n int) GroupOption {
	return GroupOption{func(c *groupConfig) { c.together = n }}
}

// Lanes cuts the shuffled groups into n equal parts, the lanes, and takes a
// sample from each lane in turn. The default is 1. Use a multiple of the world
// size, so that ranks share few groups. If a run may resume on other world sizes,
// use a multiple of all of them. An n below 1 panics.
func Lanes(n int) GroupOption {
	return GroupOption{func(c *groupConfig) { c.lanes = n }}
}

// newGroupConfig applies the options of the named constructor.
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
