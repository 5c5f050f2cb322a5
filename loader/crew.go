package loader

// A crew counts goroutines, so that others can wait for their end. The loader's
// mutex guards it.
type crew struct {
	n    int
	gone chan struct{} // closed when n falls to 0; nil while nobody waits
}

func (c *crew) enter() { c.n++ }

func (c *crew) leave() {
	if c.n--; c.n == 0 && c.gone != nil {
		close(c.gone)
		c.gone = nil
	}
}

// wait returns a channel that is closed when no goroutine is left.
func (c *crew) wait() <-chan struct{} {
	if c.gone == nil {
		c.gone = make(chan struct{})
		if c.n == 0 {
			defer func() { c.gone = nil }()
			close(c.gone)
		}
	}
	return c.gone
}
