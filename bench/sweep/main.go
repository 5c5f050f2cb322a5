// Command sweep finds the number of workers and the batch size that load a folder of photos fastest on this machine:
//
//	go run ./bench/sweep -dir FOLDER            # with the evaluation preset
//	go run ./bench/sweep -dir FOLDER -train     # with the training preset, shuffled
//
// The folder has a subfolder per class, as dataset.ImageFolder reads it. Without -dir, sweep loads made-up photos. All
// settings load the same photos in turns. The result is a table of the time that every setting loses, and the setting to
// use, as a line of Go, or a message that the machine is too noisy.
//
// The result also depends on the consumer, whose speed -consumer sets: a loader only has to be as fast as the consumer.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"github.com/penstock-go/penstock/bench/result"
)

// options are the options of the command line.
type options struct {
	dir              string
	size             int
	consumer         float64
	workers, batches numbers
	samples, turns   int
	train            bool
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	err := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	if errors.Is(err, flag.ErrHelp) {
		return
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "sweep:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, out, errs io.Writer) error {
	o, err := parse(args, errs)
	if err != nil {
		return err
	}
	machine, err := result.ThisMachine(ctx)
	if err != nil {
		return err
	}
	m, err := newMeter(ctx, o)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "%s\n%s\n", machine, m)
	if err := m.warm(ctx); err != nil {
		return err
	}
	all, err := m.rounds(ctx)
	if err != nil && !errors.Is(err, context.Canceled) {
		return err
	}
	if err != nil {
		fmt.Fprintln(out, "ended early; of what was measured:")
	}
	if err := advise(out, all); err != nil {
		return err
	}
	if m.left > 0 {
		fmt.Fprintf(errs, "\nPhotos that could not be read and were left out: %d; the first: %v\n", m.left, m.failure)
	}
	return nil
}

func parse(args []string, errs io.Writer) (options, error) {
	o := options{workers: usualWorkers(runtime.GOMAXPROCS(0)), batches: numbers{16, 32, 64, 128}}
	f := flag.NewFlagSet("sweep", flag.ContinueOnError)
	f.SetOutput(io.Discard) // Parse also returns the error
	f.StringVar(&o.dir, "dir", "", "`folder` of photos with a folder per class; made-up photos by default")
	f.BoolVar(&o.train, "train", false, "load with the training preset, in random order; the evaluation preset by default")
	f.IntVar(&o.size, "size", 224, "width and height of the transformed images, in `pixels`")
	f.Float64Var(&o.consumer, "consumer", 0, "samples per second that the loop takes, a `rate`, as a simulated device; 0 is no limit")
	f.Var(&o.workers, "workers", "`numbers` of workers to compare; with 0 the loop does the work")
	f.Var(&o.batches, "batches", "batch `sizes` to compare")
	f.IntVar(&o.samples, "samples", 1024, "`samples` that a setting loads in a round")
	f.IntVar(&o.turns, "rounds", 5, "`rounds` in which the settings take turns")
	if err := f.Parse(args); errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(errs, "Sweep finds the number of workers and the batch size that load a folder of photos fastest on this machine.")
		f.SetOutput(errs)
		f.PrintDefaults()
		return o, err
	} else if err != nil {
		return o, fmt.Errorf("%w; -h lists the flags", err)
	}
	var wrong []error
	want := func(ok bool, format string, v ...any) {
		if !ok {
			wrong = append(wrong, fmt.Errorf(format, v...))
		}
	}
	want(f.NArg() == 0, "%q: want flags alone", f.Args())
	want(o.size >= 1 && o.size <= 4096, "-size %d: want 1 to 4096", o.size)
	want(o.consumer >= 0, "-consumer %v: want 0 or more", o.consumer)
	want(slices.Min(o.batches) >= 1, "-batches %v: want 1 or more", o.batches)
	want(o.samples >= slices.Max(o.batches), "-samples %d: want at least the largest batch, %d", o.samples, slices.Max(o.batches))
	want(o.turns >= 1, "-rounds %d: want 1 or more", o.turns)
	return o, errors.Join(wrong...)
}

// usualWorkers returns the powers of two up to twice the number of processors, and the number of
// processors itself.
func usualWorkers(processors int) numbers {
	list := numbers{processors}
	for w := 1; w <= 2*processors; w *= 2 {
		list = append(list, w)
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// numbers is a flag with a list of numbers, such as 1,2,4.
type numbers []int

func (n *numbers) String() string {
	return strings.Trim(strings.ReplaceAll(fmt.Sprint([]int(*n)), " ", ","), "[]")
}

// Set reads the list, in any order.
func (n *numbers) Set(text string) error {
	var list numbers
	for part := range strings.SplitSeq(text, ",") {
		v, err := strconv.Atoi(strings.TrimSpace(part))
		if err != nil || v < 0 || v > 1<<16 {
			return fmt.Errorf("%q: want a number from 0 to %d", part, 1<<16)
		}
		list = append(list, v)
	}
	slices.Sort(list)
	*n = slices.Compact(list)
	return nil
}
