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
// a flag is wrong, and 3 if there is no driver or no device, which one line of the report
// and of the standard error explains.
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
	"slices"
	"strings"
	"time"

	"github.com/penstock-go/penstock/gpu"
)

// Exit codes.
const (
	exitFailed   = 1
	exitFlags    = 2
	exitNoDevice = 3
)

// options are the program's flags.
type options struct {
	library  string
	ordinal  int
	names    []string // of the checks to run
	launches int
	largest  int // bytes of a copy
	limit    time.Duration
	child    string // the check that this process makes for its parent
}

func main() { os.Exit(run(context.Background(), os.Args[1:], os.Stdout, os.Stderr)) }

func run(ctx context.Context, args []string, stdout, stderr io.Writer) (code int) {
	o, err := parse(args, stderr)
	if errors.Is(err, flag.ErrHelp) {
		return 0
	}
	if err != nil {
		fmt.Fprintln(stderr, "selftest:", err)
		return exitFlags
	}
	if o.child != "" {
		return serve(o, stdout)
	}
	err = available(o)
	switch {
	case errors.Is(err, gpu.ErrNoDevice):
		noReport(err, stdout, stderr)
		return exitNoDevice
	case err != nil:
		noReport(err, stdout, stderr)
		return exitFailed
	}
	if failed := report(ctx, o, args, stdout); failed > 0 {
		return exitFailed
	}
	return 0
}

// noReport says in the report, which may go to a file, too, why no check was made.
func noReport(err error, stdout, stderr io.Writer) {
	fmt.Fprintln(stderr, "selftest:", err)
	fmt.Fprintf(stdout, "penstock gpu selftest: no check was made: %v\n", err)
}

// available opens and closes the device.
func available(o options) error {
	d, err := gpu.Open(o.opening()...)
	if err != nil {
		return err
	}
	return d.Close()
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
	flags.StringVar(&o.child, "child", "", "make this check alone, for the parent process")
	if err := flags.Parse(args); err != nil {
		return o, err
	}
	o.names = strings.Split(*list, ",")
	for _, name := range o.names {
		if !slices.Contains(names, name) {
			return o, fmt.Errorf("-checks: %q: want some of %s", name, strings.Join(names, ","))
		}
	}
	if o.child != "" && !slices.Contains(names, o.child) {
		return o, fmt.Errorf("-child: %q: want one of %s", o.child, strings.Join(names, ","))
	}
	if flags.NArg() > 0 || o.launches < 1 || o.largest < 1<<16 || o.ordinal < 0 || o.limit <= 0 {
		return o, errors.New("want no arguments, -launches of 1 or more, -largest of 65536 or more, -device of 0 or more, and a -limit above 0")
	}
	return o, nil
}
