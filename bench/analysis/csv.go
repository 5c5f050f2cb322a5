package analysis

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/penstock-go/penstock/bench/result"
)

// A column of a CSV file, and what its text becomes.
type column struct {
	name string
	set  func(r *result.Record, text string) error
}

// columns are what a file may have; the first four it must have.
var columns = []column{
	{"model", func(r *result.Record, text string) error { r.Config.Model = text; return nil }},
	{"batch", func(r *result.Record, text string) error { return whole(&r.Config.Batch, text, 1) }},
	{"workers", func(r *result.Record, text string) error { return whole(&r.Config.Workers, text, 0) }},
	{"seconds", func(r *result.Record, text string) error {
		v, err := strconv.ParseFloat(text, 64)
		if err != nil || !(v > 0 && v <= math.MaxFloat64) {
			return fmt.Errorf("have %.40q, want a time above 0", text)
		}
		r.Measured.Seconds, r.Measured.EndToEnd = v, v
		return nil
	}},
	{"round", func(r *result.Record, text string) error { return whole(&r.Round, text, 0) }},
	{"side", func(r *result.Record, text string) error { r.Side = text; return nil }},
	{"data", func(r *result.Record, text string) error { r.Config.Data = text; return nil }},
	{"device", func(r *result.Record, text string) error { r.Config.Device = text; return nil }},
}

func whole(to *int, text string, least int) error {
	n, err := strconv.Atoi(text)
	if err != nil || n < least {
		return fmt.Errorf("have %.40q, want a whole number, %d or more", text, least)
	}
	*to = n
	return nil
}

// ReadCSV reads times from a table whose first line names its columns, in any
// order: model, batch, workers and seconds, and where wanted round, side, data
// and device. Seconds are for the same work in all rows of a model. The records
// are of the study [result.EndToEnd], each of one sample. A row that cannot be
// read costs itself alone; the error joins one for each, with file and line.
func ReadCSV(r io.Reader, file string) ([]result.Record, error) {
	in := csv.NewReader(r)
	in.TrimLeadingSpace, in.FieldsPerRecord = true, -1
	head, err := in.Read()
	if err == nil {
		head[0] = strings.TrimPrefix(head[0], "\ufeff")
		err = checkColumns(head)
	}
	if err != nil {
		return nil, fmt.Errorf("analysis: %s:1: %w", file, err)
	}
	var records []result.Record
	var errs []error
	for {
		fields, err := in.Read()
		if err == io.EOF {
			return records, errors.Join(errs...)
		}
		var syntax *csv.ParseError
		switch {
		case errors.As(err, &syntax):
			errs = append(errs, fmt.Errorf("analysis: %s:%d: %w", file, syntax.Line, syntax.Err))
			continue
		case err != nil: // not the row but r is at fault
			return records, errors.Join(append(errs, fmt.Errorf("analysis: %s: %w", file, err))...)
		}
		record, err := parse(head, fields)
		if err != nil {
			line, _ := in.FieldPos(0)
			errs = append(errs, fmt.Errorf("analysis: %s:%d: %w", file, line, err))
			continue
		}
		records = append(records, record)
	}
}

func checkColumns(head []string) error {
	var known []string
	for i, c := range columns {
		known = append(known, c.name)
		if i < 4 && !slices.Contains(head, c.name) {
			return fmt.Errorf("no column %q", c.name)
		}
	}
	for i, name := range head {
		if !slices.Contains(known, name) {
			return fmt.Errorf("column %q: want some of %s", name, strings.Join(known, ", "))
		}
		if slices.Contains(head[:i], name) {
			return fmt.Errorf("column %q twice", name)
		}
	}
	return nil
}

func parse(head, fields []string) (result.Record, error) {
	r := result.Record{Study: result.EndToEnd, Date: time.Unix(0, 0).UTC(), Machine: result.Machine{CPU: "not named", Processors: 1}}
	r.Measured.Samples = 1
	if len(fields) != len(head) {
		return r, fmt.Errorf("%d fields, want %d", len(fields), len(head))
	}
	for i, text := range fields {
		at := slices.IndexFunc(columns, func(c column) bool { return c.name == head[i] })
		if err := columns[at].set(&r, text); err != nil {
			return r, fmt.Errorf("%s: %w", head[i], err)
		}
	}
	return r, nil
}
