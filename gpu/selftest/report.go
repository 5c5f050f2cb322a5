package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"runtime/debug"
	"slices"
	"time"
)

// A check is one question to the machine.
type check struct {
	name  string
	about string
	// run returns nil if the check has passed, an error that wraps errImpossible if the
	// machine cannot be asked, and what is wrong otherwise.
	run func(s *subject) error
}

// checks are in the order of the report.
var checks = []check{
	{"machine", "driver, device and what is special about the machine", checkMachine},
	{"page-locked", "memory of gpu.Pinned is page-locked", checkPinned},
	{"registered", "memory of the program can be page-locked afterwards", checkRegistered},
	{"copies", "copies to the device and back are exact", checkCopies},
	{"stage", "a Stage loses, repeats and overwrites no batch", checkStage},
	{"overlap", "copies run while a kernel does", checkOverlap},
	{"training", "losses on the device equal those on the processor", checkTraining},
	{"failures", "calls that must fail do, with the documented error", checkFailures},
	{"lost", "a lost context is reported, and everything can be closed", checkLost}, // the next check needs a device that works again
	{"leaks", "launches, copies and stages leave no memory taken", checkLeaks},
}

// errImpossible means that a check cannot be made on this machine.
var errImpossible = errors.New("not possible here")

// A verdict is the result of a check.
type verdict struct {
	Result string   // passed, failed or impossible
	Cause  string   // of a failure
	Notes  []string // what was measured
}

const (
	passed     = "passed"
	failed     = "failed"
	impossible = "impossible"
)

func verdictOf(err error, notes []string) verdict {
	v := verdict{Result: passed, Notes: notes}
	if err != nil {
		v.Result, v.Cause = failed, err.Error()
	}
	if errors.Is(err, errImpossible) {
		v.Result = impossible
	}
	return v
}

// longest is the time for all checks.
const longest = 290 * time.Second

// report makes the checks, each in a process of its own, and prints their verdicts.
func report(ctx context.Context, o options, args []string, w io.Writer) (failures int) {
	ctx, cancel := context.WithTimeout(ctx, longest)
	defer cancel()
	begun := time.Now()
	fmt.Fprintf(w, "penstock gpu selftest, %s\n", begun.UTC().Format(time.RFC3339))
	for _, line := range program() {
		fmt.Fprintf(w, "    %s\n", line)
	}
	count := map[string]int{}
	for _, c := range checks {
		if !slices.Contains(o.names, c.name) {
			continue
		}
		start := time.Now()
		v := ask(ctx, c, o, args)
		count[v.Result]++
		fmt.Fprintf(w, "%-10s %s: %s (%.1f s)\n", v.Result, c.name, c.about, time.Since(start).Seconds())
		if v.Cause != "" {
			fmt.Fprintf(w, "    %s: %s\n", v.Result, v.Cause)
		}
		for _, note := range v.Notes {
			fmt.Fprintf(w, "    %s\n", note)
		}
	}
	fmt.Fprintf(w, "%d passed, %d failed, %d not possible here, %.0f s\n", count[passed], count[failed], count[impossible], time.Since(begun).Seconds())
	if count[failed] > 0 {
		fmt.Fprintln(w, "Please send this report to https://github.com/penstock-go/penstock/issues.")
	} else {
		fmt.Fprintln(w, "Please send this report to https://github.com/penstock-go/penstock/issues: the project has no such device.")
	}
	return count[failed]
}

// program describes the program itself.
func program() []string {
	lines := []string{fmt.Sprintf("%s %s/%s, %d processors", runtime.Version(), runtime.GOOS, runtime.GOARCH, runtime.NumCPU())}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return lines
	}
	version := info.Main.Version
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" || s.Key == "vcs.modified" || s.Key == "CGO_ENABLED" {
			version += fmt.Sprintf(" %s=%s", s.Key, s.Value)
		}
	}
	return append(lines, info.Main.Path+" "+version)
}
