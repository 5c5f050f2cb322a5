package figures_test

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/penstock-go/penstock/internal/figures"
)

func TestATextIsShortAndPrints(t *testing.T) {
	for says, want := range map[string]string{
		"":                        "",
		"no such key: é":          "no such key: é",
		"a\x1b[2Jb\x00c\u202ed":   "a.[2Jb.c.d",
		"two\r\nlines\tand more":  "two  lines and more",
		"\xff\xfe":                "\ufffd\ufffd",
		strings.Repeat("x", 1000): strings.Repeat("x", 1000),
		strings.Repeat("x", 1001): strings.Repeat("x", 1000) + "…",
	} {
		if got := figures.OneLine(says); got != want {
			t.Errorf("%q: got %q, want %q", says, got, want)
		}
	}
}

func TestAnErrorStaysWhatItIs(t *testing.T) {
	err := figures.InOneLine(fmt.Errorf("a\x1bb: %w", io.EOF))
	if err.Error() != "a.b: EOF" || !errors.Is(err, io.EOF) {
		t.Errorf("got %v", err)
	}
	if err := figures.InOneLine(io.EOF); err != io.EOF {
		t.Errorf("got %v for an error that is clean", err)
	}
}
