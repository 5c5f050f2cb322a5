package main

import (
	"fmt"
	"os"
	"strings"

	"github.com/penstock-go/penstock/bench/analysis"
	"github.com/penstock-go/penstock/bench/result"
)

// An input is what could be read, and what not.
type input struct {
	records []result.Record
	tables  []analysis.Group // of CSV files
	errs    []error
}

func (in *input) empty() bool { return len(in.records) == 0 && len(in.tables) == 0 }

func load(files []string) input {
	var in input
	for _, file := range files {
		if strings.HasSuffix(strings.ToLower(file), ".csv") {
			groups, err := loadCSV(file)
			in.tables = append(in.tables, groups...)
			in.note(err)
			continue
		}
		records, err := result.ReadFile(file)
		in.records = append(in.records, records...)
		in.note(err)
	}
	return in
}

func loadCSV(file string) ([]analysis.Group, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, fmt.Errorf("report: %w", err)
	}
	defer f.Close()
	return analysis.ReadCSV(f, file)
}

// note keeps errors one by one.
func (in *input) note(err error) {
	if many, ok := err.(interface{ Unwrap() []error }); ok {
		in.errs = append(in.errs, many.Unwrap()...)
	} else if err != nil {
		in.errs = append(in.errs, err)
	}
}
