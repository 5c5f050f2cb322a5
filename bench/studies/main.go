// Studies runs the five studies of PyTorch's DataLoader whole, for penstock, PyTorch and others in turns, and keeps a
// line of JSON for everything that it has measured, which bench/report draws.
//
//	go run ./bench/studies -plan                     # what it would run, and for how long
//	go run ./bench/studies -o results                # in three hours at most; once more continues where it has ended
//	go run ./bench/studies -studies photos -photos DIR
//	go run ./bench/studies -studies decoding,tokens,clips  # which are in none of the above
//	go run ./bench/report results/*.jsonl
//
// It runs from the project's root. The sides in Python need bench/peers/install, and ONNX Runtime
// examples/onnx/install; without them they are left out. The corners of all grids come first, then the rest, and then
// further rounds of the corners, so that an interrupted run is of use.
//
// On a machine with a CUDA device, a build with the tag cuda (see gpu/README.md) measures penstock with page-locked
// memory and the nets on the device:
//
//	go build -tags cuda -o studies ./bench/studies && ./studies -device cuda -kernels kernels -o cuda
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/penstock-go/penstock/bench"
	"github.com/penstock-go/penstock/bench/data"
	"github.com/penstock-go/penstock/bench/result"
)

// options are the flags.
type options struct {
	out, photos, peers, device, kernels string
	studies, sides                      []string
	hours                               float64
	limit                               time.Duration
	rounds                              int
	short, plan                         bool
}

func main() {
	var o options
	var studies, sides, cell, side, serve string
	flag.StringVar(&o.out, "o", "results", "`folder` for the records, a file for each study")
	flag.StringVar(&studies, "studies", "1,2,3,4,5,photos", "studies by number, and photos, decoding, tokens and clips for comparisons with other libraries")
	flag.StringVar(&sides, "sides", "", "only these sides, such as penstock,PyTorch; all by default")
	flag.StringVar(&o.photos, "photos", "", "`folder` of photos with a folder per class; made-up ones by default")
	flag.StringVar(&o.peers, "peers", "bench/peers", "`folder` of the programs in Python; $PEERS_VENV is their environment, .venv there by default")
	flag.StringVar(&o.device, "device", "cpu", "cpu, or cuda for page-locked memory and nets on a device")
	flag.StringVar(&o.kernels, "kernels", "kernels", "`folder` of gorgonia's kernels for -device cuda")
	flag.Float64Var(&o.hours, "hours", 3, "begin nothing that would end later")
	flag.DurationVar(&o.limit, "limit", 5*time.Minute, "stop a side that takes longer for one measurement")
	flag.IntVar(&o.rounds, "rounds", 6, "rounds of the corners of the grids, at most")
	flag.BoolVar(&o.short, "short", false, "only the corners of the grids")
	flag.BoolVar(&o.plan, "plan", false, "print what would be run, and end")
	flag.StringVar(&cell, "cell", "", "measure this cell, given as JSON, and print its epochs; the program starts itself so")
	flag.StringVar(&side, "side", bench.Penstock, "the side that measures -cell")
	flag.StringVar(&serve, "serve", "", "give the batches of this cell to the Python program that has started this one")
	flag.Usage = func() {
		fmt.Fprintln(flag.CommandLine.Output(), "Studies runs the five studies of PyTorch's DataLoader for penstock, PyTorch and others, and keeps what it has measured.")
		flag.PrintDefaults()
	}
	flag.Parse()
	o.studies = strings.Split(studies, ",")
	if sides != "" {
		o.sides = strings.Split(sides, ",")
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	var err error
	var c bench.Cell
	switch {
	case cell != "":
		if err = json.Unmarshal([]byte(cell), &c); err == nil {
			err = measure(ctx, c, side, o, os.Stdout)
		}
	case serve != "":
		if err = json.Unmarshal([]byte(serve), &c); err == nil {
			err = serveCell(ctx, c)
		}
	case flag.NArg() > 0:
		err = fmt.Errorf("%q is no flag: see -h", flag.Arg(0))
	default:
		err = run(ctx, o)
	}
	if err != nil && !errors.Is(err, context.Canceled) {
		fmt.Fprintln(os.Stderr, "studies:", err)
		os.Exit(1)
	}
}

// A job is one side of a cell in one round.
type job struct {
	bench.Cell
	side  string
	round int
}

// record is the job's record without what is measured.
func (j job) record() result.Record {
	r := result.Record{Study: j.Study, Side: j.side, Round: j.round, Config: j.Config}
	switch j.side {
	case bench.Penstock, bench.WithoutHelp:
		r.Side, r.Config.Help = bench.Penstock, result.HelpOn
		if j.side == bench.WithoutHelp {
			r.Config.Help = result.HelpOff
		}
	}
	return r
}

// A key tells which job a record is of.
type key struct {
	study  result.Study
	side   string
	round  int
	config result.Config
}

func keyOf(r result.Record) key {
	r.Config.InFlight, r.Config.Span = 0, ""
	return key{r.Study, r.Side, r.Round, r.Config}
}

// jobs returns what is to be run, in order, without the jobs of which there are records.
func (o options) jobs(done map[key]bool) (list []job, err error) {
	var cells []bench.Cell
	for _, name := range o.studies {
		grid := bench.Grids[name]
		if grid == nil {
			return nil, fmt.Errorf("-studies %s: want 1 to 5, photos, decoding, tokens or clips", name)
		}
		cells = append(cells, grid()...)
	}
	for _, side := range o.sides {
		if !slices.ContainsFunc(cells, func(c bench.Cell) bool { return slices.Contains(c.Sides, side) }) {
			return nil, fmt.Errorf("-sides %s: these studies have no such side", side)
		}
	}
	if o.device != "cpu" && o.device != "cuda" {
		return nil, fmt.Errorf("-device %s: want cpu or cuda", o.device)
	}
	rounds := o.rounds
	if rounds < 1 {
		return nil, fmt.Errorf("-rounds %d: want 1 or more", rounds)
	}
	add := func(round int, which func(bench.Cell) bool) {
		for _, c := range cells {
			if !which(c) {
				continue
			}
			for _, side := range c.Sides {
				j := job{c, side, round}
				if o.takesPart(&j) && !done[keyOf(j.record())] {
					list = append(list, j)
				}
			}
		}
	}
	corner := func(c bench.Cell) bool { return c.Short || c.Study == result.Throughput }
	add(0, corner)
	if !o.short {
		// The grids are gone through from coarse to fine: every seventh cell, and so on.
		for first := range 7 {
			n := -1
			add(0, func(c bench.Cell) bool {
				if corner(c) {
					return false
				}
				n++
				return n%7 == first
			})
		}
	}
	for round := 1; round < rounds; round++ {
		add(round, corner)
	}
	return list, nil
}

// takesPart reports whether a side is wanted and there, and gives a job its device.
func (o options) takesPart(j *job) bool {
	if len(o.sides) > 0 && !slices.Contains(o.sides, j.side) {
		return false
	}
	if o.device == "cpu" {
		return o.installed(j.side)
	}
	simulated := j.Speed > 0 || j.Config.ConsumerSeconds > 0
	j.Config.Device = o.device
	return !simulated && slices.Contains([]string{bench.Penstock, bench.WithoutHelp, bench.Gorgonia}, j.side)
}

func run(ctx context.Context, o options) error {
	done, err := o.done()
	if err != nil {
		return err
	}
	jobs, err := o.jobs(done)
	if err != nil {
		return err
	}
	o.print(jobs, len(done))
	if o.plan {
		return nil
	}
	root, err := data.Root()
	if err != nil {
		return err
	}
	if err := os.MkdirAll(o.out, 0o777); err != nil {
		return err
	}
	machine, err := result.ThisMachine(ctx)
	if err != nil {
		fmt.Fprintln(os.Stderr, err) // the records have what could be found
	}
	begun, work := time.Now(), newChecks()
	for n, j := range jobs {
		if took := time.Since(begun).Seconds(); took+j.Seconds(j.side) > 3600*o.hours {
			fmt.Printf("%d of %d are left: the same command continues\n", len(jobs)-n, len(jobs))
			break
		}
		if j.Folder = o.photos; j.Work != "" && (j.Folder == "" || !slices.Contains([]string{"bytes", "slow", "eval", "train", "decode"}, j.Work)) {
			if j.Folder, err = j.Data(ctx, root); err != nil {
				return err
			}
		}
		fmt.Printf("%5.0f s  %d of %d: study %s, %s, %v\n", time.Since(begun).Seconds(), n+1, len(jobs), j.Study, j.side, j.Cell)
		if j.Cold {
			if err := evict(ctx, j.Folder); err != nil {
				return err
			}
		}
		lines, err := o.start(ctx, j)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			work.doubt("%s failed in %v: %v", j.side, j.Cell, err)
			continue
		}
		work.compare(j, lines)
		for _, l := range lines {
			r := j.record()
			r.Date, r.Machine, r.Versions, r.Epoch, r.Measured = time.Now().UTC().Truncate(time.Second), machine, l.Versions, l.Epoch, l.Measured
			r.Config.InFlight, r.Config.Span = l.InFlight, l.Span
			r.Measured.Usage = thinned(r.Measured.Usage)
			if err := result.AppendFile(o.file(j.Study), r); err != nil {
				work.doubt("%s, %v: %v", j.side, j.Cell, err)
			}
		}
	}
	for _, text := range work.doubts {
		fmt.Println(text)
	}
	return nil
}

// evict removes the files of a folder from the page cache, by GNU's dd.
func evict(ctx context.Context, folder string) error {
	return filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		if said, err := exec.CommandContext(ctx, "dd", "if="+path, "iflag=nocache", "count=0").CombinedOutput(); err != nil {
			return fmt.Errorf("dd: %w: %s", err, said)
		}
		return nil
	})
}

// thinned is forty of the samples at most, so that files stay small.
func thinned(all []result.Usage) (some []result.Usage) {
	for i := 0; i < len(all); i += (len(all) + 39) / 40 {
		some = append(some, all[i])
	}
	return some
}

func (o options) file(s result.Study) string { return filepath.Join(o.out, string(s)+".jsonl") }

// done returns the jobs of which there are records.
func (o options) done() (map[key]bool, error) {
	done := map[key]bool{}
	for _, s := range result.Studies() {
		records, err := result.ReadFile(o.file(s))
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			return nil, err
		}
		for _, r := range records {
			done[keyOf(r)] = true
		}
	}
	return done, nil
}

// print prints the plan: for every study how much there is, and for how long.
func (o options) print(jobs []job, done int) {
	counts, times := map[result.Study]int{}, map[result.Study]float64{}
	first, all, missing := 0.0, 0.0, map[string]bool{}
	for _, j := range jobs {
		s := j.Seconds(j.side)
		counts[j.Study]++
		times[j.Study] += s
		all += s
		if j.round == 0 {
			first += s
		}
	}
	for _, name := range o.studies {
		for _, c := range bench.Grids[name]() {
			for _, side := range c.Sides {
				missing[side] = missing[side] || !o.installed(side)
			}
		}
	}
	for _, s := range result.Studies() {
		if counts[s] > 0 {
			fmt.Printf("%-10s  %4d measurements, about %3.0f minutes\n", s, counts[s], times[s]/60)
		}
	}
	for _, side := range slices.Sorted(maps.Keys(missing)) {
		if missing[side] && o.device == "cpu" {
			fmt.Printf("%s is left out: it is not installed\n", side)
		}
	}
	fmt.Printf("%d are done. The whole grids take about %.0f minutes, with further rounds of the corners %.0f; it ends after %g hours.\n", done, first/60, all/60, o.hours)
}
