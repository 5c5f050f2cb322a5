package analysis

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/penstock-go/penstock/bench/result"
)

// A row of a table of times. Its fields are the columns, of any order.
type row struct {
	Model   string  `json:"model"`
	Batch   int     `json:"batch,string"`
	Workers int     `json:"workers,string"`
	Seconds float64 `json:"seconds,string"` // for the same work in all rows of a model
	Round   int     `json:"round,string"`
	Side    string  `json:"side"`
	Data    string  `json:"data"`
	Device  string  `json:"device"`
}

// ReadCSV reads times from a table whose first line names its columns: model, batch, workers
// and seconds, and optionally round, side, data and device. The records belong to the study
// [result.EndToEnd], with one sample each. ReadCSV skips rows that it cannot read. Its error
// joins one error for each of them, with the line number.
func ReadCSV(r io.Reader, file string) ([]result.Record, error) {
	in := csv.NewReader(r)
	in.TrimLeadingSpace = true
	head, err := in.Read()
	if err != nil {
		return nil, fmt.Errorf("analysis: %s:1: %w", file, err)
	}
	head[0] = strings.TrimPrefix(head[0], "\ufeff") // as some editors begin a file
	var records []result.Record
	var errs []error
	for {
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

// parse reads a row as a JSON object of strings.
func parse(head, fields []string) (result.Record, error) {
	object := map[string]string{}
	for i, name := range head {
		object[name] = fields[i]
	}
	text, err := json.Marshal(object)
	if err != nil {
		return result.Record{}, err
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	w := row{Side: "a table", Data: "a table"}
	if err := d.Decode(&w); err != nil {
		return result.Record{}, err
	}
	r := result.Record{
		Study: result.EndToEnd, Side: w.Side, Round: w.Round, Date: time.Unix(0, 0).UTC(), Machine: result.Machine{CPU: "not named", Processors: 1},
		Config:   result.Config{Model: w.Model, Batch: w.Batch, Workers: w.Workers, Data: w.Data, Device: w.Device},
		Measured: result.Measured{Samples: 1, Seconds: w.Seconds, EndToEnd: w.Seconds},
	}
	return r, r.Check()
}
