package transform_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// ours are the steps that torchvision does not have.
var ours = map[string]bool{"Apply": true, "BGR": true, "LetterBox": true, "PadTo": true, "Patches": true, "Preset": true, "Rescale": true, "ResizeFunc": true, "SizesFunc": true, "TileFunc": true, "Tiles": true, "Views": true}

// TestStepsAreDocumented reads that a step's documentation names torchvision, for its class and its defaults, and all
// options that the step takes. The documentation of the package says which shapes and dtypes steps see.
func TestStepsAreDocumented(t *testing.T) {
	docs := map[string]string{}
	steps := 0
	for _, f := range parsed(t, ".") {
		for _, d := range f.Decls {
			f, ok := d.(*ast.FuncDecl)
			if !ok || f.Recv != nil || !f.Name.IsExported() {
				continue
			}
			name := f.Name.Name
			docs[name] = f.Doc.Text()
			if !makesStep(f) {
				continue
			}
			steps++
			if !ours[name] && !strings.Contains(strings.ToLower(docs[name]), "torchvision") {
				t.Errorf("%s does not name torchvision", name)
			}
		}
	}
	if steps < 50 {
		t.Errorf("%d steps are read", steps)
	}
	for _, f := range parsed(t, "internal/program") {
		ast.Inspect(f, func(n ast.Node) bool {
			kind, ok := n.(*ast.CompositeLit)
			if !ok || !isNamed(kind.Type, "Kind") {
				return true
			}
			name, takes := "", []ast.Expr(nil)
			for _, e := range kind.Elts {
				switch e := e.(*ast.KeyValueExpr); e.Key.(*ast.Ident).Name {
				case "name":
					if text, ok := e.Value.(*ast.BasicLit); ok {
						name, _ = strconv.Unquote(text.Value)
					}
				case "takes":
					if list, ok := e.Value.(*ast.CompositeLit); ok {
						takes = list.Elts
					}
				}
			}
			for _, option := range takes {
				if o, ok := option.(*ast.Ident); ok && o.Name != "Rows" && !strings.Contains(docs[name], o.Name) {
					t.Errorf("the documentation of %s does not name the option %s", name, o.Name)
				}
			}
			return true
		})
	}
}

// makesStep reports whether a function returns a Step or a BatchStep.
func makesStep(f *ast.FuncDecl) bool {
	r := f.Type.Results
	return r != nil && len(r.List) == 1 && (isNamed(r.List[0].Type, "Step") || isNamed(r.List[0].Type, "BatchStep"))
}

func isNamed(e ast.Expr, name string) bool {
	switch e := e.(type) {
	case *ast.Ident:
		return e.Name == name
	case *ast.SelectorExpr:
		return e.Sel.Name == name
	}
	return false
}

// parsed are the files of a folder that are not tests.
func parsed(t *testing.T, folder string) (list []*ast.File) {
	names, err := filepath.Glob(filepath.Join(folder, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, f)
	}
	return list
}
