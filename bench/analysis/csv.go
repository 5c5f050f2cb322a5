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

	"github.com/penstock-go/penstock/bench/result"
)

// columns are what a CSV file may have; the first four it must have.
var columns = []string{"model", "batch", "workers", "seconds", "round", "side", "data", "device"}

// ReadCSV reads times from a table whose first line names its columns, in any
// order: model, batch, workers and seconds, and where wanted round, side, data
// and device. Seconds are for the same work in all rows of a model. A row that
// cannot be read costs itself alone; the error joins one for each, with file and line.
func ReadCSV(r io.Reader, file string) ([]Group, error) {
	in := csv.NewReader(r)
	in.ReuseRecord, in.TrimLeadingSpace, in.FieldsPerRecord = true, true, -1
	head, err := in.Read()
	if err != nil {
		return nil, fmt.Errorf("analysis: %s:1: %w", file, err)
	}
	head = slices.Clone(head)
	head[0] = strings.TrimPrefix(head[0], "\ufeff")
	if err := checkColumns(head); err != nil {
		return nil, fmt.Errorf("analysis: %s:1: %w", file, err)
	}
	var groups []Group
	var errs []error
	runs := map[place]int{}
	for {
		row, line, err := readRow(in, head)
		if err == io.EOF {
			return groups, errors.Join(errs...)
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("analysis: %s:%d: %w", file, line, err))
			if line == 0 { // not the row but r is at fault
				return groups, errors.Join(errs...)
			}
			continue
		}
		i := slices.IndexFunc(groups, func(g Group) bool { return g.Subject == row.Subject })
		if i < 0 {
			i = len(groups)
			groups = append(groups, Group{row.Subject, &Table{}})
		}
		groups[i].Table.add(row.model, row.Setting, round{runs[row.place], row.round}, row.seconds)
		runs[row.place]++
	}
}

// readRow reads one row, and the line that it is on where there is one.
func readRow(in *csv.Reader, head []string) (row, int, error) {
	fields, err := in.Read()
	var syntax *csv.ParseError
	switch {
	case errors.As(err, &syntax):
		return row{}, syntax.Line, syntax.Err
	case err != nil:
		return row{}, 0, err
	}
	line, _ := in.FieldPos(0)
	w, err := parseRow(head, fields)
	return w, line, err
}

func checkColumns(head []string) error {
	for i, name := range head {
		if !slices.Contains(columns, name) {
			return fmt.Errorf("column %q: want some of %s", name, strings.Join(columns, ", "))
		}
		if slices.Contains(head[:i], name) {
			return fmt.Errorf("column %q twice", name)
		}
	}
	for _, name := range columns[:4] {
		if !slices.Contains(head, name) {
			return fmt.Errorf("no column %q", name)
		}
	}
	return nil
}

type row struct {
	place
	seconds float64
}

func parseRow(head, fields []string) (row, error) {
	w := row{place: place{Subject: Subject{Study: result.EndToEnd}}}
	if len(fields) != len(head) {
		return w, fmt.Errorf("%d fields, want %d", len(fields), len(head))
	}
	for i, text := range fields {
		var err error
		switch head[i] {
		case "model":
			w.model = text
		case "batch":
			w.Batch, err = whole(text, 1)
		case "workers":
			w.Workers, err = whole(text, 0)
		case "round":
			w.round, err = whole(text, 0)
		case "seconds":
			w.seconds, err = strconv.ParseFloat(text, 64)
			if err != nil || !(w.seconds > 0 && w.seconds <= math.MaxFloat64) {
				err = fmt.Errorf("have %.40q, want a time above 0", text)
			}
		case "side":
			w.Side = text
		case "data":
			w.Data = text
		case "device":
			w.Device = text
		}
		if err != nil {
			return w, fmt.Errorf("%s: %w", head[i], err)
		}
	}
	return w, nil
}

func whole(text string, least int) (int, error) {
	n, err := strconv.Atoi(text)
	if err != nil || n < least {
		return 0, fmt.Errorf("have %.40q, want a whole number, %d or more", text, least)
	}
	return n, nil
}
