package figures

import (
	"strings"
	"unicode"
)

// mostShown is how many bytes of what others say are shown.
const mostShown = 1000

// OneLine is what others say, such as a service or a file, safe to show in an error or a terminal: at most
// 1000 bytes in one line, and dots in place of characters that do not print. A terminal would obey some of them.
func OneLine(says string) string {
	more := ""
	if len(says) > mostShown {
		says, more = says[:mostShown], "…"
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

// InOneLine is err with its text as a [OneLine].
func InOneLine(err error) error {
	text := err.Error()
	if shown := OneLine(text); shown != text {
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
