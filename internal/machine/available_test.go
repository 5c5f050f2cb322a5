package machine_test

import (
	"os"
	"runtime"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/penstock-go/penstock/internal/machine"
)

// files is a system's / with these contents.
func files(contents map[string]string) fstest.MapFS {
	root := fstest.MapFS{}
	for name, text := range contents {
		root[name] = &fstest.MapFile{Data: []byte(text)}
	}
	return root
}

func TestAvailableIsTheLeastOfSystemAndControlGroups(t *testing.T) {
	const meminfo = "MemTotal:  100 kB\nMemAvailable:   64 kB\nX: 1 kB\n"
	for name, c := range map[string]struct {
		files map[string]string
		want  int64 // -1 is not known
		by    string
	}{
		"nothing":      {nil, -1, ""},
		"system":       {map[string]string{"proc/meminfo": meminfo}, 64 << 10, "MemAvailable of /proc/meminfo"},
		"not a number": {map[string]string{"proc/meminfo": "MemAvailable: many kB\n"}, -1, ""},
		"no value":     {map[string]string{"proc/meminfo": "MemAvailable:\n"}, -1, ""},
		"too large":    {map[string]string{"proc/meminfo": "MemAvailable: 9223372036854775807 kB"}, -1, ""},
		"version 2": {map[string]string{
			"proc/meminfo": meminfo, "proc/self/cgroup": "0::/a/b\n",
			"sys/fs/cgroup/a/b/memory.max": "1000\n", "sys/fs/cgroup/a/b/memory.current": "900\n",
		}, 100, "/sys/fs/cgroup/a/b/memory.max is 1000, of which 900 are used"},
		"files' pages are not used": {map[string]string{
			"proc/self/cgroup":               "0::/a\n",
			"sys/fs/cgroup/a/memory.max":     "1000\n",
			"sys/fs/cgroup/a/memory.current": "900\n",
			"sys/fs/cgroup/a/memory.stat":    "anon 300\nfile 600\ninactive_file 400\nactive_file 150\n",
		}, 650, "/sys/fs/cgroup/a/memory.max is 1000, of which 350 are used"},
		"the group around": {map[string]string{
			"proc/self/cgroup":                 "0::/a/b\n",
			"sys/fs/cgroup/a/b/memory.max":     "max\n",
			"sys/fs/cgroup/a/b/memory.current": "10\n",
			"sys/fs/cgroup/a/memory.max":       "500\n",
			"sys/fs/cgroup/a/memory.current":   "20\n",
		}, 480, "/sys/fs/cgroup/a/memory.max is 500"},
		"a container that sees its host's path": {map[string]string{
			"proc/self/cgroup":             "0::/../docker/0123\n",
			"sys/fs/cgroup/memory.max":     "500\n",
			"sys/fs/cgroup/memory.current": "20\n",
		}, 480, "/sys/fs/cgroup/memory.max is 500"},
		"more used than allowed": {map[string]string{
			"proc/self/cgroup":             "0::/\n",
			"sys/fs/cgroup/memory.max":     "500\n",
			"sys/fs/cgroup/memory.current": "501\n",
		}, 0, "/sys/fs/cgroup/memory.max is 500"},
		"version 1": {map[string]string{
			"proc/meminfo":     meminfo,
			"proc/self/cgroup": "12:cpu,cpuacct:/x\n4:rdma,memory:/docker/0:1\nname\n",
			"sys/fs/cgroup/memory/docker/0:1/memory.limit_in_bytes": "2000\n",
			"sys/fs/cgroup/memory/docker/0:1/memory.usage_in_bytes": "1900\n",
			"sys/fs/cgroup/memory/docker/0:1/memory.stat":           "inactive_file 1\ntotal_inactive_file 300\ntotal_active_file 200\n",
			"sys/fs/cgroup/memory/memory.limit_in_bytes":            "9223372036854771712\n",
			"sys/fs/cgroup/memory/memory.usage_in_bytes":            "5000\n",
		}, 600, "/sys/fs/cgroup/memory/docker/0:1/memory.limit_in_bytes is 2000, of which 1400 are used"},
		"limit without use": {map[string]string{
			"proc/self/cgroup": "0::/\n", "sys/fs/cgroup/memory.max": "500\n",
		}, -1, ""},
	} {
		got, known := machine.Available(files(c.files))
		if known != (c.want >= 0) || known && got.Bytes != c.want || !strings.HasPrefix(got.By, c.by) {
			t.Errorf("%s: got %+v, %v, want %d by %s", name, got, known, c.want, c.by)
		}
	}
	if runtime.GOOS == "linux" {
		if got, known := machine.Available(os.DirFS("/")); !known || got.Bytes <= 0 {
			t.Errorf("this system: got %+v, %v", got, known)
		}
	}
}
