package loader

// Poison is an Allocator for tests, over another one. Memory is filled with bytes
// 0xFF when it is allocated and whenever a batch is done with it: floating-point
// numbers are NaN then, unsigned integers their largest value, and signed ones,
// like indices and offsets, -1. So it shows what would otherwise be right by
// chance, or wrong much later: a tensor or slice that is used after its loop body
// without [Batch.Keep] or [Batch.Copy], and a Reader that leaves elements of its
// Slot unwritten.
//
//	l, err := loader.New(ds, loader.Memory(loader.Poison(loader.Heap{})))
//
// It takes the time of writing every batch once more.
func Poison(a Allocator) Allocator { return poison{a} }

type poison struct{ Allocator }

func (p poison) Alloc(n int) ([]byte, error) {
	b, err := p.Allocator.Alloc(n)
	spoil(b)
	return b, err
}

func (p poison) Free(b []byte) error {
	spoil(b)
	return p.Allocator.Free(b)
}

func spoil(b []byte) {
	for i := range b {
		b[i] = 0xff
	}
}

// spoil fills what a batch that is over has held, if its memory is a [Poison].
func (j *job) spoil() {
	s := j.slab
	if _, poisoned := s.memory.(poison); !poisoned {
		return
	}
	spoil(s.block)
	for i := range s.ragged {
		c := &s.ragged[i]
		spoil(c.block)
		spoil(c.padded)
		for r := range c.ends {
			c.ends[r] = -1
		}
	}
	for row := range j.indices {
		j.indices[row] = -1
	}
}
