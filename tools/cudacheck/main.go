// Command cudacheck type-checks the packages of the current directory's module with the build tag cuda,
// including their tests, on a machine without CUDA's headers or a C compiler. It does not check names
// that come from C. It checks everything else as the compiler does.
//
//	cudacheck [package patterns]
package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/build/constraint"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

const tag = "cuda"

func main() {
	patterns := os.Args[1:]
	if len(patterns) == 0 {
		patterns = []string{"./..."}
	}
	packages, files, err := run(patterns)
	if err != nil {
		fmt.Fprintf(os.Stderr, "cudacheck: %v\n", err)
		os.Exit(1)
	}
	fmt.Printf("cudacheck: %d packages, %d files with the tag %s\n", packages, files, tag)
}

// run checks the packages that match the patterns. It returns their number, and the number of their
// files whose build constraint mentions the tag.
func run(patterns []string) (packages, files int, err error) {
	list, err := load(patterns)
	if err != nil {
		return 0, 0, err
	}
	c := checker{
		fset:   token.NewFileSet(),
		done:   map[string]*types.Package{"unsafe": types.Unsafe},
		tagged: map[string]bool{},
		wrong:  map[string]bool{},
	}
	seen := map[string]bool{}
	for _, p := range list {
		if p.ImportPath == "unsafe" || strings.HasSuffix(p.ImportPath, ".test") {
			continue
		}
		c.check(p)
		if !p.DepOnly {
			seen[p.path()] = true
		}
	}
	return len(seen), len(c.tagged), errors.Join(c.errs...)
}

// A listed is the part of the output of go list -json that a type check needs.
type listed struct {
	ImportPath string
	Dir        string
	DepOnly    bool
	GoFiles    []string
	CgoFiles   []string
	ImportMap  map[string]string
	Error      *struct{ Err string }
}

// path is the import path, without the suffix that names the test for which a copy is built.
func (p listed) path() string {
	path, _, _ := strings.Cut(p.ImportPath, " ")
	return path
}

// load lists the packages, their tests and everything that they import, imports first.
func load(patterns []string) ([]listed, error) {
	fields := "ImportPath,Dir,DepOnly,GoFiles,CgoFiles,ImportMap,Error"
	args := []string{"list", "-e", "-deps", "-test", "-tags", tag, "-json=" + fields, "--"}
	cmd := exec.Command("go", append(args, patterns...)...)
	// Without cgo the go command would leave out the files that are to be checked.
	cmd.Env = append(os.Environ(), "CGO_ENABLED=1")
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("list packages: %w", err)
	}
	var list []listed
	for dec := json.NewDecoder(bytes.NewReader(out)); ; {
		var p listed
		if err := dec.Decode(&p); err == io.EOF {
			return list, nil
		} else if err != nil {
			return nil, fmt.Errorf("list packages: %w", err)
		}
		if p.Error != nil {
			return nil, fmt.Errorf("list %s: %s", p.ImportPath, p.Error.Err)
		}
		list = append(list, p)
	}
}

// A checker holds the results of the packages checked so far. A package with tests comes twice, so
// files and errors are sets.
type checker struct {
	fset   *token.FileSet
	done   map[string]*types.Package // by the path that go list prints
	tagged map[string]bool           // files whose build constraint mentions the tag
	wrong  map[string]bool           // errors already in errs
	errs   []error
}

// check parses and checks one package. Of a package that is only imported, it reads only the
// declarations and ignores errors.
func (c *checker) check(p listed) {
	mode := parser.SkipObjectResolution
	fail := func(error) {}
	if !p.DepOnly {
		mode |= parser.ParseComments
		fail = c.fail
	}
	var files []*ast.File
	for _, name := range append(p.GoFiles, p.CgoFiles...) {
		if !filepath.IsAbs(name) {
			name = filepath.Join(p.Dir, name)
		}
		f, err := parser.ParseFile(c.fset, name, nil, mode)
		if err != nil {
			fail(err)
		}
		if f == nil {
			continue
		}
		files = append(files, f)
		if asks(f) {
			c.tagged[name] = true
		}
	}
	conf := types.Config{
		Importer:         importer{c.done, p.ImportMap},
		FakeImportC:      true,
		IgnoreFuncBodies: p.DepOnly,
		Sizes:            types.SizesFor("gc", "amd64"),
		Error:            fail,
	}
	pkg, _ := conf.Check(p.path(), c.fset, files, nil) // fail has the errors
	c.done[p.ImportPath] = pkg
}

// fail adds an error, unless it is in errs already.
func (c *checker) fail(err error) {
	if text := err.Error(); !c.wrong[text] {
		c.wrong[text] = true
		c.errs = append(c.errs, err)
	}
}

// asks reports whether the file's build constraint mentions the tag. Files
// parsed without comments have none.
func asks(f *ast.File) bool {
	found := false
	for _, group := range f.Comments {
		if group.Pos() > f.Package {
			break
		}
		for _, line := range group.List {
			expr, err := constraint.Parse(line.Text)
			if err != nil {
				continue // an ordinary comment
			}
			expr.Eval(func(name string) bool {
				found = found || name == tag
				return true
			})
		}
	}
	return found
}

// An importer finds packages among those already checked. The go command's import map says which copy
// of a path a package imports.
type importer struct {
	done map[string]*types.Package
	as   map[string]string
}

func (i importer) Import(path string) (*types.Package, error) {
	if to, ok := i.as[path]; ok {
		path = to
	}
	if pkg := i.done[path]; pkg != nil {
		return pkg, nil
	}
	return nil, fmt.Errorf("package %s was not listed", path)
}
