package resize

// A Cache keeps the weights of the axes used last, because pictures repeat
// sizes. Its zero value is ready to use, by one goroutine.
type Cache struct {
	entries [16]entry
	next    int
}

type entry struct {
	axis    Axis
	weights Weights
}

// Weights are those of a. They are valid until the fifteenth call after this one.
func (c *Cache) Weights(a Axis) *Weights {
	if a.In == a.Out {
		a.Filter = Nearest // no filter matters, so all share one entry
	}
	for i := range c.entries {
		if c.entries[i].axis == a {
			return &c.entries[i].weights
		}
	}
	e := &c.entries[c.next]
	c.next = (c.next + 1) % len(c.entries)
	e.axis = a
	e.weights.Compute(a)
	return &e.weights
}
