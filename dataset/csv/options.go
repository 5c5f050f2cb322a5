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

// MaxBytes sets how many bytes of values the table may hold in memory. More
// is an error. The default is 1 GiB.
func MaxBytes(bytes int64) Option { return Option{func(c *config) { c.limit = bytes }} }

// Delimiter sets the character between columns. The default is a comma.
func Delimiter(r rune) Option { return Option{func(c *config) { c.comma = r }} }

// Comment skips lines that begin with r. By default no line is skipped.
func Comment(r rune) Option { return Option{func(c *config) { c.comment = r }} }

// NoHeader says that the first row is a sample. The names of the columns are
// then their indices: "0", "1" and so on.
func NoHeader() Option { return Option{func(c *config) { c.noHeader = true }} }

// Missing sets the texts that mean a missing value, such as "NA" or "?". Spaces
// around them are ignored. An empty text is a missing value too, except for
// [Text].
func Missing(texts ...string) Option { return Option{func(c *config) { c.missing = texts }} }

// DropMissing skips rows in which a field has a missing value. By default a
// missing value is an error.
func DropMissing() Option { return Option{func(c *config) { c.drop = true }} }

// FillMissing replaces missing values of float fields by v, which may be NaN. A
// missing value of another dtype is still an error.
func FillMissing(v float64) Option { return Option{func(c *config) { c.fill = &v }} }

func (c *config) check() error {
	var errs []error
	if c.limit < 1 {
		errs = append(errs, fmt.Errorf("csv: MaxBytes(%d): want 1 or more", c.limit))
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
		errs = append(errs, errors.New("csv: DropMissing and FillMissing: want at most one of them"))
	}
	return errors.Join(errs...)
}
