package penstock_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

func TestArchitectureSaysWhatPackagesImport(t *testing.T) {
	if _, err := os.Stat("examples/go.mod"); err != nil {
		t.Skipf("not the whole repository: %v", err) // but the module of the library alone
	}
	imports := publicImports(t)
	for _, row := range regexp.MustCompile("(?m)^\\| (`[^|]*) \\|[^|]*\\| ([^|]*) \\|$").FindAllStringSubmatch(read(t, "ARCHITECTURE.md"), -1) {
		told := map[string]bool{}
		for _, name := range quoted(row[2]) {
			told[name] = true
		}
		for _, name := range quoted(row[1]) {
			if got, ok := imports[name]; !ok || !maps.Equal(got, told) {
				t.Errorf("%s imports %v, ARCHITECTURE.md says %v", name, slices.Sorted(maps.Keys(got)), slices.Sorted(maps.Keys(told)))
			}
			delete(imports, name)
		}
	}
	for name := range imports {
		t.Errorf("%s is not in ARCHITECTURE.md", name)
	}
}

// quoted are the folders that a cell of a table names.
func quoted(cell string) (names []string) {
	for _, found := range regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(cell, -1) {
		names = append(names, strings.TrimSuffix(found[1], "/"))
	}
	return names
}

// publicImports are the public packages by their folders, and the public packages that they import.
func publicImports(t *testing.T) map[string]map[string]bool {
	t.Helper()
	const library = "github.com/penstock-go/penstock/"
	all := map[string]map[string]bool{}
	err := fs.WalkDir(os.DirFS("."), ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && name != "." && (strings.HasPrefix(d.Name(), ".") ||
			slices.Contains([]string{"internal", "testdata", "bench", "examples", "tools"}, d.Name())):
			return fs.SkipDir
		case path.Ext(name) != ".go" || strings.HasSuffix(name, "_test.go"):
			return nil
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ImportsOnly)
		if err != nil || file.Name.Name == "main" {
			return err
		}
		folder := path.Dir(name)
		if all[folder] == nil {
			all[folder] = map[string]bool{}
		}
		for _, spec := range file.Imports {
			imported, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				return err
			}
			if other, ok := strings.CutPrefix(imported, library); ok && !slices.Contains(strings.Split(other, "/"), "internal") {
				all[folder][other] = true
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// TestAProgramCompilesFewPackages counts what is compiled for dataset, transform and loader beside the standard
// library. cgo must not be: a program would need a C compiler, and the C library of the machine where it was built.
func TestAProgramCompilesFewPackages(t *testing.T) {
	const most = 39 // fewer than 40
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip(err)
	}
	cmd := exec.Command("go", "list", "-deps", "-f", "{{.Standard}} {{.ImportPath}}", "./dataset", "./transform", "./loader")
	cmd.Env = append(cmd.Environ(), "GOWORK=off", "GOOS=linux", "GOARCH=amd64", "CGO_ENABLED=1")
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	var packages []string
	for line := range strings.Lines(string(out)) {
		standard, name, _ := strings.Cut(strings.TrimSpace(line), " ")
		switch {
		case name == "runtime/cgo":
			t.Error("cgo is compiled")
		case standard == "false":
			packages = append(packages, name)
		}
	}
	if len(packages) == 0 || len(packages) > most {
		t.Errorf("%d packages, want %d at most:\n%s", len(packages), most, strings.Join(packages, "\n"))
	}
}

// TestLayersImportDownwards: of the layers of the loader and of transform, each imports only those below it.
func TestLayersImportDownwards(t *testing.T) {
	const library = "github.com/penstock-go/penstock/"
	for _, layer := range []struct {
		folder string
		below  []string
	}{
		{"loader", []string{"loader/internal/assemble", "loader/internal/plan", "loader/internal/slab", "loader/internal/tune", "loader/internal/usercode"}},
		{"loader/internal/assemble", []string{"loader/internal/plan", "loader/internal/slab", "loader/internal/usercode"}},
		{"loader/internal/plan", []string{"loader/internal/usercode"}},
		{"loader/internal/slab", []string{"loader/internal/usercode"}},
		{"loader/internal/tune", nil},
		{"loader/internal/usercode", nil},
		{"transform", []string{"transform/internal/engine", "transform/internal/program", "transform/internal/raster", "transform/internal/source"}},
		{"transform/internal/program", []string{"transform/internal/engine", "transform/internal/raster", "transform/internal/source"}},
		{"transform/internal/engine", []string{"transform/internal/raster", "transform/internal/source"}},
		{"transform/internal/source", []string{"transform/internal/raster"}},
		{"transform/internal/raster", nil},
	} {
		files, err := filepath.Glob(layer.folder + "/*.go")
		if err != nil || len(files) == 0 {
			t.Errorf("%s: %v, %v", layer.folder, files, err)
		}
		for _, name := range files {
			file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ImportsOnly)
			if err != nil {
				t.Fatal(err)
			}
			if strings.HasSuffix(name, "_test.go") {
				continue
			}
			for _, spec := range file.Imports {
				imported, _ := strings.CutPrefix(strings.Trim(spec.Path.Value, `"`), library)
				room, _, _ := strings.Cut(layer.folder, "/")
				if (imported == room || strings.HasPrefix(imported, room+"/")) && !slices.Contains(layer.below, imported) {
					t.Errorf("%s imports %s, want only %v", name, imported, layer.below)
				}
			}
		}
	}
}

// TestNoStructOfTheLoaderIsTooLargeToHoldInTheHead, but for the statistics, which are a list.
func TestNoStructOfTheLoaderIsTooLargeToHoldInTheHead(t *testing.T) {
	const most = 15
	seen := 0
	for _, folder := range []string{"loader", "loader/internal/*"} {
		files, err := filepath.Glob(folder + "/*.go")
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range files {
			file, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
			if err != nil {
				t.Fatal(err)
			}
			ast.Inspect(file, func(n ast.Node) bool {
				spec, ok := n.(*ast.TypeSpec)
				if !ok {
					return true
				}
				fields, ok := spec.Type.(*ast.StructType)
				if !ok || name == "loader/stats.go" && spec.Name.Name == "Stats" {
					return true
				}
				seen++
				if n := fields.Fields.NumFields(); n > most {
					t.Errorf("%s: %s has %d fields, want %d at most", name, spec.Name.Name, n, most)
				}
				return true
			})
		}
	}
	if seen < 20 {
		t.Errorf("only %d structs were looked at", seen)
	}
}

// TestTransformsStaySmall: no function of transform has more than 60 lines or 20 branches, and no package more than 4,500
// lines, without tests.
func TestTransformsStaySmall(t *testing.T) {
	lines := map[string]int{}
	err := filepath.WalkDir("transform", func(name string, _ fs.DirEntry, err error) error {
		if err != nil || path.Ext(name) != ".go" || strings.HasSuffix(name, "_test.go") {
			return err
		}
		set := token.NewFileSet()
		file, err := parser.ParseFile(set, name, nil, 0)
		if err != nil {
			return err
		}
		lines[filepath.Dir(name)] += set.File(file.FileStart).LineCount()
		ast.Inspect(file, func(n ast.Node) bool {
			var body *ast.BlockStmt
			switch f := n.(type) {
			case *ast.FuncDecl:
				body = f.Body
			case *ast.FuncLit:
				body = f.Body
			}
			if body == nil {
				return true
			}
			at := set.Position(n.Pos())
			if n := set.Position(body.End()).Line - at.Line + 1; n > 60 {
				t.Errorf("%v: a function of %d lines", at, n)
			}
			if n := branches(body); n > 20 {
				t.Errorf("%v: a function of %d branches", at, n)
			}
			return true
		})
		return nil
	})
	if err != nil || len(lines) < 6 {
		t.Errorf("%v, %v", lines, err)
	}
	for name, n := range lines {
		if n > 4500 {
			t.Errorf("%s has %d lines", name, n)
		}
	}
}

// branches counts conditions, loops, cases, and && and ||, but not those of functions within.
func branches(body *ast.BlockStmt) (n int) {
	ast.Inspect(body, func(node ast.Node) bool {
		switch node := node.(type) {
		case *ast.FuncLit:
			return false
		case *ast.IfStmt, *ast.ForStmt, *ast.RangeStmt:
			n++
		case *ast.CaseClause:
			if node.List != nil {
				n++
			}
		case *ast.BinaryExpr:
			if node.Op == token.LAND || node.Op == token.LOR {
				n++
			}
		}
		return true
	})
	return n
}
