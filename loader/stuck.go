package loader

import (
	"bytes"
	"fmt"
	"runtime"
	"strconv"
	"time"
)

// stuck says what the worker has been placing.
func (w *worker) stuck() (Stuck, bool) {
	index := int(w.sample.Load()) - 1
	if index < 0 {
		return Stuck{}, false
	}
	return Stuck{
		Worker: w.id,
		Index:  index,
		Name:   w.l.name(index),
		Stage:  w.clock.Current(),
		For:    time.Since(w.l.made) - time.Duration(w.since.Load()),
	}, true
}

// stack is the worker's call stack.
func (w *worker) stack() string {
	all := make([]byte, 1<<20)
	all = all[:runtime.Stack(all, true)]
	header := fmt.Appendf(nil, "goroutine %d ", w.goroutine.Load())
	for block := range bytes.SplitSeq(all, []byte("\n\n")) {
		if bytes.HasPrefix(block, header) {
			return string(block)
		}
	}
	return ""
}

// goroutineID is the number under which stack dumps show this goroutine.
func goroutineID() int64 {
	var buf [64]byte
	fields := bytes.Fields(buf[:runtime.Stack(buf[:], false)])
	if len(fields) < 2 {
		return 0
	}
	id, _ := strconv.ParseInt(string(fields[1]), 10, 64)
	return id
}
