package main

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"runtime"
	"strings"
	"unsafe"
)

// Attributes of devices, CUdevice_attribute.
const (
	multiprocessors     = 16
	integrated          = 18
	computeMode         = 20
	asyncEngines        = 40
	capabilityMajor     = 75
	capabilityMinor     = 76
	pageableAccess      = 88
	managedConcurrently = 89
	registersMemory     = 99
	hostPageTables      = 100
	memoryPools         = 115
)

// checkMachine names what the other checks ran on.
func checkMachine(s *subject) error {
	if err := s.open(); err != nil {
		return err
	}
	s.note("%v", s.device)
	var free, total uintptr
	if err := s.call("cuMemGetInfo_v2", uintptr(unsafe.Pointer(&free)), uintptr(unsafe.Pointer(&total))); err != nil {
		return err
	}
	value := func(number int32) string {
		if v, known := s.attribute(number, s.handle); known {
			return fmt.Sprint(v)
		}
		return "unknown"
	}
	s.note("compute capability %s.%s, %s multiprocessors, %d MiB of memory, %d free", value(capabilityMajor), value(capabilityMinor),
		value(multiprocessors), total>>20, free>>20)
	s.note("engines for copies: %s; memory pools: %s; registers memory: %s; integrated: %s; compute mode: %s",
		value(asyncEngines), value(memoryPools), value(registersMemory), value(integrated), value(computeMode))
	s.note("access to pageable memory: %s, by the host's page tables: %s; to managed memory concurrently: %s",
		value(pageableAccess), value(hostPageTables), value(managedConcurrently))
	bus := make([]byte, 32)
	s.call("cuDeviceGetPCIBusId", uintptr(unsafe.Pointer(unsafe.SliceData(bus))), uintptr(len(bus)-1), uintptr(s.handle)) // an integrated device has none
	id, _, _ := bytes.Cut(bus, []byte{0})
	tables, _ := s.attribute(hostPageTables, s.handle)
	shared, _ := s.attribute(integrated, s.handle)
	d := described{name: s.device.String(), bus: strings.ToLower(string(id)), integrated: shared != 0, tables: tables != 0, arch: runtime.GOARCH}
	for _, line := range surroundings(os.DirFS("/"), os.Getenv, d) {
		s.note("%s", line)
	}
	return nil
}

// described is what the driver says about the device.
type described struct {
	name, bus, arch    string
	integrated, tables bool
}

// surroundings finds out, below root and in the environment, what is special about the machine.
func surroundings(root fs.FS, env func(string) string, d described) (lines []string) {
	text := func(file string) string {
		t, _ := fs.ReadFile(root, file)
		first, _, _ := strings.Cut(strings.TrimSpace(string(t)), "\n")
		return first
	}
	exists := func(file string) bool {
		_, err := fs.Stat(root, strings.TrimPrefix(file, "/"))
		return err == nil
	}
	add := func(name, value string) {
		if value == "" {
			value = "no"
		}
		lines = append(lines, name+": "+value)
	}
	add("kernel", text("proc/sys/kernel/osrelease"))
	add("kernel module", text("proc/driver/nvidia/version"))
	nodes, node := text("sys/devices/system/node/online"), ""
	if d.bus != "" {
		node = text("sys/bus/pci/devices/" + d.bus + "/numa_node")
	}
	switch {
	case nodes == "" || nodes == "0":
		add("NUMA", "one node")
	case node == "":
		add("NUMA", "nodes "+nodes+", that of the device is not known")
	default:
		add("NUMA", "nodes "+nodes+", the device is at node "+node)
	}
	var wsl, mps, mig, board string
	if strings.Contains(strings.ToLower(text("proc/sys/kernel/osrelease")), "microsoft") || exists("dev/dxg") {
		wsl = "yes"
	}
	pipe := env("CUDA_MPS_PIPE_DIRECTORY")
	if pipe == "" {
		pipe = "/tmp/nvidia-mps"
	}
	if exists(pipe + "/control") {
		mps = "a server at " + pipe
	}
	if visible := env("CUDA_VISIBLE_DEVICES"); strings.Contains(d.name, " MIG ") || strings.HasPrefix(visible, "MIG-") {
		mig = "a part of a device"
	}
	switch {
	case exists("etc/nv_tegra_release") || d.integrated && d.arch == "arm64":
		board = "Jetson " + text("proc/device-tree/model")
	case d.arch == "arm64" && d.tables:
		board = "Grace: the device reads the host's page tables"
	case d.integrated:
		board = "integrated, with the host's memory"
	}
	add("WSL 2", wsl)
	add("MPS", mps)
	add("MIG", mig)
	add("Jetson or Grace", strings.ReplaceAll(board, "\x00", ""))
	return lines
}
