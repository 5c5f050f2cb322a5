package loader

// Poison wraps an Allocator for tests. It fills memory with bytes 0xFF when it is
// allocated and when its batch is over. Then floating-point numbers are NaN,
// unsigned integers have their largest value, and signed integers are -1, as are
// the batch's indices and offsets.
//
//	l, err := loader.New(ds, loader.Memory(loader.Poison(loader.Heap{})))
//
// This shows two mistakes that otherwise often give right numbers by chance:
//
//   - a tensor or slice is used after its loop body, without [Batch.Keep] or
//     [Batch.Copy],
//   - a Reader leaves elements of its Slot unwritten.
//
// It costs the time of writing every batch once more.
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

// spoil fills the memory of a batch that is over, if it comes from [Poison].
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
		spoil(c.mask)
		for r := range c.ends {
			c.ends[r] = -1
		}
	}
	for row := range j.indices {
		j.indices[row] = -1
	}
}
