// Command selftest checks on a machine with a CUDA device what the tests of package gpu
// cannot check without one, and prints a report to send to the project:
//
//	CGO_ENABLED=0 go build -o selftest ./gpu/selftest && ./selftest | tee report.txt
//
// It is one file, which needs the driver (libcuda.so.1) and libc, and neither cgo nor a
// CUDA toolkit. It takes less than five minutes. Every check runs in a process of its own:
// a check that crashes, hangs or loses the CUDA context does not stop the others.
//
// The exit code is 0 if no check failed, 1 if one failed or the driver does not work, 2 if
// a flag is wrong, and 3 if there is no driver or no device.
//
// gorgonia's VM on a device needs cgo. Its tests check it:
//
//	PENSTOCK_PTX=$PWD/kernels go test -tags cuda ./gpu/cuda
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/penstock-go/penstock/gpu"
)

// Exit codes.
const (
	exitFailed   = 1
	exitFlags    = 2
	exitNoDevice = 3
)

// checks are in the order of the report.
var checks = []struct {
	name, about string
	run         func(s *subject) error
}{
	{"machine", "driver and device", checkMachine},
	{"page-locked", "memory of gpu.Pinned is page-locked", checkPinned},
	{"copies", "copies to the device and back are exact", checkCopies},
	{"stage", "a Stage loses, repeats and overwrites no batch", checkStage},
	{"overlap", "copies run while a kernel does", checkOverlap},
	{"failures", "calls that must fail do, and do no harm", checkFailures},
	{"lost", "a lost context is reported, and everything can be closed", checkLost}, // the next check needs a device that works again
	{"leaks", "launches, copies and stages leave no memory taken", checkLeaks},
}

// options are the program's flags.
type options struct {
	library  string
	ordinal  int
	names    []string // of the checks to run
	launches int
	largest  int // bytes of a copy
	limit    time.Duration
	child    bool // make the check in this process
}

func main() { os.Exit(run(context.Background(), os.Args[1:], os.Stdout, os.Stderr)) }

func run(ctx context.Context, args []string, stdout, stderr io.Writer) (code int) {
	o, err := parse(args, stderr)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return 0
	case err != nil:
		fmt.Fprintln(stderr, "selftest:", err)
		return exitFlags
	case o.child:
		return check(o, stdout)
	}
	device, err := gpu.Open(o.opening()...)
	if err == nil {
		err = device.Close()
	}
	if err != nil {
		fmt.Fprintln(stdout, "penstock gpu selftest: no check was made:", err)
		fmt.Fprintln(stderr, "selftest:", err)
		if errors.Is(err, gpu.ErrNoDevice) {
			return exitNoDevice
		}
		return exitFailed
	}
	fmt.Fprintf(stdout, "penstock gpu selftest, %s, %s %s/%s, %d processors\n", time.Now().UTC().Format(time.RFC3339), runtime.Version(), runtime.GOOS, runtime.GOARCH, runtime.NumCPU())
	failed := 0
	for _, c := range checks {
		if !slices.Contains(o.names, c.name) {
			continue
		}
		fmt.Fprintf(stdout, "%s: %s\n", c.name, c.about)
		begun, result := time.Now(), "passed"
		if err := ask(ctx, c.name, o.limit, args, stdout); err != nil {
			failed++
			result = "failed: " + err.Error()
		}
		fmt.Fprintf(stdout, "%s %s (%.1f s)\n", c.name, result, time.Since(begun).Seconds())
	}
	fmt.Fprintf(stdout, "%d checks, %d failed\nPlease send this report to https://github.com/penstock-go/penstock/issues.\n", len(o.names), failed)
	return min(failed, exitFailed)
}

// ask lets a child process make a check and write to the report what it finds. One that does
// not end in time writes where its goroutines are.
func ask(ctx context.Context, name string, limit time.Duration, args []string, report io.Writer) error {
	file, err := os.Executable()
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	child := exec.CommandContext(ctx, file, slices.Concat(args, []string{"-child", "-checks", name})...)
	child.Stdout, child.Stderr = report, report
	child.Cancel = func() error { return child.Process.Signal(syscall.SIGQUIT) }
	child.WaitDelay = 5 * time.Second
	if err = child.Run(); err != nil && ctx.Err() != nil {
		err = fmt.Errorf("it did not end in %v", limit)
	}
	return err
}

// check makes one check in this process.
func check(o options, report io.Writer) int {
	runtime.LockOSThread() // a context is bound to the thread, which ends with the process
	for _, c := range checks {
		if c.name != o.names[0] {
			continue
		}
		s := &subject{options: o, report: report}
		err := s.open()
		if err == nil {
			err = c.run(s)
		}
		if err = errors.Join(err, s.close()); err != nil {
			s.note("%v", err)
			return exitFailed
		}
	}
	return 0
}

// opening are the options of gpu.Open.
func (o options) opening() []gpu.Option {
	opening := []gpu.Option{gpu.Ordinal(o.ordinal)}
	if o.library != "" {
		opening = append(opening, gpu.Library(o.library))
	}
	return opening
}

func parse(args []string, stderr io.Writer) (o options, err error) {
	flags := flag.NewFlagSet("selftest", flag.ContinueOnError)
	flags.SetOutput(stderr)
	var names []string
	for _, c := range checks {
		names = append(names, c.name)
	}
	list := flags.String("checks", strings.Join(names, ","), "the checks to run")
	flags.StringVar(&o.library, "library", "", "the driver's `file` (default libcuda.so.1, as the system finds it)")
	flags.IntVar(&o.ordinal, "device", 0, "the device's `number`")
	flags.IntVar(&o.launches, "launches", 100_000, "launches and copies of the search for leaks")
	flags.IntVar(&o.largest, "largest", 64<<20, "`bytes` of the largest copy")
	flags.DurationVar(&o.limit, "limit", time.Minute, "time for a check")
	flags.BoolVar(&o.child, "child", false, "make the check in this process")
	if err := flags.Parse(args); err != nil {
		return o, err
	}
	o.names = strings.Split(*list, ",")
	for _, name := range o.names {
		if !slices.Contains(names, name) {
			return o, fmt.Errorf("-checks: %q: want some of %s", name, strings.Join(names, ","))
		}
	}
	if flags.NArg() > 0 || o.launches < 1 || o.largest < 1<<16 || o.ordinal < 0 || o.limit <= 0 {
		return o, errors.New("want no arguments, -launches of 1 or more, -largest of 65536 or more, -device of 0 or more, and a -limit above 0")
	}
	return o, nil
}
