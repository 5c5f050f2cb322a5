package machine

import (
	"bytes"
	"cmp"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"
)

// A Room is how much memory can still be taken, and the source of that number.
type Room struct {
	Bytes int64
	By    string // the source, in words
}

// Available returns the smallest room that the system and the process's control
// groups leave: MemAvailable of proc(5), and for every control group from the
// process's own up to the root its limit minus its usage. It reads them below root,
// which is the system's /. Cached pages of files do not count as used, because the
// kernel can drop them. RLIMIT_MEMLOCK is not looked at: it bounds mlock(2), not what
// the driver locks.
func Available(root fs.FS) (least Room, known bool) {
	var rooms []Room
	if text, err := fs.ReadFile(root, "proc/meminfo"); err == nil {
		if kib, ok := number(text, "MemAvailable:"); ok {
			rooms = append(rooms, Room{kib << 10, "MemAvailable of /proc/meminfo"})
		}
	}
	for _, g := range groups(root) {
		rooms = append(rooms, g.rooms(root)...)
	}
	if len(rooms) == 0 {
		return Room{}, false
	}
	return slices.MinFunc(rooms, func(a, b Room) int { return cmp.Compare(a.Bytes, b.Bytes) }), true
}

// A version of control groups says in which files they keep their memory limit and
// usage. Source: cgroups(7), and cgroup-v1/memory and cgroup-v2 of the kernel's
// documentation.
type version struct {
	mount       string   // where distributions mount it
	limit, used string   // names of the files
	files       []string // keys of memory.stat that count cached pages of files
}

var (
	first  = version{"sys/fs/cgroup/memory", "memory.limit_in_bytes", "memory.usage_in_bytes", []string{"total_active_file", "total_inactive_file"}}
	second = version{"sys/fs/cgroup", "memory.max", "memory.current", []string{"active_file", "inactive_file"}}
)

// A group is a control group of the process in one hierarchy.
type group struct {
	version
	path string // below the mount
}

// groups returns the control groups that bound the process's memory.
func groups(root fs.FS) (found []group) {
	text, err := fs.ReadFile(root, "proc/self/cgroup")
	if err != nil {
		return nil
	}
	for line := range strings.Lines(string(text)) {
		f := strings.SplitN(strings.TrimSuffix(line, "\n"), ":", 3) // number, controllers, path
		if len(f) != 3 {
			continue
		}
		below := strings.TrimPrefix(path.Clean("/"+f[2]), "/")
		switch {
		case f[0] == "0" && f[1] == "":
			found = append(found, group{second, below})
		case slices.Contains(strings.Split(f[1], ","), "memory"):
			found = append(found, group{first, below})
		}
	}
	return found
}

// rooms returns the rooms of the group and of all its parents. A container may see
// the path of the host, but only its own group's mount: a folder that does not exist
// is skipped, and the mount itself counts as a group.
func (g group) rooms(root fs.FS) (found []Room) {
	for below := g.path; ; below = path.Dir(below) {
		dir := path.Join(g.mount, below)
		if r, ok := g.room(root, dir); ok {
			found = append(found, r)
		}
		if below == "" || below == "." {
			return found
		}
	}
}

func (g group) room(root fs.FS, dir string) (Room, bool) {
	limit, limited := alone(root, path.Join(dir, g.limit))
	used, known := alone(root, path.Join(dir, g.used))
	if !limited || !known {
		return Room{}, false
	}
	if stat, err := fs.ReadFile(root, path.Join(dir, "memory.stat")); err == nil {
		for _, key := range g.files {
			n, _ := number(stat, key)
			used -= n
		}
	}
	used = max(0, used)
	by := fmt.Sprintf("%s is %d, of which %d are used", path.Join("/", dir, g.limit), limit, used)
	return Room{max(0, limit-used), by}, true
}

// alone reads a file that holds one number. It reports false for the text max, which
// means no limit.
func alone(root fs.FS, file string) (int64, bool) {
	text, err := fs.ReadFile(root, file)
	if err != nil {
		return 0, false
	}
	n, err := strconv.ParseInt(string(bytes.TrimSpace(text)), 10, 64)
	return n, err == nil && n >= 0
}

// number returns the number after a key at the beginning of a line.
func number(text []byte, key string) (int64, bool) {
	for line := range bytes.Lines(text) {
		f := bytes.Fields(line)
		if len(f) >= 2 && string(f[0]) == key {
			n, err := strconv.ParseInt(string(f[1]), 10, 53)
			return n, err == nil && n >= 0
		}
	}
	return 0, false
}
