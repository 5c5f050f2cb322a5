// Gpu measures how much page-locked memory and a Stage gain on a machine with a CUDA device. It
// is one binary, which needs only the driver. With the tag cuda it also needs cuBLAS and cuDNN.
//
//	go build -o gpubench ./bench/gpu              # without gorgonia's VM, and without cgo
//	gpubench [-results FILE.jsonl] [-rounds 3] [-parts copy,loop,vm,item] …
//
// It has four parts. The last two need the tag cuda (see gpu/README.md) and the folder of
// -kernels:
//
//	copy  GB/s to the device from page-locked and from Go's memory, by size
//	loop  images/s, the device's idle share and the hidden share of the copies, by batch
//	      size and number of workers: with copies in the loop body from Go's and from
//	      page-locked memory, and with a Stage; computing is a kernel of a known time
//	vm    the same with a perceptron in gorgonia's VM: with inputs bound from Go's and from
//	      page-locked memory, and with the Stage's memory as input; gorgonia's own copies
//	      within a run count as computing
//	item  seconds per item of that perceptron, by batch size
//
// Images are made up and copied from memory, so that no disk is measured. A loop begins cold:
// its time includes the allocation of the loader's memory and of the Stage's device memory. A
// row is the median over rounds. With -results every round is kept.
package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"log"
	"os"
	"os/signal"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/penstock-go/penstock/bench/result"
	"github.com/penstock-go/penstock/gpu"
	"github.com/penstock-go/penstock/gpu/cuda"
)

// options are the values of the flags.
type options struct {
	library string
	kernels string
	results string
	parts   []string
	rounds  int
	copies  int // per size and round
	batches int // per loop
	sizes   []int
	batch   []int
	workers []int
	side    int           // of an image, in pixels
	compute time.Duration // per image
	hidden  int           // units of the perceptron
}

func main() {
	log.SetFlags(0)
	var o options
	var parts, sizes, batch, workers string
	flag.StringVar(&o.library, "library", "", "file of the driver, in place of the system's libcuda.so.1")
	flag.StringVar(&o.kernels, "kernels", "kernels", "folder of gorgonia's kernels, for the tag cuda")
	flag.StringVar(&o.results, "results", "", "file to append records to, one JSON object per line")
	flag.StringVar(&parts, "parts", "copy,loop,vm,item", "what to measure")
	flag.IntVar(&o.rounds, "rounds", 3, "number of rounds; everything is measured once per round")
	flag.IntVar(&o.copies, "copies", 20, "copies per size and round")
	flag.IntVar(&o.batches, "batches", 40, "batches per loop")
	flag.StringVar(&sizes, "sizes", "4096,65536,1048576,8388608,76800000,268435456", "bytes per copy")
	flag.StringVar(&batch, "batch", "32,128,512", "images per batch")
	flag.StringVar(&workers, "workers", "1,4,8", "goroutines that assemble batches")
	flag.IntVar(&o.side, "side", 224, "side of an image of 3 channels of float32, in pixels")
	flag.DurationVar(&o.compute, "compute", 100*time.Microsecond, "time of the kernel per image")
	flag.IntVar(&o.hidden, "hidden", 16, "hidden units of the perceptron")
	flag.Parse()
	o.parts = strings.Split(parts, ",")
	var err error
	for _, list := range []struct {
		to   *[]int
		text string
		flag string
	}{{&o.sizes, sizes, "sizes"}, {&o.batch, batch, "batch"}, {&o.workers, workers, "workers"}} {
		var wrong error
		*list.to, wrong = numbers(list.flag, list.text)
		err = errors.Join(err, wrong)
	}
	if err = errors.Join(err, o.validate()); err != nil {
		log.Fatal(err)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, o); err != nil {
		log.Fatal(err)
	}
}

// numbers reads a list of positive numbers.
func numbers(name, text string) (all []int, err error) {
	for _, s := range strings.Split(text, ",") {
		n, err := strconv.Atoi(s)
		if err != nil || n < 1 {
			return nil, fmt.Errorf("-%s %s: want numbers above 0", name, text)
		}
		all = append(all, n)
	}
	return all, nil
}

// opening returns the options of gpu.Open that the flags set.
func (o options) opening() []gpu.Option {
	if o.library == "" {
		return nil
	}
	return []gpu.Option{gpu.Library(o.library)}
}

func (o options) validate() error {
	var errs []error
	for _, p := range o.parts {
		if !slices.Contains([]string{"copy", "loop", "vm", "item"}, p) {
			errs = append(errs, fmt.Errorf("-parts: %q: want copy, loop, vm or item", p))
		}
	}
	if min(o.rounds, o.copies, o.batches, o.side, o.hidden) < 1 || o.compute < 0 {
		errs = append(errs, errors.New("-rounds, -copies, -batches, -side and -hidden: want 1 or more; -compute: 0 or more"))
	}
	return errors.Join(errs...)
}

// run measures the parts.
func run(ctx context.Context, o options) error {
	b, err := newBench(ctx, o)
	if err != nil {
		return err
	}
	err = b.measure(ctx)
	return errors.Join(err, b.close())
}

func (b *benchmark) measure(ctx context.Context) error {
	fmt.Println(b.machine)
	for _, part := range b.chosen() {
		if err := part(ctx); err != nil {
			return err
		}
	}
	return nil
}

// chosen returns the parts to measure. Without a VM it leaves out the VM's parts, and prints a
// line with the reason.
func (b *benchmark) chosen() (parts []func(context.Context) error) {
	for _, name := range b.options.parts {
		switch name {
		case "copy":
			parts = append(parts, b.copyPart)
		case "loop":
			parts = append(parts, b.loopPart)
		default:
			if err := cuda.Available(); err != nil {
				fmt.Printf("\n%s: left out: %v\n", name, err)
				continue
			}
			if name == "vm" {
				parts = append(parts, b.vmPart)
			} else {
				parts = append(parts, b.itemPart)
			}
		}
	}
	return parts
}

// A benchmark holds what all parts use.
type benchmark struct {
	options
	driver   *driver
	device   *gpu.Device
	pinned   *gpu.Pinned
	machine  result.Machine
	versions map[string]string
	added    bool // gorgonia has the kernels
}

func newBench(ctx context.Context, o options) (b *benchmark, err error) {
	b = &benchmark{options: o, versions: result.Versions(ctx)}
	defer func() {
		if err != nil {
			err = errors.Join(err, b.close())
		}
	}()
	if b.device, err = gpu.Open(o.opening()...); err != nil {
		return b, err
	}
	if b.pinned, err = b.device.Pinned(); err != nil {
		return b, err
	}
	if b.driver, err = openDriver(cmp.Or(o.library, "libcuda.so.1")); err != nil {
		return b, err
	}
	if b.machine, err = result.ThisMachine(ctx); err != nil {
		log.Print(err) // the record has what could be found
	}
	b.machine.GPU = cmp.Or(b.machine.GPU, b.device.String())
	return b, nil
}

// close frees everything, in reverse order.
func (b *benchmark) close() error {
	var errs []error
	if b.driver != nil {
		errs = append(errs, b.driver.close())
	}
	if b.pinned != nil {
		errs = append(errs, b.pinned.Close())
	}
	if b.device != nil {
		errs = append(errs, b.device.Close())
	}
	return errors.Join(errs...)
}

// keep appends a record to the file of -results, if there is one.
func (b *benchmark) keep(r result.Record) error {
	r.Date, r.Machine, r.Versions = time.Now().UTC(), b.machine, b.versions
	if b.results == "" {
		return r.Check()
	}
	return result.AppendFile(b.results, r)
}

// median returns the median of values, and the lower one if there are two.
func median(values []float64) float64 {
	sorted := slices.Sorted(slices.Values(values))
	return sorted[(len(sorted)-1)/2]
}
