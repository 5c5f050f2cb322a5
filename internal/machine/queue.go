package machine

import (
	"bytes"
	"io/fs"
	"path"
	"strconv"
	"time"
)

// ProcessorWait is how long the threads of this program were ready to run and had no processor,
// all together: the second number of /proc/self/task/*/schedstat, in nanoseconds (Documentation/
// scheduler/sched-stats.rst of Linux). It reads below root, which is the system's /. Time that a
// thread has waited counts when it runs again, and no longer when it has ended. To read it takes
// some 10 µs per thread. It is not known on other systems, or if the kernel does not count it.
func ProcessorWait(root fs.FS) (waited time.Duration, known bool) {
	const threads = "proc/self/task"
	entries, err := fs.ReadDir(root, threads)
	if err != nil {
		return 0, false
	}
	for _, e := range entries {
		text, err := fs.ReadFile(root, path.Join(threads, e.Name(), "schedstat"))
		if err != nil {
			continue // the thread has ended
		}
		f := bytes.Fields(text) // time on a processor, time of waiting for one, number of time slices
		if len(f) < 2 {
			continue
		}
		if n, err := strconv.ParseInt(string(f[1]), 10, 64); err == nil && n >= 0 {
			waited, known = waited+time.Duration(n), true
		}
	}
	return waited, known
}
