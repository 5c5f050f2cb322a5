package penstock_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestExportedNamesAreDocumented is about what is published: not commands, tests and internal packages. The methods Error
// and Unwrap need no comment, because package errors documents them.
func TestExportedNamesAreDocumented(t *testing.T) {
	missing, err := undocumentedBelow(".")
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range missing {
		t.Error(m)
	}
}

func TestUndocumentedNamesAreFound(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"a/a.go": `package a

func Bare() {}

// Told is documented.
func Told() {}

func hidden() {}

type Type struct{}

func (*Type) Method() {}

func (*Type) Error() string { return "" }

type unseen[T any] struct{}

func (unseen[T]) Method() {}

// These sizes go together.
const (
	One = 1
	Two = 2
)

var (
	Lone   = hidden
	Beside = 1 // Beside is documented.
)
`,
		"a/a_test.go":     "package a\n\nfunc InTest() {}\n",
		"internal/b/b.go": "package b\n\nfunc Internal() {}\n",
		"testdata/c.go":   "package c\n\nfunc Data() {}\n",
		"cmd/main.go":     "package main\n\nfunc Command() {}\n",
	} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	missing, err := undocumentedBelow(dir)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, line := range missing {
		_, rest, _ := strings.Cut(line, ": ")
		name, _, _ := strings.Cut(rest, " ")
		got = append(got, name)
	}
	if want := "Bare Type Method Lone"; strings.Join(got, " ") != want {
		t.Errorf("got %v, want %s", got, want)
	}
}

// undocumentedBelow returns a line for every undocumented name below root.
func undocumentedBelow(root string) ([]string, error) {
	var missing []string
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := d.Name()
		if d.IsDir() {
			hidden := path != root && strings.HasPrefix(name, ".")
			if hidden || name == "testdata" || name == "internal" {
				return fs.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
			return nil
		}
		fset := token.NewFileSet()
		f, err := parser.ParseFile(fset, path, nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		if f.Name.Name == "main" {
			return nil
		}
		for _, n := range undocumented(f) {
			missing = append(missing, fmt.Sprintf("%s: %s has no doc comment", fset.Position(n.Pos()), n.Name))
		}
		return nil
	})
	return missing, err
}

// undocumented returns the exported names of f that no comment describes. One
// comment on a group of constants or variables describes all of them.
func undocumented(f *ast.File) []*ast.Ident {
	var names []*ast.Ident
	for _, decl := range f.Decls {
		switch d := decl.(type) {
		case *ast.FuncDecl:
			if d.Doc == nil && d.Name.IsExported() && exportedReceiver(d) && !ofErrors(d) {
				names = append(names, d.Name)
			}
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				switch s := spec.(type) {
				case *ast.TypeSpec:
					// A comment on a group of types does not describe each of them.
					if s.Doc == nil && (d.Doc == nil || d.Lparen.IsValid()) && s.Name.IsExported() {
						names = append(names, s.Name)
					}
				case *ast.ValueSpec:
					if s.Doc != nil || s.Comment != nil || d.Doc != nil {
						continue
					}
					for _, n := range s.Names {
						if n.IsExported() {
							names = append(names, n)
						}
					}
				}
			}
		}
	}
	return names
}

// exportedReceiver reports whether d is a function or a method of an exported type.
func exportedReceiver(d *ast.FuncDecl) bool {
	if d.Recv == nil {
		return true
	}
	t := d.Recv.List[0].Type
	for {
		switch x := t.(type) {
		case *ast.StarExpr:
			t = x.X
		case *ast.IndexExpr:
			t = x.X
		case *ast.IndexListExpr:
			t = x.X
		case *ast.Ident:
			return x.IsExported()
		default:
			return true
		}
	}
}

// ofErrors reports whether d is a method that package errors prescribes.
func ofErrors(d *ast.FuncDecl) bool {
	return d.Recv != nil && (d.Name.Name == "Error" || d.Name.Name == "Unwrap")
}
