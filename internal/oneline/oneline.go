// Package oneline makes what others say, such as a service or a file, safe to show in an error or a
// terminal.
package oneline

import (
	"strings"
	"unicode"
)

// most is how many bytes of what others say are shown.
const most = 1000

// Text is what others say, for an error: at most 1000 bytes in one line, and dots in place of
// characters that do not print. A terminal would obey some of them.
func Text(says string) string {
	more := ""
	if len(says) > most {
		says, more = says[:most], "…"
	}
	return strings.Map(func(r rune) rune {
		switch {
		case unicode.IsPrint(r):
			return r
		case unicode.IsSpace(r):
			return ' '
		}
		return '.'
	}, says) + more
}

// Error is err with its text in this form.
func Error(err error) error {
	text := err.Error()
	if shown := Text(text); shown != text {
		return clean{err, shown}
	}
	return err
}

type clean struct {
	error
	text string
}

func (c clean) Error() string { return c.text }
func (c clean) Unwrap() error { return c.error }
