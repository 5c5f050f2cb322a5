package files

// Paths is a list of strings in one block of memory. A string takes 8 bytes and its
// text, and has no pointer for the garbage collector to follow.
type Paths struct {
	text string
	ends []int // of every path, in text
}

// NewPaths copies the list.
func NewPaths(list []string) Paths {
	size := 0
	for _, p := range list {
		size += len(p)
	}
	text := make([]byte, 0, size)
	ends := make([]int, 0, len(list))
	for _, p := range list {
		text = append(text, p...)
		ends = append(ends, len(text))
	}
	return Paths{string(text), ends}
}

// Len is the number of paths.
func (p *Paths) Len() int { return len(p.ends) }

// At is path i.
func (p *Paths) At(i int) string {
	start := 0
	if i > 0 {
		start = p.ends[i-1]
	}
	return p.text[start:p.ends[i]]
}
