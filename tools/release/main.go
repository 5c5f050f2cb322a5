// Command release prepares a version of the library's modules.
//
//	release VERSION               set the version in every go.mod, and print the tags to make
//	release -proxy DIR VERSION    write the modules into DIR as a module proxy serves them
//
// The modules of the repository require each other. In the repository, replace directives point to
// their folders. A module from a proxy needs versions that exist, so a release sets the versions of
// all modules together. With -proxy nothing in the repository changes: build other modules with
// GOPROXY=file://DIR to test a release before it is made.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/mod/semver"
)

func main() {
	proxy := flag.String("proxy", "", "write the modules into this folder, as a module proxy serves them")
	flag.Usage = func() {
		fmt.Fprintln(flag.CommandLine.Output(), "usage: release [-proxy DIR] VERSION, in the folder of the repository")
		flag.PrintDefaults()
	}
	flag.Parse()
	if flag.NArg() != 1 {
		flag.Usage()
		os.Exit(2)
	}
	if err := run(".", flag.Arg(0), *proxy); err != nil {
		fmt.Fprintf(os.Stderr, "release: %v\n", err)
		os.Exit(1)
	}
}

func run(root, version, proxy string) error {
	if !semver.IsValid(version) || semver.Canonical(version) != version {
		return fmt.Errorf("version %q: want vMAJOR.MINOR.PATCH", version)
	}
	modules, err := modulesOf(root)
	if err != nil {
		return err
	}
	if proxy != "" {
		var errs []error
		for _, m := range modules {
			if m.released() {
				errs = append(errs, m.publish(proxy, version))
				fmt.Println(m.path)
			}
		}
		return errors.Join(errs...)
	}
	for _, m := range modules {
		text, err := m.file(version)
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(m.dir(), "go.mod"), text, 0o666); err != nil {
			return err
		}
	}
	fmt.Printf("every go.mod asks for %s. After .ci/run and an entry in CHANGELOG.md:\n\n\tgit commit -am 'release %s'\n", version, version)
	for _, m := range modules {
		if m.released() {
			fmt.Printf("\tgit tag %s\n", m.tag(version))
		}
	}
	return nil
}
