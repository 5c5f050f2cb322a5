package result

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
)

// Write appends records to w, one per line, in one call of w.Write. It checks them first, so that
// either all or none are written.
func Write(w io.Writer, records ...Record) error {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	for i, r := range records {
		if err := r.Check(); err != nil {
			return fmt.Errorf("result: record %d (%s): %w", i, r.title(), err)
		}
		r.Measured.fill()
		if err := e.Encode(r); err != nil {
			return fmt.Errorf("result: record %d (%s): %w", i, r.title(), err)
		}
	}
	if _, err := w.Write(b.Bytes()); err != nil {
		return fmt.Errorf("result: write: %w", err)
	}
	return nil
}

// AppendFile appends records to a file, and creates it if it does not exist. A run that is stopped
// early keeps the records that it has appended.
func AppendFile(path string, records ...Record) error {
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return fmt.Errorf("result: %w", err)
	}
	if err := Write(f, records...); err != nil {
		f.Close()
		return err
	}
	if err := f.Close(); err != nil {
		return fmt.Errorf("result: %w", err)
	}
	return nil
}
