package bench_test

import (
	"errors"
	"flag"
	"fmt"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"testing"

	"github.com/penstock-go/penstock/bench"
	"github.com/penstock-go/penstock/bench/analysis"
	"github.com/penstock-go/penstock/bench/data"
	"github.com/penstock-go/penstock/bench/result"
	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/gpu"
	"github.com/penstock-go/penstock/loader"
)

var (
	full      = flag.Bool("full", false, "the whole grids, which take hours: give -timeout too")
	photosDir = flag.String("photos", "", "folder of photos, with a folder per class, relative to the folder bench; made-up ones by default")
	dataDir   = flag.String("data", "", "folder for made-up data, which stays; penstock-bench in the user's cache folder by default")
)

// The five studies. An iteration is an epoch of a new loader.
func BenchmarkLoading(b *testing.B)   { study(b, "1") }
func BenchmarkEndToEnd(b *testing.B)  { study(b, "2") }
func BenchmarkProfile(b *testing.B)   { study(b, "3") }
func BenchmarkVolumes(b *testing.B)   { study(b, "4") }
func BenchmarkInference(b *testing.B) { study(b, "5") }
func BenchmarkDecoding(b *testing.B)  { study(b, "decoding") }
func BenchmarkTokens(b *testing.B)    { study(b, "tokens") }
func BenchmarkClips(b *testing.B)     { study(b, "clips") }

// study measures the corners of a grid, or with -full all of it, for the sides that are this library's.
func study(b *testing.B, grid string) {
	for _, c := range bench.Grids[grid]() {
		for _, side := range c.Sides {
			help := map[string]string{bench.Penstock: result.HelpOn, bench.WithoutHelp: result.HelpOff, bench.Gorgonia: "-"}[side]
			if help == "" || c.Cold || !c.Short && !*full {
				continue
			}
			if grid == "clips" && !*full { // every clip is a process, and videos take longest to be made
				if c.Config.Workers < 2 {
					continue
				}
				c.Samples = 16
			}
			name := c.String()
			if c.Config.Workers > 1 && slices.Contains(c.Sides, bench.WithoutHelp) {
				name += "/help=" + help
			}
			b.Run(name, func(b *testing.B) {
				if side == bench.Gorgonia {
					infer(b, c)
					return
				}
				c.Config.Help = help
				epochs(b, c)
			})
		}
	}
}

// folder gives the cell its data.
func folder(b *testing.B, c bench.Cell) bench.Cell {
	b.Helper()
	root, err := *dataDir, error(nil)
	if root == "" {
		if root, err = data.Root(); err != nil {
			b.Fatal(err)
		}
	}
	if c.Folder = *photosDir; c.Folder == "" || !slices.Contains([]string{"bytes", "slow", "eval", "decode"}, c.Work) {
		if c.Folder, err = c.Data(b.Context(), root); errors.Is(err, errors.ErrUnsupported) {
			b.Skip(err)
		} else if err != nil {
			b.Fatal(err)
		}
	}
	return c
}

func open(b *testing.B, c bench.Cell) dataset.Dataset {
	b.Helper()
	ds, err := c.Open(b.Context())
	if err != nil {
		b.Fatal(err)
	}
	return ds
}

// epochs measures first epochs of new loaders. Volumes are opened anew, so that each epoch decodes them, in page-locked
// memory if there is a device.
func epochs(b *testing.B, c bench.Cell) {
	r := bench.Run{Cell: folder(b, c)}
	r.Dataset = open(b, r.Cell)
	if c.Study == result.Volumes {
		memory, free, err := gpu.Auto()
		if err != nil {
			b.Fatal(err)
		}
		defer free()
		r.Options = []loader.Option{loader.Memory(memory)}
	}
	if c.Study == result.EndToEnd && c.Speed == 0 {
		r.Net = newNet(b, c)
	}
	var all []result.Measured
	for b.Loop() {
		if c.Study == result.Volumes {
			r.Dataset = open(b, r.Cell)
			debug.FreeOSMemory() // so that memory of the epoch before does not count in this one
		}
		runtime.GC()
		m, err := r.Once(b.Context())
		if err != nil {
			b.Fatal(err)
		}
		all = append(all, m)
	}
	report(b, all)
	bytes, ragged := 0, false
	for _, f := range r.Dataset.Spec() {
		bytes, ragged = bytes+f.Bytes(), ragged || f.Ragged
	}
	if !ragged {
		b.ReportMetric(rate(all)*float64(bytes)/1e6, "MB/s")
	}
	show(b, all, "ms-to-first-batch", func(m result.Measured) float64 { return 1000 * m.FirstBatch })
	rhythm := func(m result.Measured) analysis.Rhythm { return analysis.NewRhythm(m.Waits, 1) }
	switch c.Study {
	case result.Loading:
		show(b, all, "median-wait-ms", func(m result.Measured) float64 { return 1000 * rhythm(m).Median })
		show(b, all, "longest-wait-ms", func(m result.Measured) float64 { return 1000 * rhythm(m).Longest })
	case result.EndToEnd:
		show(b, all, "waiting-ms", func(m result.Measured) float64 { return 1000 * m.Waiting })
		show(b, all, "transfer-ms", func(m result.Measured) float64 { return 1000 * m.Transfer })
		show(b, all, "compute-ms", func(m result.Measured) float64 { return 1000 * m.Compute })
	case result.Profile:
		if testing.Verbose() {
			b.Log("\n" + analysis.StageSheet(all[len(all)-1]).Markdown())
		}
	case result.Volumes:
		show(b, all, "CPU-%", func(m result.Measured) float64 { return 100 * m.CPU / m.Seconds })
		show(b, all, "most-memory-MB", func(m result.Measured) float64 { return float64(m.MostMemory()) / 1e6 })
	}
}

func infer(b *testing.B, c bench.Cell) {
	net := newNet(b, c)
	images := make([]float32, c.Config.Batch*3*c.Size*c.Size)
	var all []result.Measured
	for b.Loop() {
		m, err := bench.Inferred(b.Context(), c.Config.Batch, c.Samples, func() error { return net.Infer(images) })
		if err != nil {
			b.Fatal(err)
		}
		all = append(all, m)
	}
	report(b, all)
	show(b, all, "ms/item", func(m result.Measured) float64 { return 1000 * m.PerItem })
}

func rate(all []result.Measured) float64 {
	samples, seconds := 0.0, 0.0
	for _, m := range all {
		samples += float64(m.Samples)
		seconds += m.Seconds
	}
	return samples / seconds
}

func report(b *testing.B, all []result.Measured) {
	b.ReportMetric(0, "ns/op") // removes it from the output
	b.ReportMetric(rate(all), "samples/s")
}

// show reports the median of a quantity.
func show(b *testing.B, all []result.Measured, unit string, of func(result.Measured) float64) {
	var values []float64
	for _, m := range all {
		values = append(values, of(m))
	}
	b.ReportMetric(analysis.NewFigure(values...).Median, unit)
}

func TestEveryCellCanBeMeasured(t *testing.T) {
	for number, grid := range bench.Grids {
		seen, short := map[string]bool{}, 0
		for _, c := range grid() {
			name := fmt.Sprint(c.Config)
			if seen[name] {
				t.Errorf("%s: %v is there twice", number, c)
			}
			seen[name] = true
			if c.Short {
				short++
			}
			if c.Config.Batch < 1 || c.Samples < c.Config.Batch || len(c.Sides) == 0 || strings.Contains(c.Config.Data, "=") {
				t.Errorf("%s: %+v", number, c)
			}
			k := c.Config
			if peaks := number == "1" && k.Batch <= 128 && k.Workers > 1 && k.ConsumerSeconds == 0 && k.Data != "preprocessed 224"; peaks && c.Samples/k.Batch <= 3*k.Workers {
				t.Errorf("%v has %d batches, too few to see peaks", c, c.Samples/k.Batch)
			}
			for _, side := range c.Sides {
				if s := c.Seconds(side); s <= 0 || s > 400 {
					t.Errorf("%s: %s takes %v s for %v", number, side, s, c)
				}
			}
		}
		if number != "photos" && short == 0 {
			t.Errorf("%s has no cell for go test -bench", number)
		}
	}
}

// TestTheStudiesFitIntoThreeHours of two processors, as the estimates have it.
func TestTheStudiesFitIntoThreeHours(t *testing.T) {
	hours := 0.0
	for _, grid := range bench.Grids {
		for _, c := range grid() {
			for _, side := range c.Sides {
				hours += c.Seconds(side) / 3600
			}
		}
	}
	if hours > 3 {
		t.Errorf("%.1f hours", hours)
	}
}
