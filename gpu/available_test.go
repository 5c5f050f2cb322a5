package gpu

import (
	"maps"
	"strings"
	"testing"
	"testing/fstest"
)

// files is a system's / with these contents.
func files(contents map[string]string) fstest.MapFS {
	root := fstest.MapFS{}
	for name, text := range contents {
		root[name] = &fstest.MapFile{Data: []byte(text)}
	}
	return root
}

func TestMoreThanIsAvailableIsRefusedWithTheAmounts(t *testing.T) {
	group := map[string]string{
		"proc/self/cgroup":             "0::/\n",
		"sys/fs/cgroup/memory.max":     "5000\n",
		"sys/fs/cgroup/memory.current": "1500\n",
	}
	p := &Pinned{root: files(group), bytes: 700}
	if err := p.check(3500); err != nil {
		t.Errorf("what there is was refused: %v", err)
	}
	const want = "gpu: 3501 bytes of page-locked memory: 700 are taken, 3500 are available: /sys/fs/cgroup/memory.max is 5000, of which 1500 are used"
	if err := p.check(3501); err == nil || err.Error() != want {
		t.Errorf("got %v\nwant %s", err, want)
	}
	whole := maps.Clone(group)
	whole["proc/meminfo"] = "MemAvailable: 1 kB\n"
	p.root = files(whole)
	if err := p.check(1025); err == nil || !strings.HasSuffix(err.Error(), "1024 are available: MemAvailable of /proc/meminfo") {
		t.Errorf("got %v", err)
	}
	p.limit = 1 << 20 // Limit says it knows better
	if err := p.check(1025); err != nil {
		t.Errorf("below Limit: %v", err)
	}
}
