package bench

import (
	"context"
	"os"
	"time"

	"github.com/shirou/gopsutil/v4/process"

	"github.com/penstock-go/penstock/bench/result"
)

// Watch looks at what this process uses, CPU since the look before and resident
// memory, at once and every so often until stop is called, which looks once more
// and returns what was seen. A look takes about 0.1 ms. What the system does not
// tell is 0.
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

// cpuTime is what all threads of the process have used so far, in seconds. On
// Linux it advances by 10 ms.
func cpuTime(ctx context.Context) float64 {
	p := process.Process{Pid: int32(os.Getpid())}
	t, err := p.TimesWithContext(ctx)
	if err != nil {
		return 0
	}
	return t.User + t.System
}

func resident(ctx context.Context) int64 {
	p := process.Process{Pid: int32(os.Getpid())}
	m, err := p.MemoryInfoWithContext(ctx)
	if err != nil {
		return 0
	}
	return int64(m.RSS)
}
