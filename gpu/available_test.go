package gpu

import (
	"strings"
	"testing"
	"testing/fstest"
)

func TestMoreThanIsAvailableIsRefusedWithTheAmounts(t *testing.T) {
	root := fstest.MapFS{ // the system's /
		"proc/self/cgroup":             {Data: []byte("0::/\n")},
		"sys/fs/cgroup/memory.max":     {Data: []byte("5000\n")},
		"sys/fs/cgroup/memory.current": {Data: []byte("1500\n")},
	}
	p := &Pinned{root: root, bytes: 700}
	if err := p.check(3500); err != nil {
		t.Errorf("what there is was refused: %v", err)
	}
	const want = "gpu: 3501 bytes of page-locked memory: 700 are taken, 3500 are available: /sys/fs/cgroup/memory.max is 5000, of which 1500 are used"
	if err := p.check(3501); err == nil || err.Error() != want {
		t.Errorf("got %v\nwant %s", err, want)
	}
	root["proc/meminfo"] = &fstest.MapFile{Data: []byte("MemAvailable: 1 kB\n")}
	if err := p.check(1025); err == nil || !strings.HasSuffix(err.Error(), "1024 are available: MemAvailable of /proc/meminfo") {
		t.Errorf("got %v", err)
	}
}
