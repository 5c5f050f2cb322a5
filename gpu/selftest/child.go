package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"time"
)

// The child process writes what it is about to do, line by line, so that the parent knows
// where it crashed, and at the end its verdict.
const (
	stepMark    = "step "
	verdictMark = "verdict "
)

// serve makes one check. Its exit code is 0 if there is a verdict.
func serve(o options, w io.Writer) int {
	runtime.LockOSThread() // a context is bound to the thread, which ends with the process
	i := slices.IndexFunc(checks, func(c check) bool { return c.name == o.child })
	s := &subject{options: o, out: w}
	err := checks[i].run(s)
	text, encoding := json.Marshal(verdictOf(errors.Join(err, s.close()), s.notes))
	if encoding != nil {
		fmt.Fprintln(w, encoding)
		return exitFailed
	}
	fmt.Fprintf(w, "%s%s\n", verdictMark, text)
	return 0
}

// ask lets a child process make a check.
func ask(ctx context.Context, c check, o options, args []string) verdict {
	begun := time.Now()
	ctx, cancel := context.WithTimeout(ctx, o.limit)
	defer cancel()
	file, err := os.Executable()
	if err != nil {
		return verdictOf(err, nil)
	}
	child := exec.CommandContext(ctx, file, slices.Concat(args, []string{"-child", c.name})...)
	child.WaitDelay = 5 * time.Second
	var errs bytes.Buffer
	child.Stderr = &errs
	out, err := child.Output()
	step := "the start"
	lines := bufio.NewScanner(bytes.NewReader(out))
	lines.Buffer(nil, len(out)+1)
	for lines.Scan() {
		if text, ok := strings.CutPrefix(lines.Text(), stepMark); ok {
			step = text
		}
		if text, ok := strings.CutPrefix(lines.Text(), verdictMark); ok && err == nil {
			var v verdict
			err = json.Unmarshal([]byte(text), &v)
			return either(v, err)
		}
	}
	if ctx.Err() != nil {
		err = fmt.Errorf("it did not end in %v", time.Since(begun).Round(time.Second))
	}
	return verdictOf(fmt.Errorf("the check's process: %w, at %s%s", err, step, crash(errs.String())), nil)
}

func either(v verdict, err error) verdict {
	if err != nil {
		return verdictOf(err, nil)
	}
	return v
}

// crash returns the lines of a crashed program that say why.
func crash(text string) string {
	var found strings.Builder
	for line := range strings.Lines(text) {
		for _, word := range []string{"fatal error", "panic: ", "SIG", "DATA RACE"} {
			if found.Len() < 1000 && strings.Contains(line, word) {
				fmt.Fprintf(&found, ": %s", strings.TrimSpace(line))
				break
			}
		}
	}
	return found.String()
}
