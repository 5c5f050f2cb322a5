package main

import (
	"go/ast"
	"go/build"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func check(t *testing.T, source string) *types.Package {
	t.Helper()
	fset := token.NewFileSet()
	f, err := parser.ParseFile(fset, "p.go", source, 0)
	if err != nil {
		t.Fatal(err)
	}
	if root, err := exec.Command("go", "env", "GOROOT").Output(); err == nil {
		build.Default.GOROOT = strings.TrimSpace(string(root)) // which a binary built with -trimpath does not know
	}
	config := types.Config{Importer: importer.ForCompiler(fset, "source", nil)}
	pkg, err := config.Check("example.com/p", fset, []*ast.File{f}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return pkg
}

func TestListingHasEveryExportedNameAndNothingElse(t *testing.T) {
	got := listing(check(t, `package p
import "io"
const Size = 3
var Err error
func F[T any](w io.Writer, n int) (T, error) { panic(0) }
func hidden() {}
type Kind uint8
func (Kind) String() string { return "" }
type S struct { A int; b string; io.Reader }
func (*S) M(x S) {}
func (S) m() {}
type I interface { Do(int) error; sealed() }
type Number interface { int | float64 }
type Same = S
type private struct{ X int }
`))
	want := []string{
		"const Size untyped int = 3", "var Err error", "func F[T any](w io.Writer, n int) (T, error)",
		"type Kind uint8", "func (Kind).String() string",
		"type S struct", "type S struct, A int", "type S struct, Reader io.Reader", "func (*S).M(x S)",
		"func (S).Read(p []byte) (n int, err error)",
		"type I interface, sealed", "type I interface, Do(int) error",
		"type Number interface", "type Number interface, int | float64", "type Same = S",
	}
	for i := range want {
		want[i] = "example.com/p: " + want[i]
	}
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func TestAChangedSurfaceIsAnError(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("GOWORK", "off")
	write("go.mod", "module example.com/p\n\ngo 1.26.0\n")
	write("p.go", "package p\n\nfunc F() {}\n")
	kept := filepath.Join(dir, "api.txt")
	if err := run(kept, []string{dir}, true); err != nil {
		t.Fatal(err)
	}
	if err := run(kept, []string{dir}, false); err != nil {
		t.Errorf("the same surface: %v", err)
	}
	write("p.go", "package p\n\nfunc F(n int) {}\n")
	if err := run(kept, []string{dir}, false); err == nil || !strings.HasPrefix(err.Error(), "2 lines differ") {
		t.Errorf("a changed function: got %v, want 2 lines", err)
	}
}
