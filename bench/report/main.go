// Report draws the results of benchmarks: one HTML page that needs no network,
// with the charts next to it as SVG.
//
//	go run ./bench/report RESULTS…                          # from the project's root, into ./report
//	go run ./bench/report -o DIR RESULTS…
//	go run ./bench/report -readme bench/README.md RESULTS…  # and into a README, with charts
//
// RESULTS are files of JSON lines as package result describes them, with any studies, sides,
// machines and rounds, or files whose name ends in .csv with tables of times as package
// analysis reads them. Lines that cannot be read are skipped, and named on standard error and
// on the page. The exit status is then 1, although the page is written.
//
// In a README, the part between two comments is replaced by the findings, the short tables and
// a chart for each section. Its charts are in the folder results/plots next to the README.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/penstock-go/penstock/bench/analysis"
	"github.com/penstock-go/penstock/bench/result"
)

func main() {
	folder := flag.String("o", "report", "`folder` to write to; it is created if it does not exist")
	readme := flag.String("readme", "", "a README `file` whose generated part is replaced, too")
	flag.Usage = func() {
		fmt.Fprintln(flag.CommandLine.Output(), "usage: go run ./bench/report [-o DIR] [-readme FILE] RESULTS.jsonl|TIMES.csv …")
		flag.PrintDefaults()
	}
	flag.Parse()
	if flag.NArg() == 0 {
		flag.Usage()
		os.Exit(2)
	}
	if err := run(*folder, *readme, flag.Args(), os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// run writes the report of files into folder. If some lines cannot be read, it writes the report
// without them and then returns an error that names them.
func run(folder, readme string, files []string, log io.Writer) error {
	records, errs := load(files)
	if len(records) == 0 {
		if len(errs) > 0 {
			return errors.Join(errs...)
		}
		return errors.New("report: no results")
	}
	r := newReport(records, errs)
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return fmt.Errorf("report: %w", err)
	}
	d, err := newDrawer()
	if err != nil {
		return err
	}
	plots := 0
	for _, s := range r.Sections {
		for _, ch := range s.Charts {
			plots++
			if err := d.write(folder, ch); err != nil {
				return err
			}
		}
	}
	page := filepath.Join(folder, "index.html")
	if err := r.writePage(page, d); err != nil {
		return err
	}
	if readme != "" {
		if err := r.writeReadme(readme, d); err != nil {
			return err
		}
	}
	fmt.Fprintf(log, "%s: %s of %s, %s\n", page, plural(len(records), "record"), plural(len(files), "file"), plural(plots, "chart"))
	return errors.Join(errs...)
}

// load reads files. It returns an error for each line or file that cannot be read.
func load(files []string) (records []result.Record, errs []error) {
	for _, file := range files {
		read := result.ReadFile
		if strings.HasSuffix(strings.ToLower(file), ".csv") {
			read = readCSV
		}
		found, err := read(file)
		records = append(records, found...)
		if many, ok := err.(interface{ Unwrap() []error }); ok {
			errs = append(errs, many.Unwrap()...)
		} else if err != nil {
			errs = append(errs, err)
		}
	}
	return records, errs
}

func readCSV(file string) ([]result.Record, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, fmt.Errorf("report: %w", err)
	}
	defer f.Close()
	return analysis.ReadCSV(f, file)
}

func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
