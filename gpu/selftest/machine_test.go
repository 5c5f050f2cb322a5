package main

import (
	"slices"
	"testing"
	"testing/fstest"
)

func TestSurroundingsAreNamed(t *testing.T) {
	files := func(pairs ...string) fstest.MapFS {
		root := fstest.MapFS{}
		for i := 0; i < len(pairs); i += 2 {
			root[pairs[i]] = &fstest.MapFile{Data: []byte(pairs[i+1])}
		}
		return root
	}
	for name, test := range map[string]struct {
		root fstest.MapFS
		env  map[string]string
		d    described
		want string
	}{
		"a plain machine": {files("sys/devices/system/node/online", "0\n"), nil, described{arch: "amd64"}, "NUMA: one node"},
		"two nodes": {files("sys/devices/system/node/online", "0-1\n", "sys/bus/pci/devices/0000:3b:00.0/numa_node", "1\n"), nil,
			described{bus: "0000:3b:00.0"}, "NUMA: nodes 0-1, the device is at node 1"},
		"two nodes, no bus": {files("sys/devices/system/node/online", "0-1\n"), nil, described{}, "NUMA: nodes 0-1, that of the device is not known"},
		"WSL 2":             {files("proc/sys/kernel/osrelease", "5.15.167.4-microsoft-standard-WSL2\n"), nil, described{}, "WSL 2: yes"},
		"no WSL 2":          {files("proc/sys/kernel/osrelease", "6.1.0\n"), nil, described{}, "WSL 2: no"},
		"MPS":               {files("tmp/nvidia-mps/control", ""), nil, described{}, "MPS: a server at /tmp/nvidia-mps"},
		"MPS elsewhere":     {files("run/mps/control", ""), map[string]string{"CUDA_MPS_PIPE_DIRECTORY": "/run/mps"}, described{}, "MPS: a server at /run/mps"},
		"MIG by name":       {files(), nil, described{name: "NVIDIA A100-SXM4-40GB MIG 1g.5gb (device 0, CUDA 12.4)"}, "MIG: a part of a device"},
		"MIG by choice":     {files(), map[string]string{"CUDA_VISIBLE_DEVICES": "MIG-1234"}, described{}, "MIG: a part of a device"},
		"Jetson": {files("proc/device-tree/model", "NVIDIA Jetson AGX Orin\x00"), nil, described{arch: "arm64", integrated: true},
			"Jetson or Grace: Jetson NVIDIA Jetson AGX Orin"},
		"Grace":  {files(), nil, described{arch: "arm64", tables: true}, "Jetson or Grace: Grace: the device reads the host's page tables"},
		"module": {files("proc/driver/nvidia/version", "NVRM version: 570\nGCC\n"), nil, described{}, "kernel module: NVRM version: 570"},
	} {
		got := surroundings(test.root, func(key string) string { return test.env[key] }, test.d)
		if !slices.Contains(got, test.want) {
			t.Errorf("%s: got %q, want %q among them", name, got, test.want)
		}
	}
}

func TestAccountsOfMemoryAreRead(t *testing.T) {
	root := fstest.MapFS{
		"proc/self/status":               {Data: []byte("Name:\tx\nVmLck:\t      12 kB\nVmPin:\t 7 kB\nRssAnon:\t 5 kB\n")},
		"proc/meminfo":                   {Data: []byte("MemAvailable:   100 kB\n")},
		"proc/self/cgroup":               {Data: []byte("0::/a\n")},
		"sys/fs/cgroup/a/memory.current": {Data: []byte("4096\n")},
		"proc/self/numa_maps":            {Data: []byte("1000 default anon=1 N0=1\n2000 default anon=3 N1=3 kernelpagesize_kB=4\n9000 default\n")},
		"sys/fs/cgroup/memory.current":   {Data: []byte("1\n")},
	}
	got := map[string]int64{}
	for _, a := range accounts(root) {
		got[a.name] = a.bytes
	}
	for name, want := range map[string]int64{"VmLck": 12 << 10, "VmPin": 7 << 10, "RssAnon": 5 << 10, "MemAvailable": 100 << 10, "control group": 4096} {
		if got[name] != want {
			t.Errorf("%s: got %d, want %d", name, got[name], want)
		}
	}
	if got, want := node(root, 0x2f00), "N1=3 (node=pages)"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
