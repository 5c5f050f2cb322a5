package cuda

import (
	"fmt"
	"io/fs"
	"regexp"
)

// files are the files of a folder of kernels, and the module names under which gorgonia
// looks for their kernels.
var files = []struct{ file, module string }{
	{"elembinop.ptx", "elembinop"}, {"elemunaryop.ptx", "elemunaryop"}, {"misc.ptx", "misc"},
	{"inverse.ptx", "elemunaryop"}, // see inverse.cu
}

// entry is a kernel's name in PTX; see "Kernel and Function Directives: .entry" of
// NVIDIA's PTX ISA.
var entry = regexp.MustCompile(`(?m)^\s*\.visible\s+\.entry\s+([A-Za-z_$][A-Za-z0-9_$]*)\s*\(`)

// AddKernels registers the kernels of elementwise operations with gorgonia, whose own module
// does not contain them. The folder holds elembinop.ptx, elemunaryop.ptx, misc.ptx and
// inverse.ptx, which the script gpu/cuda/kernels makes. Call AddKernels once in a program,
// before the first [New]: gorgonia keeps the kernels for the whole process. Without them
// elementwise operations fail.
func AddKernels(folder fs.FS) error {
	if err := Available(); err != nil {
		return err
	}
	type module struct {
		name, ptx string
		functions []string
	}
	all := make([]module, len(files))
	for i, f := range files {
		text, err := fs.ReadFile(folder, f.file)
		if err != nil {
			return fmt.Errorf("cuda: kernels: %w", err)
		}
		all[i] = module{name: f.module, ptx: string(text), functions: entries(text)}
		if len(all[i].functions) == 0 {
			return fmt.Errorf("cuda: kernels: %s has no .visible .entry", f.file)
		}
	}
	for _, m := range all {
		register(m.name, m.ptx, m.functions)
	}
	return nil
}

// entries returns the names of the kernels in a PTX file.
func entries(ptx []byte) (names []string) {
	for _, m := range entry.FindAllSubmatch(ptx, -1) {
		names = append(names, string(m[1]))
	}
	return names
}
