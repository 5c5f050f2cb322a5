package dataset

// paths is a list of strings in one piece of memory: 8 bytes each beside their
// text, and nothing for the garbage collector to follow.
type paths struct {
	text string
	ends []int // of every path, in text
}

func newPaths(list []string) paths {
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
	return paths{string(text), ends}
}

func (p *paths) len() int { return len(p.ends) }

func (p *paths) at(i int) string {
	start := 0
	if i > 0 {
		start = p.ends[i-1]
	}
	return p.text[start:p.ends[i]]
}
