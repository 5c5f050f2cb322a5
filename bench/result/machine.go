package result

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/shirou/gopsutil/v4/cpu"
	"github.com/shirou/gopsutil/v4/host"
	"github.com/shirou/gopsutil/v4/mem"
)

// ThisMachine describes the machine on which the program runs. Processors is GOMAXPROCS, which
// respects the process's affinity and a container's limit. If ThisMachine returns an error, the
// Machine has the fields that could be found.
func ThisMachine(ctx context.Context) (Machine, error) {
	m := platform()
	m.GPU = nvidia("/proc/driver/nvidia/gpus")
	chips, err := cpu.InfoWithContext(ctx)
	if err != nil {
		return m, fmt.Errorf("result: the machine's processor: %w", err)
	}
	if len(chips) > 0 && chips[0].ModelName != "" {
		m.CPU = strings.Join(strings.Fields(chips[0].ModelName), " ")
	}
	memory, err := mem.VirtualMemoryWithContext(ctx)
	if err != nil {
		return m, fmt.Errorf("result: the machine's memory: %w", err)
	}
	m.MemoryBytes = int64(memory.Total)
	kernel, err := host.KernelVersionWithContext(ctx)
	if err != nil {
		return m, fmt.Errorf("result: the machine's kernel: %w", err)
	}
	m.Kernel, _, _ = strings.Cut(kernel, "-") // the rest names the distribution's build
	return m, nil
}

// nvidia returns the model of the first GPU that the Linux driver lists in dir, and the number of
// GPUs.
func nvidia(dir string) string {
	files, _ := filepath.Glob(filepath.Join(dir, "*", "information"))
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil {
			continue
		}
		for line := range strings.Lines(string(text)) {
			key, value, _ := strings.Cut(line, ":")
			if strings.TrimSpace(key) != "Model" {
				continue
			}
			if len(files) > 1 {
				return fmt.Sprintf("%d × %s", len(files), strings.TrimSpace(value))
			}
			return strings.TrimSpace(value)
		}
	}
	return ""
}
