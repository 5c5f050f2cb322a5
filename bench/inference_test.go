package bench_test

import (
	"context"
	"math/rand/v2"
	"runtime"
	"testing"
	"time"

	"github.com/penstock-go/penstock/bench/model"
	"github.com/penstock-go/penstock/bench/result"
)

const modelSize = 64 // of pictures, in pixels on each side

// nets are built when they are first needed: one for each kind and batch size,
// with the one VM that its graph has.
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

// of is a net that has run once, so that its VM has its memory. In the whole
// grids only the last one is kept: they would not fit into memory together.
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

// BenchmarkInference is the fifth study: a net's time per picture by batch size,
// without loading, so without waits, on gorgonia's VM for the processor.
func BenchmarkInference(b *testing.B) {
	all := newNets(b)
	var cells []cell
	for _, k := range model.Kinds() {
		for _, batch := range sized([]int{2}, []int{1, 4, 16, 64}, []int{32, 128, 256, 512, 1024}) {
			config := result.Config{Batch: batch, Data: "random", Model: k.Name, Device: "cpu"}
			cells = append(cells, cell{name: named(config), config: config,
				run: func(context.Context) (result.Measured, error) {
					net, err := all.of(k, batch)
					if err != nil {
						return result.Measured{}, err
					}
					return inferred(net, batch, sized(1, 64, 1))
				},
				report: func(b *testing.B, rounds []result.Measured) {
					var each, allocated []float64
					for _, m := range rounds {
						each = append(each, 1000*m.PerItem)
						allocated = append(allocated, float64(m.Allocations)*float64(batch)/float64(m.Samples))
					}
					b.ReportMetric(median(each), "ms/item")
					b.ReportMetric(median(allocated), "allocs/batch")
				}})
		}
	}
	measure(b, result.Inference, cells)
}

// inferred runs batches of at least so many pictures altogether, and one before
// that does not count.
func inferred(net *model.Net, batch, pictures int) (m result.Measured, err error) {
	r := rand.New(rand.NewPCG(uint64(batch), 5))
	x := make([]float32, batch*3*modelSize*modelSize)
	for i := range x {
		x[i] = float32(r.NormFloat64())
	}
	if err := net.Infer(x); err != nil {
		return m, err
	}
	err = allocating(&m, func() error {
		begun := time.Now()
		for m.Samples < int64(pictures) {
			if err := net.Infer(x); err != nil {
				return err
			}
			m.Samples += int64(batch)
		}
		m.Seconds = time.Since(begun).Seconds()
		return nil
	})
	m.PerItem = m.Seconds / float64(m.Samples)
	return m, err
}
