package csv

import (
	"errors"
	"fmt"
	"unicode/utf8"
)

// An Option changes what [Open] does.
type Option struct{ set func(*config) }

type config struct {
	limit    int64
	comma    rune
	comment  rune
	noHeader bool
	missing  []string
	drop     bool
	fill     *float64
}

// MemoryLimit sets how many bytes of values may be held in memory, where all
// workers share them. The default is 1 GiB; more is an error.
func MemoryLimit(bytes int64) Option { return Option{func(c *config) { c.limit = bytes }} }

// Delimiter sets what separates the columns. The default is a comma.
func Delimiter(r rune) Option { return Option{func(c *config) { c.comma = r }} }

// Comment makes lines that begin with r count as nothing.
func Comment(r rune) Option { return Option{func(c *config) { c.comment = r }} }

// NoHeader says that the first row is a sample. Columns are then named by their
// numbers: "0", "1" and so on.
func NoHeader() Option { return Option{func(c *config) { c.noHeader = true }} }

// Missing are the texts that say that a value is missing, besides an empty one:
// "NA", "?". Spaces around them do not count. For [Text], an empty one is a value.
func Missing(texts ...string) Option { return Option{func(c *config) { c.missing = texts }} }

// DropMissing leaves rows out where a value that a field needs is missing. By
// default that is an error.
func DropMissing() Option { return Option{func(c *config) { c.drop = true }} }

// FillMissing puts v, which may be NaN, in the place of missing floats. A
// missing value of another dtype stays an error.
func FillMissing(v float64) Option { return Option{func(c *config) { c.fill = &v }} }

func (c *config) check() error {
	var errs []error
	if c.limit < 1 {
		errs = append(errs, fmt.Errorf("csv: MemoryLimit(%d): want 1 or more", c.limit))
	}
	valid := func(r rune) bool {
		return r != 0 && r != '"' && r != '\r' && r != '\n' && utf8.ValidRune(r) && r != utf8.RuneError
	}
	if !valid(c.comma) {
		errs = append(errs, fmt.Errorf("csv: Delimiter(%q): want another character", c.comma))
	}
	if c.comment != 0 && (!valid(c.comment) || c.comment == c.comma) {
		errs = append(errs, fmt.Errorf("csv: Comment(%q): want another character", c.comment))
	}
	if c.drop && c.fill != nil {
		errs = append(errs, errors.New("csv: DropMissing and FillMissing: want one of them"))
	}
	return errors.Join(errs...)
}
