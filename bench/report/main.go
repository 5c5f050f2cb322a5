// Report draws the results of benchmarks: one HTML page that needs no network.
//
//	go run ./bench/report RESULTS…                          # from the project's root, into ./report
//	go run ./bench/report -readme bench/README.md RESULTS…  # and into a README, as tables
//
// RESULTS are files of JSON lines as package result describes them, with any studies, sides, machines and rounds. Lines
// that cannot be read are skipped, and named on standard error and on the page. The exit status is then 1, although the
// page is written.
package main

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"errors"
	"flag"
	"fmt"
	"html/template"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/penstock-go/penstock/bench/result"
)

func main() {
	folder := flag.String("o", "report", "`folder` to write to; it is created if it does not exist")
	readme := flag.String("readme", "", "a README `file`, whose part between two comments is replaced, too")
	flag.Usage = func() {
		fmt.Fprintln(flag.CommandLine.Output(), "Report draws the results of benchmarks into a page.\nusage: go run ./bench/report [-o DIR] [-readme FILE] RESULTS.jsonl …")
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
	var records []result.Record
	var errs []error
	for _, file := range files {
		found, err := result.ReadFile(file)
		records = append(records, found...)
		if many, ok := err.(interface{ Unwrap() []error }); ok {
			errs = append(errs, many.Unwrap()...)
		} else if err != nil {
			errs = append(errs, err)
		}
	}
	if len(records) == 0 {
		return errors.Join(append(errs, errors.New("report: no results"))...)
	}
	r := newReport(records, errs)
	text, err := r.page()
	if err != nil {
		return fmt.Errorf("report: %w", err)
	}
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return fmt.Errorf("report: %w", err)
	}
	page := filepath.Join(folder, "index.html")
	if err := os.WriteFile(page, text, 0o644); err != nil {
		return fmt.Errorf("report: %w", err)
	}
	if readme != "" {
		if err := r.writeReadme(readme); err != nil {
			return fmt.Errorf("report: %w", err)
		}
	}
	fmt.Fprintf(log, "%s: %s of %s\n", page, plural(len(records), "record"), plural(len(files), "file"))
	return errors.Join(errs...)
}

//go:embed echarts/echarts.min.js.gz
var echarts []byte

//go:embed page.js
var script string

//go:embed page.css
var style string

//go:embed page.html
var markup string

// page fills the template, which escapes all texts of results. The page's content security policy allows only the
// scripts with the given hashes, and no network access.
func (r *report) page() ([]byte, error) {
	z, err := gzip.NewReader(bytes.NewReader(echarts))
	if err != nil {
		return nil, err
	}
	library, err := io.ReadAll(z)
	if err != nil {
		return nil, err
	}
	hash := func(text string) string {
		sum := sha256.Sum256([]byte(text))
		return "sha256-" + base64.StdEncoding.EncodeToString(sum[:])
	}
	t, err := template.New("page").Parse(markup)
	if err != nil {
		return nil, err
	}
	var charts []*chart
	for _, s := range r.Sections {
		charts = append(charts, s.Charts...)
	}
	var b bytes.Buffer
	err = t.Execute(&b, map[string]any{
		"Report": r, "Charts": charts, "Library": template.JS(library), "Script": template.JS(script), "Style": template.CSS(style),
		"Policy": template.HTMLAttr(fmt.Sprintf(`content="default-src 'none'; img-src data:; style-src 'unsafe-inline'; script-src '%s' '%s'"`,
			hash(string(library)), hash(script)))})
	return b.Bytes(), err
}

// The generated part of a README is between these lines.
const (
	generated = "<!-- The following is written by go run ./bench/report -readme. -->\n"
	written   = "<!-- The end of what is written by go run ./bench/report -readme. -->\n"
)

// writeReadme replaces the generated part of a README with the findings and the short tables.
func (r *report) writeReadme(file string) error {
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	before, rest, begins := strings.Cut(string(text), generated)
	_, after, ends := strings.Cut(rest, written)
	if !begins || !ends {
		return fmt.Errorf("%s: want the line %q and later %q", file, strings.TrimSpace(generated), strings.TrimSpace(written))
	}
	var b strings.Builder
	for _, s := range r.Sections {
		fmt.Fprintf(&b, "\n### %s\n\n", s.Title)
		for _, f := range s.Findings {
			fmt.Fprintf(&b, "- %s\n", f)
		}
		for _, t := range s.Tables {
			if t.Short {
				fmt.Fprintf(&b, "\n%s:\n\n%s", t.Title, t.Markdown())
			}
		}
		fmt.Fprintf(&b, "\n%s\n", s.Where)
	}
	return os.WriteFile(file, []byte(before+generated+b.String()+written+after), 0o644)
}
