package cuda

import (
	"fmt"
	"io/fs"
	"regexp"
)

// files are those of a folder of kernels, and the names under which gorgonia looks
// for what is in them.
var files = []struct{ file, module string }{
	{"elembinop.ptx", "elembinop"}, {"elemunaryop.ptx", "elemunaryop"}, {"misc.ptx", "misc"},
	{"inverse.ptx", "elemunaryop"}, // see inverse.cu
}

// entry is a kernel's name in PTX; see "Kernel and Function Directives: .entry" of
// NVIDIA's PTX ISA.
var entry = regexp.MustCompile(`(?m)^\s*\.visible\s+\.entry\s+([A-Za-z_$][A-Za-z0-9_$]*)\s*\(`)

// AddKernels gives gorgonia its elementwise kernels, which its module does not
// hold: the files elembinop.ptx, elemunaryop.ptx, misc.ptx and inverse.ptx, which
// the script kernels of this package's folder makes. It is called once in a program,
// before the first VM is made; gorgonia keeps them for the whole process. Without
// them elementwise operations fail.
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

// entries are the names of the kernels in a PTX file.
func entries(ptx []byte) (names []string) {
	for _, m := range entry.FindAllSubmatch(ptx, -1) {
		names = append(names, string(m[1]))
	}
	return names
}
