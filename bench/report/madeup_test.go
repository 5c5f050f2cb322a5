package main

import (
	"math"
	"math/rand/v2"
	"path/filepath"
	"testing"
	"time"

	"github.com/penstock-go/penstock/bench/result"
)

// madeUp is a file of invented results. No figure in them was measured.
func madeUp(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "made-up.jsonl")
	if err := result.AppendFile(path, invent()...); err != nil {
		t.Fatal(err)
	}
	return path
}

// An inventor makes results up, of all studies and the same ones every time.
type inventor struct {
	*rand.Rand
	records []result.Record
}

func invent() []result.Record {
	in := &inventor{Rand: rand.New(rand.NewPCG(2026, 11))}
	in.throughput()
	in.loading()
	in.endToEnd()
	in.profile()
	in.volumes()
	in.inference()
	return in.records
}

// round4 rounds to four significant digits.
func round4(v float64) float64 {
	if v == 0 {
		return 0
	}
	scale := math.Pow(10, 3-math.Floor(math.Log10(math.Abs(v))))
	return math.Round(v*scale) / scale
}

// noisy is v within 3 %, of four digits.
func (in *inventor) noisy(v float64) float64 { return round4(v * (0.97 + 0.06*in.Float64())) }

func (in *inventor) record(study result.Study, side string, round int, c result.Config, m result.Measured) {
	versions := map[string]string{"go": "1.26.8", "penstock": "made-up"}
	if side != base {
		versions = map[string]string{"python": "3.11.7", "torch": "2.15.0"}
	} else if c.Help == "" {
		c.Help = result.HelpOn
	}
	c.Simulated = "all figures are made up"
	in.records = append(in.records, result.Record{
		Study: study, Side: side, Round: round, Epoch: 1, Config: c, Measured: m, Versions: versions,
		Date:    time.Date(2026, 11, 21, 9, 30, 0, 0, time.UTC),
		Machine: result.Machine{CPU: "Made-up processor", Processors: 8, MemoryBytes: 32 << 30, OS: "linux", Kernel: "6.18", Arch: "amd64"},
	})
}

func (in *inventor) throughput() {
	for round := range 6 {
		for i, side := range []string{base, "PyTorch with PIL", "PyTorch with tensors", "DALI", "NumPy loop"} {
			for _, workers := range []int{1, 2, 8} {
				took := in.noisy(float64(1+2*i) / float64(workers))
				in.record(result.Throughput, side, round, result.Config{Batch: 128, Workers: workers, Data: "photos"},
					result.Measured{Samples: 1000, Seconds: took, FirstBatch: took / 8, CPU: took, Usage: []result.Usage{{RSS: int64(1+i) * 1e8}}})
			}
		}
	}
}

func (in *inventor) loading() {
	const batches = 40
	for round := range 2 {
		for _, side := range []struct {
			name, help string
			perItem    float64
		}{{base, result.HelpOn, 0.001}, {base, result.HelpOff, 0.001}, {"PyTorch with PIL", "", 0.004}} {
			for _, batch := range []int{32, 128, 512} {
				for _, workers := range []int{1, 2, 4, 8} {
					m := result.Measured{Samples: int64(batch * batches)}
					one := float64(batch) * side.perItem
					for k := range batches {
						w := 0.0005
						switch {
						case side.help == result.HelpOn:
							w = one / float64(workers)
						case k%workers == 0:
							w = one
						}
						m.Waits = append(m.Waits, in.noisy(w))
						m.Seconds += m.Waits[k]
					}
					m.FirstBatch, m.Waiting, m.Seconds = m.Waits[0], round4(m.Seconds), round4(m.Seconds)
					in.record(result.Loading, side.name, round, result.Config{Batch: batch, Workers: workers, Data: "photos", Help: side.help}, m)
				}
			}
		}
	}
}

func (in *inventor) endToEnd() {
	for round := range 3 {
		for i, model := range []string{"small cnn", "mixer", "vit"} {
			for _, side := range []struct {
				name    string
				perItem float64
			}{{base, 0.001}, {"PyTorch with PIL", 0.004}} {
				for _, batch := range []int{32, 128, 256} {
					for _, workers := range []int{1, 2, 4, 8, 12} {
						if side.name != base && batch == 256 && workers == 12 {
							continue // a cell is missing
						}
						const n = 2560
						compute := n * (0.0004 + 0.0002*float64(i) + 0.003/float64(batch))
						load := n * side.perItem / float64(min(workers, 8)) * (1 + 0.01*float64(workers))
						wait := max(0, load-compute) + side.perItem*float64(batch)
						end := in.noisy(compute + wait)
						in.record(result.EndToEnd, side.name, round, result.Config{Batch: batch, Workers: workers, Data: "photos", Model: model, Device: "cpu"},
							result.Measured{Samples: n, Seconds: end, EndToEnd: end, Waiting: round4(wait), Transfer: 0.01, Compute: round4(compute), LoadingEnd: round4(end * 0.97)})
					}
				}
			}
		}
	}
}

func (in *inventor) profile() {
	for round := range 2 {
		for _, side := range []string{base, "PyTorch with PIL"} {
			for _, workers := range []int{1, 2, 4, 8, 16} {
				names := []string{"read", "decode", "store", "wait", "copy"}
				if side != base {
					names = []string{"enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__", "aten::to", "aten::_to_copy", "aten::copy_", "aten::div", "aten::sub_", "aten::empty"}
				}
				m := result.Measured{Samples: 64, FirstBatch: in.noisy(0.01)}
				for k, name := range names {
					self := in.noisy(0.02 / float64(k+1) / math.Sqrt(float64(min(workers, 8))))
					m.Stages = append(m.Stages, result.Stage{Name: name, Self: self, Total: round4(self * 1.2), Calls: 64})
					m.Seconds += self
				}
				m.Seconds = round4(m.Seconds)
				in.record(result.Profile, side, round, result.Config{Batch: 64, Workers: workers, Data: "cifar", Device: "cpu", Span: result.FirstBatch}, m)
			}
		}
	}
}

func (in *inventor) volumes() {
	for round := range 2 {
		for _, side := range []struct {
			name string
			rss  int64
			rate float64
		}{{base, 400e6, 90}, {"PyTorch with PIL", 900e6, 30}} {
			for _, batch := range []int{1, 2, 4, 8} {
				for _, workers := range []int{1, 2, 4, 8} {
					rate := side.rate * math.Pow(float64(workers), 0.8-0.1*float64(batch)/2)
					m := result.Measured{Samples: 400, Seconds: in.noisy(400 / rate)}
					for k := range 13 {
						t := m.Seconds * float64(k) / 12
						grown := 1 - math.Exp(-float64(k)/2)
						m.Usage = append(m.Usage, result.Usage{Seconds: round4(t), CPUPercent: in.noisy(100 * float64(workers) * grown),
							RSS: int64(in.noisy(float64(side.rss) * (0.3 + grown*(1+0.2*float64(workers)))))})
					}
					in.record(result.Volumes, side.name, round, result.Config{Batch: batch, Workers: workers, Data: "volumes"}, m)
				}
			}
		}
	}
}

func (in *inventor) inference() {
	for round := range 3 {
		for i, model := range []string{"small cnn", "large cnn", "mixer", "vit"} {
			for _, batch := range []int{32, 128, 256, 512, 1024} {
				each := in.noisy(0.0004*float64(i+1) + 0.02/float64(batch) + 1e-7*float64(i)*float64(batch))
				in.record(result.Inference, base, round, result.Config{Batch: batch, Data: "random", Model: model, Device: "cpu"},
					result.Measured{Samples: int64(batch), Seconds: each * float64(batch), PerItem: each})
			}
		}
	}
}
