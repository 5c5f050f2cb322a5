// Command apicheck compares the exported names of the modules in the given folders with the listing
// in a file, so that a commit shows every change of them. It prints the lines that differ, and exits
// with status 1 if there are any.
//
//	apicheck [-write] FILE FOLDER...
//
// Each line of the listing is one exported name with its type: a constant, variable, function, type,
// field or method. Commands and internal packages are not listed, because other modules cannot import
// them. With -write, apicheck replaces the listing.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"

	"golang.org/x/tools/go/packages"
)

func main() {
	write := flag.Bool("write", false, "replace the listing in FILE")
	flag.Usage = func() {
		fmt.Fprintln(flag.CommandLine.Output(), "usage: apicheck [-write] FILE FOLDER...")
		flag.PrintDefaults()
	}
	flag.Parse()
	if flag.NArg() < 2 {
		flag.Usage()
		os.Exit(2)
	}
	if err := run(flag.Arg(0), flag.Args()[1:], *write); err != nil {
		fmt.Fprintf(os.Stderr, "apicheck: %v\n", err)
		os.Exit(1)
	}
}

func run(file string, folders []string, write bool) error {
	var now []string
	for _, folder := range folders {
		lines, err := surface(folder)
		if err != nil {
			return fmt.Errorf("list %s: %w", folder, err)
		}
		now = append(now, lines...)
	}
	slices.Sort(now)
	now = slices.Compact(now) // a folder may be in the module of another one
	if write {
		return os.WriteFile(file, []byte(strings.Join(now, "\n")+"\n"), 0o666)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	changes := compare(strings.Split(strings.TrimSuffix(string(text), "\n"), "\n"), now)
	for _, line := range changes {
		fmt.Println(line)
	}
	if len(changes) > 0 {
		return fmt.Errorf("%d lines differ from %s: describe the change in CHANGELOG.md and replace the listing with -write", len(changes), file)
	}
	return nil
}

// surface lists the exported names of the module in a folder.
func surface(folder string) ([]string, error) {
	pkgs, err := packages.Load(&packages.Config{
		Mode: packages.NeedName | packages.NeedTypes | packages.NeedImports | packages.NeedDeps,
		Dir:  folder,
	}, "./...")
	if err != nil {
		return nil, err
	}
	var lines []string
	var errs []error
	for _, p := range pkgs {
		for _, e := range p.Errors {
			errs = append(errs, e)
		}
		if p.Name == "main" || slices.Contains(strings.Split(p.PkgPath, "/"), "internal") {
			continue
		}
		lines = append(lines, listing(p.Types)...)
	}
	return lines, errors.Join(errs...)
}

// compare returns the lines that only one of two sorted listings has: removed lines with a minus sign,
// added lines with a plus sign.
func compare(kept, now []string) []string {
	var changes []string
	for _, line := range kept {
		if _, found := slices.BinarySearch(now, line); !found {
			changes = append(changes, "- "+line)
		}
	}
	for _, line := range now {
		if !slices.Contains(kept, line) {
			changes = append(changes, "+ "+line)
		}
	}
	return changes
}
