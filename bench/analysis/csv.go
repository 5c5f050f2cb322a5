package analysis

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/penstock-go/penstock/bench/result"
)

// The columns of a table of times.
var (
	required = []string{"model", "batch", "workers", "seconds"} // seconds are for the same work in all rows of a model
	optional = []string{"round", "side", "data", "device"}
)

// mostErrors is how many errors ReadCSV lists.
const mostErrors = 100

// ReadCSV reads times from a table whose first line names its columns, in any order: model,
// batch, workers and seconds, and optionally round, side, data and device. The records belong
// to the study [result.EndToEnd], with one sample each. Other columns are an error. ReadCSV
// skips rows that it cannot read. Its error joins one error for each of them, with the line
// number. After 100 of them it ends.
func ReadCSV(r io.Reader, file string) ([]result.Record, error) {
	in := csv.NewReader(r)
	in.TrimLeadingSpace = true
	head, err := in.Read()
	if err != nil {
		return nil, fmt.Errorf("analysis: %s:1: %w", file, err)
	}
	head[0] = strings.TrimPrefix(head[0], "\ufeff") // as some editors begin a file
	if err := checkColumns(head); err != nil {
		return nil, fmt.Errorf("analysis: %s:1: %w", file, err)
	}
	var records []result.Record
	var errs []error
	for {
		if len(errs) == mostErrors {
			return records, errors.Join(append(errs, fmt.Errorf("analysis: %s: the rest was not read", file))...)
		}
		fields, err := in.Read()
		var syntax *csv.ParseError
		switch {
		case err == io.EOF:
			return records, errors.Join(errs...)
		case errors.As(err, &syntax):
			errs = append(errs, fmt.Errorf("analysis: %s:%d: %w", file, syntax.Line, syntax.Err))
			continue
		case err != nil: // reading failed, not the row
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

// checkColumns reports columns that are missing, unknown or named twice.
func checkColumns(head []string) error {
	if most := len(required) + len(optional); len(head) > most {
		return fmt.Errorf("%d columns: want %v, and optionally %v", len(head), required, optional)
	}
	var errs []error
	for i, name := range head {
		switch {
		case slices.Contains(head[:i], name):
			errs = append(errs, fmt.Errorf("column %q is named twice", name))
		case !slices.Contains(required, name) && !slices.Contains(optional, name):
			errs = append(errs, fmt.Errorf("column %q: want %v, and optionally %v", name, required, optional))
		}
	}
	for _, name := range required {
		if !slices.Contains(head, name) {
			errs = append(errs, fmt.Errorf("column %q is missing", name))
		}
	}
	return errors.Join(errs...)
}

// parse makes a record of a row.
func parse(head, fields []string) (result.Record, error) {
	r := result.Record{
		Study: result.EndToEnd, Side: "a table", Date: time.Unix(0, 0).UTC(), Machine: result.Machine{CPU: "not named", Processors: 1},
		Config: result.Config{Data: "a table"}, Measured: result.Measured{Samples: 1},
	}
	for i, name := range head {
		if fields[i] == "" && slices.Contains(optional, name) {
			continue
		}
		if err := set(&r, name, fields[i]); err != nil {
			return result.Record{}, err
		}
	}
	r.Measured.EndToEnd = r.Measured.Seconds
	return r, r.Check()
}

// set stores a field of a row in the record.
func set(r *result.Record, column, text string) (err error) {
	want := "a whole number"
	switch column {
	case "model":
		r.Config.Model = text
	case "batch":
		r.Config.Batch, err = strconv.Atoi(text)
	case "workers":
		r.Config.Workers, err = strconv.Atoi(text)
	case "seconds":
		want = "a number"
		r.Measured.Seconds, err = strconv.ParseFloat(text, 64)
	case "round":
		r.Round, err = strconv.Atoi(text)
	case "side":
		r.Side = text
	case "data":
		r.Config.Data = text
	case "device":
		r.Config.Device = text
	}
	if err != nil {
		return fmt.Errorf("%s: have %.40q, want %s", column, text, want)
	}
	return nil
}
