// Report draws the results of benchmarks: one HTML page that needs no network,
// and the same plots as PNG and SVG.
//
//	go run ./bench/report RESULTS…          # from the project's root, into ./report
//	go run ./bench/report -o DIR RESULTS…
//
// RESULTS are files of JSON lines as package result describes them, of any
// studies, sides, machines and rounds, or tables of times as package analysis
// reads them, where a name ends in .csv. Lines that cannot be read are named on
// standard error and on the page, and cost themselves alone; the exit status is
// then 1, with the page written all the same.
//
// The page's plots can be hovered, and filtered by batch size, workers, data,
// model and side. Without JavaScript it shows the SVG plots.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

func main() {
	folder := flag.String("o", "report", "the folder to write to; it is made if there is none")
	flag.Usage = func() {
		fmt.Fprintln(flag.CommandLine.Output(), "usage: go run ./bench/report [-o DIR] RESULTS.jsonl|TIMES.csv …")
		flag.PrintDefaults()
	}
	flag.Parse()
	if flag.NArg() == 0 {
		flag.Usage()
		os.Exit(2)
	}
	if err := run(*folder, flag.Args(), os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// run writes the report of files into folder. Its error names also what could not
// be read of them, with the report written.
func run(folder string, files []string, log io.Writer) error {
	in := load(files)
	if in.empty() {
		if len(in.errs) > 0 {
			return errors.Join(in.errs...)
		}
		return errors.New("report: no results")
	}
	r := newReport(in)
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return fmt.Errorf("report: %w", err)
	}
	if err := r.writeFigures(folder); err != nil {
		return err
	}
	page := filepath.Join(folder, "index.html")
	if err := r.writePage(page); err != nil {
		return err
	}
	fmt.Fprintf(log, "%s: %s of %s, %s\n", page, plural(len(in.records), "record"), plural(len(files), "file"), plural(r.plots(), "plot"))
	return errors.Join(in.errs...)
}
