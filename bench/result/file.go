package result

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"reflect"
	"slices"
	"strings"
)

// maxLine is the length of the longest line that is read, in bytes: enough for the waits of some millions of batches.
const maxLine = 64 << 20

// ReadFile reads the records of a file, see [Read].
func ReadFile(path string) ([]Record, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("result: %w", err)
	}
	defer f.Close()
	return Read(f, path)
}

// Read reads records until r ends, and checks them. It skips empty lines. If some lines are not records, it returns all
// other records, and an error that joins one for each of these lines, with the file's name and the line's number. It
// stops only if r fails or a line is longer than 64 MiB.
func Read(r io.Reader, file string) (records []Record, err error) {
	var errs []error
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, maxLine)
	n := 0
	wrong := func(err error) {
		errs = append(errs, fmt.Errorf("result: %s:%d: %s", file, n, strings.ReplaceAll(err.Error(), "\n", "; ")))
	}
	for lines.Scan() {
		n++
		line := bytes.TrimSpace(lines.Bytes())
		if len(line) == 0 {
			continue
		}
		if record, err := parse(line); err != nil {
			wrong(err)
		} else {
			records = append(records, record)
		}
	}
	if err := lines.Err(); err != nil {
		n++
		wrong(err)
	}
	return records, errors.Join(errs...)
}

// parse reads one line strictly.
func parse(line []byte) (r Record, err error) {
	d := json.NewDecoder(bytes.NewReader(line))
	d.DisallowUnknownFields()
	if err := d.Decode(&r); err != nil {
		return Record{}, err
	}
	if _, err := d.Token(); err != io.EOF {
		return Record{}, errors.New("more than one value in a line")
	}
	return r, r.Check()
}

// AppendFile appends records to a file, one per line, and creates it if it does not exist. It checks them first, so that
// either all or none are written. A run that is stopped early keeps the records that it has appended.
func AppendFile(path string, records ...Record) error {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	for i, r := range records {
		if err := errors.Join(r.Check(), e.Encode(r)); err != nil {
			return fmt.Errorf("result: record %d (%s, %s): %w", i, r.Study, r.Side, err)
		}
	}
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return fmt.Errorf("result: %w", err)
	}
	defer f.Close()
	if _, err := f.Write(b.Bytes()); err != nil {
		return fmt.Errorf("result: %w", err)
	}
	return f.Close()
}

// Check returns an error with what is wrong with a record, or nil. It names fields by their JSON names.
func (r Record) Check() error {
	errs := negative(reflect.ValueOf(r), "", nil)
	want := func(ok bool, field string, have any, want string) {
		if !ok {
			text := fmt.Sprint(have)
			errs = append(errs, fmt.Errorf("%s: have %s, want %s", field, text[:min(40, len(text))], want))
		}
	}
	c, m := r.Config, r.Measured
	want(slices.Contains(Studies(), r.Study), "study", r.Study, fmt.Sprintf("one of %v", Studies()))
	want(r.Side != "", "side", r.Side, "a name")
	want(!r.Date.IsZero(), "date", r.Date, "a date as 2026-11-21T09:30:00Z")
	want(c.Batch >= 1, "config.batch", c.Batch, "1 or more")
	want(c.Data != "", "config.data", c.Data, "a kind of data")
	want(slices.Contains([]string{"", HelpOn, HelpOff}, c.Help), "config.help", c.Help, `"on", "off" or nothing`)
	want(slices.Contains([]string{"", FirstBatch, Epoch}, c.Span), "config.span", c.Span, `"first batch", "epoch" or nothing`)
	want(r.Machine.CPU != "", "machine.cpu", r.Machine.CPU, "a name")
	want(r.Machine.Processors >= 1, "machine.processors", r.Machine.Processors, "1 or more")
	want(m.Samples >= 1, "measured.samples", m.Samples, "1 or more")
	want(m.Seconds > 0, "measured.seconds", m.Seconds, "more than 0")
	switch r.Study {
	case Loading:
		want(len(m.Waits) > 0, "measured.waits_seconds", m.Waits, "a time for every batch")
	case EndToEnd:
		want(c.Model != "", "config.model", c.Model, "a model")
		want(m.EndToEnd > 0, "measured.end_to_end_seconds", m.EndToEnd, "more than 0")
	case Profile:
		want(len(m.Stages) > 0, "measured.stages", m.Stages, "one or more")
		want(c.Span != "", "config.span", c.Span, `"first batch" or "epoch"`)
	case Inference:
		want(c.Model != "", "config.model", c.Model, "a model")
		want(m.PerItem > 0, "measured.per_item_seconds", m.PerItem, "more than 0")
	}
	return errors.Join(errs...)
}

// negative adds an error for each of the first numbers of a value that are below 0 or not finite.
func negative(v reflect.Value, name string, errs []error) []error {
	bad := false
	switch v.Kind() {
	case reflect.Struct:
		for f, field := range v.Fields() {
			if tag, _, _ := strings.Cut(f.Tag.Get("json"), ","); tag != "" {
				errs = negative(field, strings.TrimPrefix(name+"."+tag, "."), errs)
			}
		}
	case reflect.Slice:
		for i := range v.Len() {
			errs = negative(v.Index(i), fmt.Sprintf("%s[%d]", name, i), errs)
		}
	case reflect.Int, reflect.Int64:
		bad = v.Int() < 0
	case reflect.Float64:
		bad = !(v.Float() >= 0 && v.Float() <= math.MaxFloat64)
	}
	if bad && len(errs) < 8 {
		errs = append(errs, fmt.Errorf("%s: have %v, want 0 or more", name, v))
	}
	return errs
}
