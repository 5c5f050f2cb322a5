package bench

import (
	"time"

	"github.com/penstock-go/penstock/bench/result"
	"github.com/penstock-go/penstock/loader"
)

// Profiled makes a profile of what [Epoch] measured with a body that copied each batch, as
// to a device. The time of the body becomes the transfer. The stages are the waits and
// copies of the loop, and the work of the workers according to the loader's stats of this
// epoch. A profile of [result.FirstBatch] ends with the first batch: it leaves out the time
// until workers have finished their other batches.
func Profiled(m result.Measured, span string, s loader.Stats) result.Measured {
	m.Transfer, m.Compute = m.Compute, 0
	if span == result.FirstBatch {
		m.Seconds = m.Waiting + m.Transfer
	}
	n := int64(len(m.Waits))
	m.Stages = []result.Stage{
		{Name: "loop", Self: max(0, m.Seconds-m.Waiting-m.Transfer), Total: m.Seconds, Calls: 1},
		{Name: "loop: wait", Self: m.Waiting, Total: m.Waiting, Calls: n},
		{Name: "loop: copy", Self: m.Transfer, Total: m.Transfer, Calls: n},
	}
	var within time.Duration
	var samples int64
	for _, st := range s.Stages {
		within += st.Total
		samples = max(samples, st.Count)
		m.Stages = append(m.Stages, result.Stage{Name: "worker: " + st.Name, Self: st.Total.Seconds(), Total: st.Total.Seconds(), Calls: st.Count})
	}
	m.Stages = append(m.Stages,
		result.Stage{Name: "worker: sample", Self: max(0, s.Busy-within).Seconds(), Total: s.Busy.Seconds(), Calls: samples},
		result.Stage{Name: "worker: wait for memory", Self: s.MemoryWait.Seconds(), Total: s.MemoryWait.Seconds(), Calls: n})
	return m
}
