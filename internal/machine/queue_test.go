package machine_test

import (
	"os"
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"github.com/penstock-go/penstock/internal/machine"
)

func TestProcessorWaitIsThatOfAllThreads(t *testing.T) {
	for name, c := range map[string]struct {
		files map[string]string
		want  time.Duration // -1 is not known
	}{
		"another system":     {nil, -1},
		"one thread":         {map[string]string{"proc/self/task/7/schedstat": "136377919 196934657 344\n"}, 196934657},
		"several":            {map[string]string{"proc/self/task/7/schedstat": "1 20 3\n", "proc/self/task/8/schedstat": "9 0 0\n", "proc/self/task/9/schedstat": "4 5 6\n"}, 25},
		"one has ended":      {map[string]string{"proc/self/task/7/schedstat": "1 20 3\n", "proc/self/task/8/comm": "x\n"}, 20},
		"not counted at all": {map[string]string{"proc/self/task/7/comm": "x\n"}, -1},
		"not numbers":        {map[string]string{"proc/self/task/7/schedstat": "1 x 3\n", "proc/self/task/8/schedstat": "1\n", "proc/self/task/9/schedstat": "1 -2 3"}, -1},
	} {
		got, known := machine.ProcessorWait(files(c.files))
		if !known {
			got = -1
		}
		if got != c.want {
			t.Errorf("%s: got %v, want %v", name, got, c.want)
		}
	}
}

// TestProcessorWaitGrowsWhereThreadsShareAProcessor, as more busy threads than processors do.
func TestProcessorWaitGrowsWhereThreadsShareAProcessor(t *testing.T) {
	root := os.DirFS("/")
	first, known := machine.ProcessorWait(root)
	if !known {
		t.Skip("SKIPPED: the system does not tell how long threads wait for processors")
	}
	threads := 2 * runtime.NumCPU()
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(threads + 1))
	var stop atomic.Bool
	defer stop.Store(true)
	for range threads {
		go func() {
			for !stop.Load() {
			}
		}()
	}
	for begun := time.Now(); time.Since(begun) < 10*time.Second; time.Sleep(time.Millisecond) {
		if now, _ := machine.ProcessorWait(root); now > first+10*time.Millisecond {
			return
		}
	}
	t.Errorf("%d busy threads have not waited for processors in 10 s", threads)
}
