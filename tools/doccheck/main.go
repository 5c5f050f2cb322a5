// Command doccheck prints every exported function, method, type, constant and variable without a doc
// comment, in a folder and all folders below it. It does not check commands, tests and internal
// packages, whose documentation is not published. The methods Error and Unwrap need no comment,
// because package errors documents them.
//
//	doccheck [folder]
package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

func main() {
	root := "."
	if len(os.Args) > 1 {
		root = os.Args[1]
	}
	missing, err := walk(root)
	if err != nil {
		fmt.Fprintf(os.Stderr, "doccheck: %v\n", err)
		os.Exit(1)
	}
	for _, m := range missing {
		fmt.Println(m)
	}
	if len(missing) > 0 {
		os.Exit(1)
	}
}

// walk returns one line per undocumented name below root.
func walk(root string) ([]string, error) {
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
