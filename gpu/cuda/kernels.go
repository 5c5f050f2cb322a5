package cuda

import (
	"fmt"
	"io/fs"
	"regexp"
)

// modules are the names under which gorgonia looks for its kernels.
var modules = []string{"elembinop", "elemunaryop", "misc"}

// entry is a kernel's name in PTX; see "Kernel and Function Directives: .entry" of
// NVIDIA's PTX ISA.
var entry = regexp.MustCompile(`(?m)^\s*\.visible\s+\.entry\s+([A-Za-z_$][A-Za-z0-9_$]*)\s*\(`)

// AddKernels gives gorgonia its elementwise kernels, which its module does not
// hold: the files elembinop.ptx, elemunaryop.ptx and misc.ptx, which the script
// kernels of this package's folder makes. It is called once in a program, before
// the first VM is made; gorgonia keeps them for the whole process. Without them
// binary operations fail, and unary ones may be computed from old values.
func AddKernels(folder fs.FS) error {
	if err := Available(); err != nil {
		return err
	}
	type module struct {
		name, ptx string
		functions []string
	}
	all := make([]module, len(modules))
	for i, name := range modules {
		text, err := fs.ReadFile(folder, name+".ptx")
		if err != nil {
			return fmt.Errorf("cuda: kernels: %w", err)
		}
		all[i] = module{name: name, ptx: string(text), functions: entries(text)}
		if len(all[i].functions) == 0 {
			return fmt.Errorf("cuda: kernels: %s.ptx has no .visible .entry", name)
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
