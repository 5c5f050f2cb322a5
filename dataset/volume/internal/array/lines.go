package array

import (
	"bufio"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/penstock-go/penstock/internal/budget"
)

// maxHeader is how many bytes a header of text may have.
const maxHeader = 16 << 20

// Lines reads a header of text.
type Lines struct {
	budget.Budget
	Line int   // the current line, from 1
	Read int64 // bytes of lines so far

	r    *bufio.Reader
	seen map[string]int // by field: its line
}

// NewLines reads the lines of a file of size bytes.
func NewLines(r *bufio.Reader, size int64) *Lines {
	return &Lines{Budget: budget.For(size), r: r, seen: map[string]int{}}
}

// Next reads a line, without the line break. It returns io.EOF if there is none.
func (l *Lines) Next() (string, error) {
	l.Line++
	var line []byte
	for {
		part, err := l.r.ReadSlice('\n')
		if l.Read += int64(len(part)); l.Read > maxHeader {
			return "", fmt.Errorf("the header has more than %d bytes", maxHeader)
		}
		if err := l.Memory(int64(len(part))); err != nil {
			return "", err
		}
		line = append(line, part...)
		switch {
		case err == bufio.ErrBufferFull:
			continue
		case err == io.EOF && len(line) > 0:
			err = nil
		}
		return strings.TrimSuffix(strings.TrimSuffix(string(line), "\n"), "\r"), err
	}
}

// Once notes the line of a field. A second one is an error.
func (l *Lines) Once(name string) error {
	if line := l.seen[name]; line != 0 {
		return fmt.Errorf("%.60q is on line %d already", name, line)
	}
	const kept = 128 // bytes of what is remembered of a field, besides its text
	if err := l.Memory(kept + int64(len(name))); err != nil {
		return err
	}
	l.seen[name] = l.Line
	return nil
}

// Integers reads that many integers from least to most.
func Integers(words []string, want int, least, most int64) ([]int64, error) {
	if len(words) != want {
		return nil, fmt.Errorf("%d values, want %d", len(words), want)
	}
	numbers := make([]int64, want)
	for i, word := range words {
		n, err := strconv.ParseInt(word, 10, 64)
		if err != nil || n < least || n > most {
			return nil, fmt.Errorf("value %d: %.60q, want an integer from %d to %d", i, word, least, most)
		}
		numbers[i] = n
	}
	return numbers, nil
}

// Floats reads that many numbers, which may be NaN but not infinite.
func Floats(words []string, want int) ([]float64, error) {
	if len(words) != want {
		return nil, fmt.Errorf("%d values, want %d", len(words), want)
	}
	numbers := make([]float64, want)
	for i, word := range words {
		x, err := strconv.ParseFloat(strings.TrimSpace(word), 64)
		if err != nil || x-x != 0 && x == x {
			return nil, fmt.Errorf("value %d: %.60q is not a finite number", i, word)
		}
		numbers[i] = x
	}
	return numbers, nil
}

// SetSizes sets the sizes from the words of a field.
func (h *Header) SetSizes(words []string, rank int) error {
	sizes, err := Integers(words, rank, 1, maxInt)
	if err != nil {
		return err
	}
	h.Sizes = nil
	for _, n := range sizes {
		h.Sizes = append(h.Sizes, int(n))
	}
	return nil
}
