// Package usage reads the command line of a program. What is wrong in it ends the program
// before it begins, with one line that names the flag, and exit status 2.
package usage

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
)

// Parse reads the program's flags. With -h it prints about, which says what the program
// does, and the flags.
func Parse(about string) {
	err := parse(flag.CommandLine, os.Args[1:], about)
	if errors.Is(err, flag.ErrHelp) {
		os.Exit(0)
	}
	if err != nil {
		Fatal(wrong{err})
	}
}

// Fatal prints an error and ends the program: with exit status 2 if it is one of the command
// line (see Errorf), and otherwise with 1.
func Fatal(err error) {
	fmt.Fprintln(os.Stderr, err)
	os.Exit(status(err))
}

// Errorf is an error of the command line, such as of flags that contradict each other.
func Errorf(format string, args ...any) error { return wrong{fmt.Errorf(format, args...)} }

// wrong is an error of the command line.
type wrong struct{ error }

func (w wrong) Unwrap() error { return w.error }

func status(err error) int {
	if errors.As(err, new(wrong)) {
		return 2
	}
	return 1
}

func parse(f *flag.FlagSet, args []string, about string) error {
	out := f.Output()
	f.Init(f.Name(), flag.ContinueOnError)
	f.SetOutput(io.Discard) // package flag would print all flags after an error
	f.Usage = func() {}
	err := f.Parse(args)
	f.SetOutput(out)
	switch {
	case errors.Is(err, flag.ErrHelp):
		help(f, about)
		return err
	case err != nil:
		return fmt.Errorf("%w; -h lists the flags", err)
	case f.NArg() == 0:
		return nil
	case f.Lookup("dir") != nil:
		return fmt.Errorf("%q is not a flag; a folder is given as -dir", f.Arg(0))
	}
	return fmt.Errorf("%q is not a flag", f.Arg(0))
}

func help(f *flag.FlagSet, about string) {
	none := true
	f.VisitAll(func(*flag.Flag) { none = false })
	if none {
		fmt.Fprintln(f.Output(), about, "It has no flags.")
		return
	}
	fmt.Fprintf(f.Output(), "%s\n\nFlags:\n", about)
	f.PrintDefaults()
}
