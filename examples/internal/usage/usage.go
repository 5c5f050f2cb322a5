// Package usage reads the command line of an example.
package usage

import (
	"flag"
	"fmt"
	"log"
	"os"
)

// Parse reads the program's flags. With -h it prints about, which says what the program
// does, and the flags. An argument that is not a flag ends the program.
func Parse(about string) {
	if err := parse(flag.CommandLine, os.Args[1:], about); err != nil {
		log.Fatal(err)
	}
}

func parse(f *flag.FlagSet, args []string, about string) error {
	f.Usage = func() {
		none := true
		f.VisitAll(func(*flag.Flag) { none = false })
		if none {
			fmt.Fprintln(f.Output(), about, "It has no flags.")
			return
		}
		fmt.Fprintf(f.Output(), "%s\n\nFlags:\n", about)
		f.PrintDefaults()
	}
	if err := f.Parse(args); err != nil || f.NArg() == 0 {
		return err
	}
	if f.Lookup("dir") != nil {
		return fmt.Errorf("%q is not a flag; a folder is given as -dir", f.Arg(0))
	}
	return fmt.Errorf("%q is not a flag", f.Arg(0))
}
