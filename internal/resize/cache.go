package resize

// A Cache keeps the weights of the axes used last, because many images have equal
// sizes. Its zero value is ready for use by one goroutine.
type Cache struct {
	entries [16]entry
	now     uint64
}

type entry struct {
	axis    Axis
	used    uint64 // Cache.now at the last use
	weights Weights
}

// Weights returns the weights of a. They are valid until the fifteenth call after
// this one.
func (c *Cache) Weights(a Axis) *Weights {
	if a.In == a.Out {
		a.Filter = Nearest // the filter does not matter, so all share one entry
	}
	c.now++
	oldest := &c.entries[0]
	for i := range c.entries {
		e := &c.entries[i]
		if e.axis == a {
			e.used = c.now
			return &e.weights
		}
		if e.used < oldest.used {
			oldest = e
		}
	}
	oldest.axis, oldest.used = a, c.now
	oldest.weights.Compute(a)
	return &oldest.weights
}
