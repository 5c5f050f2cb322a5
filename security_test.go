package penstock_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// TestEveryPromiseHasItsTests looks for the tests and files that SECURITY.md names beside each promise.
func TestEveryPromiseHasItsTests(t *testing.T) {
	functions := map[string]bool{}
	for _, files := range sources(t) {
		for _, file := range files {
			for _, d := range file.Decls {
				if f, ok := d.(*ast.FuncDecl); ok {
					functions[f.Name.Name] = true
				}
			}
		}
	}
	rows := 0
	for line := range strings.Lines(read(t, "SECURITY.md")) {
		cells := strings.Split(line, "|")
		if len(cells) != 5 || strings.Contains(line, "---") || strings.Contains(line, " promise ") {
			continue
		}
		rows++
		named := regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(cells[3], -1)
		if len(named) == 0 && strings.TrimSpace(cells[3]) != "the same" {
			t.Errorf("no test beside %s", cells[2])
		}
		for _, found := range named {
			name := found[1]
			switch _, err := os.Stat(name); {
			case strings.HasPrefix(name, "Test"), strings.HasPrefix(name, "Fuzz"):
				if !functions[name] {
					t.Errorf("there is no %s", name)
				}
			case name == "prepared_unix_test.go":
			case err != nil:
				t.Error(err)
			}
		}
	}
	if rows < 8 {
		t.Errorf("SECURITY.md has %d promises", rows)
	}
}

// decoding are packages with which one reads what others have written.
var decoding = []string{"encoding/json", "encoding/xml", "encoding/csv", "encoding/gob", "encoding/pem", "compress/", "archive/", "image/gif", "image/jpeg", "image/png", "golang.org/x/image/", "github.com/klauspost/compress/", "github.com/parquet-go/",
	"github.com/penstock-go/penstock/internal/inflate"}

// trusted are the packages that use one of them without a budget, and why.
var trusted = map[string]string{
	"dataset/idx":                     "a header of some bytes, which is compared with the size of the file",
	"dataset/objects":                 "MaxListing, and a line of an index has 64 KiB at most",
	"dataset/volume":                  "the formats have budgets of their own",
	"loader/serve":                    "encodes",
	"dataset/packed":                  "numbers are compared with the size of the file",
	"dataset/shards/internal/writing": "encodes",
	"dataset/stream":                  "files of a spool have at most 1 MiB of JSON, and tables are compared with their size",
	"gpu/selftest":                    "reads what it has written itself",
	"internal/codec/blockcode":        "decodes into blocks that the caller has, and reads each byte once",
	"internal/codec/bmp":              "takes the memory of its pixels, which MaxPixels limits, and reads each byte once",
	"internal/codec/gif":              "takes the memory of its first frame, which MaxPixels limits, and a table of 4096 codes",
	"internal/inflate":                "decodes into memory that the caller has, and each block of codes takes a step per code",
	"internal/codec/photo":            "takes the memory of its pixels, which MaxPixels limits, and its sizes are compared with the record's",
	"transform/zstd":                  "decodes into the memory of a strip or tile, which internal/codec/tiff has taken of the budget, and no further",
	"internal/codec/png":              "takes the memory of its pixels, which MaxPixels limits, and inflates no more than these",
	"internal/codec/pnm":              "takes the memory of its pixels, which MaxPixels limits, and reads each byte once",
	"internal/codec/webp":             "takes the memory of its pixels, which MaxPixels limits, and reads each byte once",
	"transform":                       "a configuration is about as large as its text, and MaxPixels limits pictures",
	"internal/authority":              "certificates of the user's own",
	"internal/bulk":                   "inflates into memory that the caller limits",
	"internal/files":                  "inflates into memory that the caller limits",
	"internal/datatest":               "reads files of tests",
	"internal/pillowtest":             "reads files of tests",
	"internal/resize":                 "reads pixels that are in memory",
	"loader":                          "the numbers of a position are about as large as their text",
	"loader/live":                     "encodes",
	"loader/remote":                   "answers have a limit each",
	"loader/share":                    "the other side is the program that started this one",
	"loader/trace":                    "encodes",
}

// TestEveryParserHasABudget fails for a package that decodes something, or has a fuzz target, and does not
// bound it with internal/budget.
func TestEveryParserHasABudget(t *testing.T) {
	const budget = "github.com/penstock-go/penstock/internal/budget"
	seen := map[string]bool{}
	for folder, files := range sources(t) {
		imports, decodes := map[string]bool{}, ""
		for name, file := range files {
			if strings.HasSuffix(name, "_test.go") {
				for _, d := range file.Decls {
					if f, ok := d.(*ast.FuncDecl); ok && strings.HasPrefix(f.Name.Name, "Fuzz") {
						decodes = "what " + f.Name.Name + " tests"
					}
				}
			} else {
				for _, spec := range file.Imports {
					imported, err := strconv.Unquote(spec.Path.Value)
					if err != nil {
						t.Fatal(err)
					}
					imports[imported] = true
				}
			}
		}
		for imported := range imports {
			for _, prefix := range decoding {
				if strings.HasPrefix(imported, prefix) {
					decodes = imported
				}
			}
		}
		switch {
		case decodes == "" || imports[budget]:
			if trusted[folder] != "" {
				t.Errorf("%s needs no exception", folder)
			}
		case trusted[folder] == "":
			t.Errorf("%s decodes (%s) without internal/budget: it may take any memory, or say here why not", folder, decodes)
		default:
			seen[folder] = true
		}
	}
	for folder := range trusted {
		if !seen[folder] {
			t.Errorf("there is no %s that needs an exception", folder)
		}
	}
}

// TestEveryFuzzTargetAsksForMemoryAndTime fails for a fuzz target that does not call
// hostile.Bounded, by itself or by a function that it calls.
func TestEveryFuzzTargetAsksForMemoryAndTime(t *testing.T) {
	asks := map[string]bool{} // functions that call it, by package and name
	calls := map[string][]string{}
	var targets []string
	for folder, files := range sources(t) {
		for name, file := range files {
			for _, d := range file.Decls {
				f, ok := d.(*ast.FuncDecl)
				if !ok || f.Body == nil {
					continue
				}
				id := folder + "." + f.Name.Name
				if strings.HasPrefix(f.Name.Name, "Fuzz") && strings.HasSuffix(name, "_test.go") {
					targets = append(targets, id)
				}
				ast.Inspect(f.Body, func(n ast.Node) bool {
					call, ok := n.(*ast.CallExpr)
					if !ok {
						return true
					}
					switch fun := call.Fun.(type) {
					case *ast.Ident:
						calls[id] = append(calls[id], folder+"."+fun.Name)
					case *ast.SelectorExpr:
						if x, ok := fun.X.(*ast.Ident); ok {
							calls[id] = append(calls[id], "internal/"+x.Name+"."+fun.Sel.Name)
							asks[id] = asks[id] || x.Name == "hostile" && fun.Sel.Name == "Bounded"
						}
					}
					return true
				})
			}
		}
	}
	if len(targets) < 40 {
		t.Fatalf("found %d fuzz targets", len(targets))
	}
	for again := true; again; {
		again = false
		for id, callees := range calls {
			if !asks[id] && slices.ContainsFunc(callees, func(c string) bool { return asks[c] }) {
				asks[id], again = true, true
			}
		}
	}
	for _, id := range slices.Sorted(slices.Values(targets)) {
		if !asks[id] {
			t.Errorf("%s does not ask hostile.Bounded", id)
		}
	}
}

// sources are the files of the library, by their folders and names.
func sources(t *testing.T) map[string]map[string]*ast.File {
	t.Helper()
	if _, err := os.Stat("examples/go.mod"); err != nil {
		t.Skipf("not the whole repository: %v", err) // but the module of the library alone
	}
	all := map[string]map[string]*ast.File{}
	err := fs.WalkDir(os.DirFS("."), ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && name != "." && (strings.HasPrefix(d.Name(), ".") || name == "internal/asm" ||
			slices.Contains([]string{"testdata", "bench", "examples", "tools"}, d.Name())):
			return fs.SkipDir
		case path.Ext(name) != ".go":
			return nil
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		folder := path.Dir(name)
		if all[folder] == nil {
			all[folder] = map[string]*ast.File{}
		}
		all[folder][path.Base(name)] = file
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}
