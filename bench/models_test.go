package bench_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"runtime"
	"testing"

	"github.com/penstock-go/penstock/bench"
	"github.com/penstock-go/penstock/bench/model"
	"github.com/penstock-go/penstock/bench/result"
	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/transform"
)

const modelSize = 64 // width and height of images, in pixels

// nets are built when they are first needed: one for each kind and batch size, with one VM
// each.
type nets map[netKey]*model.Net

type netKey struct {
	kind string
	rows int
}

func newNets(b *testing.B) nets {
	all := nets{}
	b.Cleanup(func() {
		for _, n := range all {
			n.Close()
		}
	})
	return all
}

// of returns a net that has run once, so that its VM has allocated its memory. In the full
// grids only the last net is kept, because not all of them fit into memory together.
func (all nets) of(k model.Kind, rows int) (*model.Net, error) {
	key := netKey{k.Name, rows}
	if n := all[key]; n != nil {
		return n, nil
	}
	if *full {
		for other, n := range all {
			n.Close()
			delete(all, other)
		}
		runtime.GC()
	}
	n, err := k.New(rows, modelSize)
	if err != nil {
		return nil, err
	}
	all[key] = n
	return n, n.Infer(make([]float32, rows*3*modelSize*modelSize))
}

// BenchmarkEndToEnd is the second study: loading and inference together, by batch size,
// number of workers, model and data. gorgonia's CPU VM runs on the same processors as the
// workers. There is no transfer, because the VM reads the loader's memory.
func BenchmarkEndToEnd(b *testing.B) {
	of := map[string]dataset.Dataset{"photos": photos(b, transform.Eval(modelSize)), "preprocessed": preprocessed(b, modelSize)}
	all := newNets(b)
	var cells []cell
	for _, data := range []string{"photos", "preprocessed"} {
		for _, k := range model.Kinds() {
			for _, batch := range sized([]int{4}, []int{8, 32}, []int{32, 128, 256, 512, 1024}) {
				for _, workers := range sized([]int{2}, []int{1, 2, 4}, []int{1, 2, 4, 8, 12, 16, 32, 48, 64}) {
					run := bench.Run{Study: result.EndToEnd, Dataset: repeated(b, of[data], sized(8, 64, 4096)),
						Config: result.Config{Batch: batch, Workers: workers, Data: data, Model: k.Name, Device: "cpu", Help: result.HelpOn}}
					cells = append(cells, cell{Run: run, report: reportParts, run: func(ctx context.Context) (result.Measured, error) {
						net, err := all.of(k, batch)
						if err != nil {
							return result.Measured{}, err
						}
						run.Feed = net.Feed.Run
						return run.Once(ctx)
					}})
				}
			}
		}
	}
	measure(b, cells)
}

// BenchmarkSimulated is the second study with simulated devices of given speeds, which use
// no processor time; see [bench.SimulatedDevice]. Loading is real.
func BenchmarkSimulated(b *testing.B) {
	of := map[string]dataset.Dataset{"photos": photos(b, transform.Eval(224)), "preprocessed": preprocessed(b, 224)}
	var cells []cell
	for _, data := range []string{"photos", "preprocessed"} {
		for _, speed := range sized([]float64{2000}, []float64{500, 1500, 6000}, []float64{250, 500, 1000, 2000, 4000, 8000, 16000}) {
			for _, batch := range sized([]int{8}, []int{32, 128}, []int{32, 128, 256, 512, 1024}) {
				for _, workers := range sized([]int{2}, []int{1, 2, 4}, []int{1, 2, 4, 8, 12, 16, 32, 48, 64}) {
					config := result.Config{Batch: batch, Workers: workers, Data: data, Model: fmt.Sprintf("%.0f samples per s", speed),
						Help: result.HelpOn, Simulated: "devices, each of its model's speed"}
					cells = append(cells, cell{report: reportParts, Run: bench.Run{Study: result.EndToEnd, Config: config, Dataset: repeated(b, of[data], sized(16, 512, 16384)),
						Device: bench.SimulatedDevice(speed)}})
				}
			}
		}
	}
	measure(b, cells)
}

func reportParts(b *testing.B, rounds []result.Measured) {
	show(b, rounds, "waiting-ms", func(m result.Measured) float64 { return 1000 * m.Waiting })
	show(b, rounds, "transfer-ms", func(m result.Measured) float64 { return 1000 * m.Transfer })
	show(b, rounds, "compute-ms", func(m result.Measured) float64 { return 1000 * m.Compute })
	show(b, rounds, "loading-end-ms", func(m result.Measured) float64 { return 1000 * m.LoadingEnd })
	show(b, rounds, "end-to-end-ms", func(m result.Measured) float64 { return 1000 * m.EndToEnd })
}

// BenchmarkInference is the fifth study: a net's time per image by batch size, on gorgonia's
// CPU VM, without loading and so without waits.
func BenchmarkInference(b *testing.B) {
	all := newNets(b)
	var cells []cell
	for _, k := range model.Kinds() {
		for _, batch := range sized([]int{2}, []int{1, 4, 16, 64}, []int{32, 128, 256, 512, 1024}) {
			config := result.Config{Batch: batch, Data: "random", Model: k.Name, Device: "cpu"}
			cells = append(cells, cell{Run: bench.Run{Study: result.Inference, Config: config},
				run: func(ctx context.Context) (result.Measured, error) {
					net, err := all.of(k, batch)
					if err != nil {
						return result.Measured{}, err
					}
					r := rand.New(rand.NewPCG(uint64(batch), 5))
					x := make([]float32, batch*3*modelSize*modelSize)
					for i := range x {
						x[i] = float32(r.NormFloat64())
					}
					return bench.Inferred(ctx, batch, sized(1, 64, 1), func() error { return net.Infer(x) })
				},
				report: func(b *testing.B, rounds []result.Measured) {
					show(b, rounds, "ms/item", func(m result.Measured) float64 { return 1000 * m.PerItem })
					show(b, rounds, "allocs/batch", func(m result.Measured) float64 { return float64(m.Allocations) * float64(batch) / float64(m.Samples) })
				}})
		}
	}
	measure(b, cells)
}
