package usage

import (
	"errors"
	"flag"
	"fmt"
	"strings"
	"testing"
)

func TestOnlyFlagsAreAccepted(t *testing.T) {
	for _, c := range []struct {
		flags, args []string
		want        string
	}{
		{nil, nil, "<nil>"},
		{[]string{"sheet"}, []string{"-sheet", "a.png"}, "<nil>"},
		{[]string{"sheet"}, []string{"-sheet", "a.png", "photos"}, `"photos" is not a flag`},
		{[]string{"sheet", "dir"}, []string{"photos"}, `"photos" is not a flag; a folder is given as -dir`},
		{nil, []string{"-"}, `"-" is not a flag`},
		{nil, []string{"-sheet", "a.png"}, "flag provided but not defined: -sheet; -h lists the flags"},
	} {
		f := flag.NewFlagSet("program", flag.ContinueOnError)
		for _, name := range c.flags {
			f.String(name, "", "")
		}
		got := "<nil>"
		if err := parse(f, c.args, "It works."); err != nil {
			got = err.Error()
		}
		if got != c.want {
			t.Errorf("flags %v, arguments %v: got error %s, want %s", c.flags, c.args, got, c.want)
		}
	}
}

func TestHelpSaysWhatTheProgramDoes(t *testing.T) {
	for _, c := range []struct {
		flags []string
		want  string
	}{{nil, "It works. It has no flags.\n"}, {[]string{"sheet"}, "It works.\n\nFlags:\n  -sheet string\n"}} {
		var out strings.Builder
		f := flag.NewFlagSet("program", flag.ContinueOnError)
		f.SetOutput(&out)
		for _, name := range c.flags {
			f.String(name, "", "")
		}
		if err := parse(f, []string{"-h"}, "It works."); !errors.Is(err, flag.ErrHelp) || !strings.HasPrefix(out.String(), c.want) {
			t.Errorf("flags %v: got error %v and %q, want %q", c.flags, err, out.String(), c.want)
		}
	}
}

func TestExitStatusTellsTheCommandLineFromTheWork(t *testing.T) {
	work := errors.New("no space")
	for want, err := range map[int]error{1: work, 2: errors.Join(work, fmt.Errorf("again: %w", Errorf("-n %d: want 1", 2)))} {
		if got := status(err); got != want {
			t.Errorf("%v: exit status %d, want %d", err, got, want)
		}
	}
}
