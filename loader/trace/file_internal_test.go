package trace

import (
	"bufio"
	"bytes"
	"testing"
)

// TestTheFileSaysThatItsLastEventsAreMissing, where none comes after them.
func TestTheFileSaysThatItsLastEventsAreMissing(t *testing.T) {
	o := &output{pieces: make(chan []byte, 1)}
	r := &recorder{output: o, out: bufio.NewWriterSize(o, 100)}
	for !o.lost {
		r.add(event{Phase: "C", Name: "ready"}, 0, 0)
	}
	if end := r.finish(); !bytes.Contains(end, []byte("events are missing")) || !bytes.HasSuffix(end, []byte("\n]\n")) {
		t.Errorf("the file ends with %q", end)
	}
}
