package response

import (
	"strings"
	"unicode"
)

// mostText is how many bytes of what a service says are shown.
const mostText = 1000

// Text is what a service says, for an error: at most 1000 bytes in one line, and dots in place of
// characters that do not print. A terminal would obey some of them.
func Text(says string) string {
	more := ""
	if len(says) > mostText {
		says, more = says[:mostText], "…"
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

// plain is err with that text.
type plain struct {
	error
	text string
}

func (p plain) Error() string { return p.text }
func (p plain) Unwrap() error { return p.error }
