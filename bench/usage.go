package bench

import (
	"context"
	"os"
	"time"

	"github.com/shirou/gopsutil/v4/process"

	"github.com/penstock-go/penstock/bench/result"
)

// Watch samples the resident memory of this process, and its CPU use since the sample
// before. It takes a sample at once, and then at every interval until stop is called. stop
// takes a last sample and returns all of them. A sample takes about 0.1 ms. A value that the
// system does not provide is 0.
func Watch(ctx context.Context, every time.Duration) (stop func() []result.Usage) {
	begun := time.Now()
	var seen []result.Usage
	lastTime, lastCPU := begun, cpuTime(ctx)
	look := func() {
		now, cpu := time.Now(), cpuTime(ctx)
		u := result.Usage{Seconds: now.Sub(begun).Seconds(), RSS: resident(ctx)}
		if d := now.Sub(lastTime).Seconds(); len(seen) > 0 && d > 0 {
			u.CPUPercent = 100 * max(0, cpu-lastCPU) / d
		}
		lastTime, lastCPU = now, cpu
		seen = append(seen, u)
	}
	look()
	end, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		ticks := time.NewTicker(every)
		defer ticks.Stop()
		for {
			select {
			case <-ticks.C:
				look()
			case <-end:
				look()
				return
			}
		}
	}()
	return func() []result.Usage {
		close(end)
		<-ended
		return seen
	}
}

// cpuTime is the CPU time of all threads of the process so far, and of the programs that it has run to their end, in
// seconds. On Linux the resolution of the former is 10 ms.
func cpuTime(ctx context.Context) float64 {
	p := process.Process{Pid: int32(os.Getpid())}
	t, err := p.TimesWithContext(ctx)
	if err != nil {
		return 0
	}
	return t.User + t.System + childrenTime()
}

func resident(ctx context.Context) int64 {
	p := process.Process{Pid: int32(os.Getpid())}
	m, err := p.MemoryInfoWithContext(ctx)
	if err != nil {
		return 0
	}
	return int64(m.RSS)
}
