package main

import (
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strings"
)

// The generated part of a README is between these lines.
const (
	generated = "<!-- The following is written by go run ./bench/report -readme. -->\n"
	written   = "<!-- The end of what is written by go run ./bench/report -readme. -->\n"
)

const plots = "results/plots" // a folder next to the README

// writeReadme replaces the generated part of a README, and its charts.
func (r *report) writeReadme(file string, d *drawer) error {
	text, err := os.ReadFile(file)
	if err != nil {
		return fmt.Errorf("report: %w", err)
	}
	before, rest, begins := strings.Cut(string(text), generated)
	_, after, ends := strings.Cut(rest, written)
	if !begins || !ends {
		return fmt.Errorf("report: %s: want the line %q and later %q", file, strings.TrimSpace(generated), strings.TrimSpace(written))
	}
	folder := filepath.Join(filepath.Dir(file), filepath.FromSlash(plots))
	if err := os.RemoveAll(folder); err != nil {
		return fmt.Errorf("report: %w", err)
	}
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return fmt.Errorf("report: %w", err)
	}
	for _, s := range r.Sections {
		if len(s.Charts) > 0 {
			if err := d.write(folder, s.Charts[0]); err != nil {
				return err
			}
		}
	}
	text = []byte(before + generated + r.markdown() + written + after)
	if err := os.WriteFile(file, text, 0o644); err != nil {
		return fmt.Errorf("report: %w", err)
	}
	return nil
}

// markdown returns the generated part of a README, with all sections.
func (r *report) markdown() string {
	var b strings.Builder
	for _, s := range r.Sections {
		fmt.Fprintf(&b, "\n### %s\n\n", s.Title)
		for _, f := range s.Findings {
			fmt.Fprintf(&b, "- %s\n", f)
		}
		if len(s.Charts) > 0 {
			name := path.Join(plots, s.Charts[0].ID)
			fmt.Fprintf(&b, "\n<picture><source media=\"(prefers-color-scheme: dark)\" srcset=\"%s-dark.svg\"><img src=\"%s.svg\" alt=\"%s\"></picture>\n",
				name, name, s.Charts[0].Title)
		}
		for _, t := range s.Short() {
			fmt.Fprintf(&b, "\n%s:\n\n%s", t.Title, t.Markdown())
		}
		fmt.Fprintf(&b, "\n%s\n", s.Where)
	}
	return b.String()
}
