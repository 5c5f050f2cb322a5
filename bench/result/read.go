package result

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
)

// maxLine is the length of the longest line that is read, in bytes: enough for the waits of some
// millions of batches.
const maxLine = 64 << 20

// A LineError is a line that is not a record.
type LineError struct {
	File string
	Line int // from 1
	Err  error
}

func (e *LineError) Error() string {
	return fmt.Sprintf("result: %s:%d: %s", e.File, e.Line, strings.ReplaceAll(e.Err.Error(), "\n", "; "))
}

// Unwrap returns the cause.
func (e *LineError) Unwrap() error { return e.Err }

// ReadFile reads the records of a file, see [Read].
func ReadFile(path string) ([]Record, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("result: %w", err)
	}
	defer f.Close()
	return Read(f, path)
}

// Read reads records until r ends, and checks them. It skips empty lines. If some lines are not
// records, it returns all other records, and an error that joins a [*LineError] for each of these
// lines. It stops only if r fails or a line is longer than 64 MiB. Errors name r by file.
func Read(r io.Reader, file string) ([]Record, error) {
	var records []Record
	var errs []error
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, maxLine)
	n := 0
	for lines.Scan() {
		n++
		line := bytes.TrimSpace(lines.Bytes())
		if n == 1 {
			line = bytes.TrimPrefix(line, []byte("\ufeff")) // as some editors begin a file
		}
		if len(line) == 0 {
			continue
		}
		record, err := parse(line)
		if err != nil {
			errs = append(errs, &LineError{file, n, err})
			continue
		}
		records = append(records, record)
	}
	if err := lines.Err(); err != nil {
		errs = append(errs, &LineError{file, n + 1, err})
	}
	return records, errors.Join(errs...)
}

// parse reads one line strictly.
func parse(line []byte) (Record, error) {
	var r Record
	d := json.NewDecoder(bytes.NewReader(line))
	d.DisallowUnknownFields()
	if err := d.Decode(&r); err != nil {
		return Record{}, fmt.Errorf("byte %d: %w", offset(d, err, line), err)
	}
	if _, err := d.Token(); err != io.EOF {
		return Record{}, fmt.Errorf("byte %d: more than one value in a line", d.InputOffset())
	}
	if err := r.Check(); err != nil {
		return Record{}, err
	}
	r.Measured.fill()
	return r, nil
}

// offset is the position in the line at which d found err.
func offset(d *json.Decoder, err error, line []byte) int64 {
	var syntax *json.SyntaxError
	var kind *json.UnmarshalTypeError
	switch {
	case errors.As(err, &syntax):
		return syntax.Offset
	case errors.As(err, &kind):
		return kind.Offset
	case errors.Is(err, io.ErrUnexpectedEOF):
		return int64(len(line))
	}
	return d.InputOffset()
}

// fill computes the values that follow from others.
func (m *Measured) fill() {
	if m.SamplesPerSecond == 0 {
		m.SamplesPerSecond = float64(m.Samples) / m.Seconds
	}
}
