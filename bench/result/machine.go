package result

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"

	kernels "github.com/penstock-go/penstock/internal/cpu"
	"github.com/shirou/gopsutil/v4/cpu"
	"github.com/shirou/gopsutil/v4/host"
	"github.com/shirou/gopsutil/v4/mem"
)

// ThisMachine describes the machine on which the program runs. Processors is GOMAXPROCS, which respects the process's
// affinity and a container's limit. If ThisMachine returns an error, the Machine has the fields that could be found.
func ThisMachine(ctx context.Context) (Machine, error) {
	m := Machine{
		CPU: runtime.GOARCH, Processors: runtime.GOMAXPROCS(0), OS: runtime.GOOS, Arch: runtime.GOARCH,
		Instructions: kernels.Instructions(), Caches: caches("/sys/devices/system/cpu/cpu0/cache"), GPU: nvidia("/proc/driver/nvidia/gpus"),
	}
	chips, err := cpu.InfoWithContext(ctx)
	if err != nil {
		return m, fmt.Errorf("result: the machine's processor: %w", err)
	}
	if len(chips) > 0 && chips[0].ModelName != "" {
		c := chips[0]
		m.CPU = strings.Join(strings.Fields(c.ModelName), " ")
		m.Family = fmt.Sprintf("%s %s, model %s, stepping %d", c.VendorID, c.Family, c.Model, c.Stepping)
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

// caches lists the caches that Linux describes in dir, a folder for each with its level, type and size.
func caches(dir string) string {
	var list []string
	folders, _ := filepath.Glob(filepath.Join(dir, "index*"))
	for _, folder := range folders {
		read := func(name string) string {
			text, _ := os.ReadFile(filepath.Join(folder, name))
			return strings.TrimSpace(string(text))
		}
		kind := map[string]string{"Data": "d", "Instruction": "i"}[read("type")]
		list = append(list, "L"+read("level")+kind+" "+read("size"))
	}
	return strings.Join(list, ", ")
}

// nvidia returns the model of the first GPU that the Linux driver lists in dir, and the number of GPUs.
func nvidia(dir string) string {
	files, _ := filepath.Glob(filepath.Join(dir, "*", "information"))
	for _, f := range files {
		text, _ := os.ReadFile(f)
		for line := range strings.Lines(string(text)) {
			if model, ok := strings.CutPrefix(line, "Model:"); ok {
				if model = strings.TrimSpace(model); len(files) > 1 {
					return fmt.Sprintf("%d × %s", len(files), model)
				}
				return model
			}
		}
	}
	return ""
}

// Versions returns the versions of this program: go, and as penstock the commit, if the binary or the git checkout around
// the current folder knows it. The suffix "-dirty" means that files differed from the commit.
func Versions(ctx context.Context) map[string]string {
	v := map[string]string{"go": strings.TrimPrefix(runtime.Version(), "go")}
	settings := map[string]string{}
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, s := range info.Settings {
			settings[s.Key] = s.Value
		}
	}
	if commit := settings["vcs.revision"]; commit != "" {
		v["penstock"] = commit[:min(12, len(commit))]
		if settings["vcs.modified"] == "true" {
			v["penstock"] += "-dirty"
		}
	} else if out, err := exec.CommandContext(ctx, "git", "describe", "--always", "--dirty", "--abbrev=12").Output(); err == nil {
		v["penstock"] = strings.TrimSpace(string(out))
	}
	return v
}
