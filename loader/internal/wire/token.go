package wire

import (
	"errors"
	"strings"
)

// CheckToken reports why a header cannot carry a bearer token. The error does not show it.
func CheckToken(secret string) error {
	control := func(r rune) bool { return r < ' ' || r == 0x7f }
	switch {
	case secret == "":
		return errors.New("the token is empty")
	case strings.Trim(secret, " \t\r\n") != secret:
		return errors.New("the token begins or ends with a space or a line break, which a header cannot carry")
	case strings.ContainsFunc(secret, control):
		return errors.New("the token has a control character, which a header cannot carry")
	}
	return nil
}
