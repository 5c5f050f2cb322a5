package penstock_test

import (
	"archive/tar"
	"compress/gzip"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"io/fs"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"
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

// module is the path of the library, before the path of a folder.
const module = "github.com/penstock-go/penstock/"

// decoding are packages with which one reads what others have written.
var decoding = []string{"encoding/json", "encoding/xml", "encoding/csv", "encoding/gob", "encoding/pem", "encoding/binary", "compress/", "archive/", "image/gif", "image/jpeg", "image/png", "golang.org/x/image/", "github.com/klauspost/compress/", "github.com/parquet-go/",
	module + "internal/inflate"}

// trusted are the packages that use one of them without a budget, and why.
var trusted = map[string]string{
	"dataset":                           "numbers that a cache itself has put into memory",
	"dataset/classic":                   "sizes are compared with those of the files, and pickles have a budget",
	"dataset/idx":                       "a header of some bytes, which is compared with the size of the file",
	"dataset/jsonl":                     "a line is a part of the file, and its object is about as large; the index is compared with the size of the file",
	"dataset/objects":                   "MaxListing, and a line of an index has 64 KiB at most",
	"internal/videofile":                "an index is about as large as its text, and the packets that ffprobe lists are no more than the bytes of the file",
	"dataset/shards/parquet/lerobot":    "descriptions are about as large as their text, of which 256 MiB are read, and package parquet reads the rest",
	"dataset/volume":                    "the formats have budgets of their own",
	"dataset/volume/internal/metaimage": "lines of package array have one",
	"dataset/volume/internal/nrrd":      "lines of package array have one",
	"dataset/volume/internal/nifti":     "a header has 540 bytes at most, and package array reads the values",
	"loader/serve":                      "encodes",
	"dataset/packed":                    "numbers are compared with the size of the file",
	"dataset/stream":                    "files of a spool have at most 1 MiB of JSON, and tables are compared with their size",
	"internal/codec/blockcode":          "decodes into blocks that the caller has, and reads each byte once",
	"internal/codec/bmp":                "takes the memory of its pixels, which MaxPixels limits, and reads each byte once",
	"internal/codec/gif":                "takes the memory of its first frame, which MaxPixels limits, and a table of 4096 codes",
	"internal/inflate":                  "decodes into memory that the caller has, and each block of codes takes a step per code",
	"internal/codec/photo":              "takes the memory of its pixels, which MaxPixels limits, and its sizes are compared with the record's",
	"transform/zstd":                    "decodes into the memory of a strip or tile, which internal/codec/tiff has taken of the budget, and no further",
	"internal/codec/png":                "takes the memory of its pixels, which MaxPixels limits, and inflates no more than these",
	"internal/codec/pnm":                "takes the memory of its pixels, which MaxPixels limits, and reads each byte once",
	"internal/codec/webp":               "takes the memory of its pixels, which MaxPixels limits, and of 16 times as many for the frames of an animation, and reads each byte once",
	"transform":                         "MaxPixels limits pictures",
	"transform/presets":                 "a configuration is about as large as its text",
	"internal/authority":                "certificates of the user's own",
	"internal/bulk":                     "inflates into memory that the caller limits",
	"internal/files":                    "inflates into memory that the caller limits",
	"internal/datatest":                 "reads files of tests",
	"internal/pillowtest":               "reads files of tests",
	"internal/resize":                   "reads pixels that are in memory",
	"loader":                            "the numbers of a position are about as large as their text",
	"loader/live":                       "encodes",
	"loader/remote":                     "answers have a limit each",
	"loader/share":                      "the other side is the program that started this one",
	"loader/trace":                      "encodes",
	"dataset/objects/cache":             "16 bytes, and blocks of a length that is asked for",
	"internal/encoding":                 "puts numbers into memory that the caller has",
	"internal/npy":                      "a header has 64 KiB at most, and no more numbers than it has bytes",
	"loader/internal/plan":              "encodes",
	"sampler":                           "encodes",
	"transform/sheet":                   "draws and encodes",
	"transform/internal/program":        "steps are about as large as their text, and a list has 1,000 at most",
	"transform/internal/raster":         "computes with pixels that are in memory",
	"transform/internal/source":         "MaxPixels limits pictures",
	"transform/internal/engine":         "computes with pixels that are in memory",
}

// TestEveryParserHasABudget fails for a package that decodes something, or has a fuzz target, and does not
// take from a budget of internal/budget.
func TestEveryParserHasABudget(t *testing.T) {
	seen := map[string]bool{}
	for folder, files := range sources(t) {
		decodes, takes := "", false
		for name, file := range files {
			if strings.HasSuffix(name, "_test.go") {
				for _, target := range targets(file) {
					decodes = "what " + target + " tests"
				}
				continue
			}
			imported := imports(file)
			for _, prefix := range decoding {
				if slices.ContainsFunc(imported, func(path string) bool { return strings.HasPrefix(path, prefix) }) {
					decodes = prefix
				}
			}
			ast.Inspect(file, func(n ast.Node) bool {
				call, ok := n.(*ast.CallExpr)
				if !ok {
					return true
				}
				f, ok := call.Fun.(*ast.SelectorExpr)
				takes = takes || ok && slices.Contains([]string{"Memory", "Work", "Enter"}, f.Sel.Name)
				return true
			})
		}
		carries := false
		for name, file := range files {
			carries = carries || !strings.HasSuffix(name, "_test.go") && slices.Contains(imports(file), module+"internal/budget")
		}
		switch {
		case decodes == "" || carries && takes:
			if trusted[folder] != "" {
				t.Errorf("%s needs no exception", folder)
			}
		case trusted[folder] == "":
			t.Errorf("%s decodes (%s) and takes nothing from a budget of internal/budget: it may take any memory, or say here why not", folder, decodes)
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

// TestEveryFuzzTargetAsksForMemoryAndTime fails for a fuzz target that does not call hostile.Bounded, by
// itself or by a function that it calls.
func TestEveryFuzzTargetAsksForMemoryAndTime(t *testing.T) {
	all := sources(t)
	asks := callers(all, func(of, function string) bool { return of == "hostile" && function == "Bounded" })
	n := 0
	for folder, files := range all {
		for _, file := range files {
			for _, target := range targets(file) {
				if n++; !asks[folder+"."+target] {
					t.Errorf("%s: %s does not ask hostile.Bounded", folder, target)
				}
			}
		}
	}
	if n < 40 {
		t.Errorf("found %d fuzz targets", n)
	}
}

// withoutKernels are fuzz targets of packages above kernels that run none, and why.
var withoutKernels = map[string]string{
	"dataset/packed.FuzzPacked": "records of photos are passed on as they are",
	"transform.FuzzList":        "reads and compiles steps, and has no image",
}

// TestEveryFuzzTargetAsksPortableCode fails for a fuzz target of a package above kernels in assembly that does
// not compare them with portable code. Packages of kernels compare each kernel by itself.
func TestEveryFuzzTargetAsksPortableCode(t *testing.T) {
	all := sources(t)
	asks := callers(all, func(_, function string) bool { return function == "Portable" })
	above := map[string]bool{} // folders of packages that run kernels of others
	kernels := kernels(t)
	for again := true; again; {
		again = false
		for folder, files := range all {
			for name, file := range files {
				if strings.HasSuffix(name, "_test.go") || above[folder] {
					continue
				}
				above[folder] = slices.ContainsFunc(imports(file), func(path string) bool {
					path = strings.TrimPrefix(path, module)
					return above[path] || slices.Contains(kernels, path)
				})
				again = again || above[folder]
			}
		}
	}
	n := 0
	for folder, files := range all {
		for _, file := range files {
			for _, target := range targets(file) {
				if !above[folder] || slices.Contains(kernels, folder) {
					continue
				}
				n++
				if id := folder + "." + target; asks[id] == (withoutKernels[id] != "") {
					t.Errorf("%s: compares kernels with portable code: %v; said to run none: %q", id, asks[id], withoutKernels[id])
				}
			}
		}
	}
	if n < 5 {
		t.Errorf("found %d fuzz targets above kernels", n)
	}
}

// TestKernelsAreTestedBetweenForbiddenPages fails for a package with assembly whose tests do not run
// guard.Kernels, which wants a test of each kernel.
func TestKernelsAreTestedBetweenForbiddenPages(t *testing.T) {
	all := sources(t)
	asks := callers(all, func(of, function string) bool { return of == "guard" && function == "Kernels" })
	for _, folder := range kernels(t) {
		if !asks[folder+".TestKernelsStayWithinTheirMemory"] {
			t.Errorf("%s has kernels and no TestKernelsStayWithinTheirMemory that runs guard.Kernels", folder)
		}
	}
}

// TestEveryFuzzTargetHasACorpus fails for a fuzz target without inputs of earlier runs.
func TestEveryFuzzTargetHasACorpus(t *testing.T) {
	for folder, files := range sources(t) {
		var names []string
		for _, file := range files {
			names = append(names, targets(file)...)
		}
		if len(names) == 0 {
			continue
		}
		inputs := corpus(t, folder+"/testdata/corpus.tar.gz")
		for _, target := range names {
			if inputs[target] == 0 {
				t.Errorf("%s: testdata/corpus.tar.gz has nothing for %s: KEEP=1 tools/fuzz 10m %s", folder, target, folder)
			}
		}
	}
}

// corpus is how many inputs of each target an archive has.
func corpus(t *testing.T, name string) map[string]int {
	t.Helper()
	file, err := os.Open(name)
	if err != nil {
		t.Error(err)
		return nil
	}
	defer file.Close()
	z, err := gzip.NewReader(file)
	if err != nil {
		t.Fatal(name, err)
	}
	inputs := map[string]int{}
	for archive := tar.NewReader(z); ; {
		h, err := archive.Next()
		if err == io.EOF {
			return inputs
		}
		if err != nil {
			t.Fatal(name, err)
		}
		if target, _, ok := strings.Cut(h.Name, "/"); ok {
			inputs[target]++
		}
	}
}

// targets are the fuzz targets of a file.
func targets(file *ast.File) []string {
	var names []string
	for _, d := range file.Decls {
		f, ok := d.(*ast.FuncDecl)
		if !ok || f.Recv != nil || !strings.HasPrefix(f.Name.Name, "Fuzz") || len(f.Type.Params.List) != 1 {
			continue
		}
		if p, ok := f.Type.Params.List[0].Type.(*ast.StarExpr); ok {
			if s, ok := p.X.(*ast.SelectorExpr); ok && s.Sel.Name == "F" {
				names = append(names, f.Name.Name)
			}
		}
	}
	return names
}

// imports are the paths that a file imports.
func imports(file *ast.File) []string {
	var paths []string
	for _, spec := range file.Imports {
		paths = append(paths, strings.Trim(spec.Path.Value, `"`))
	}
	return paths
}

// kernels are the folders with assembly.
func kernels(t *testing.T) []string {
	t.Helper()
	var folders []string
	for folder := range sources(t) {
		if files, err := fs.Glob(os.DirFS(folder), "*.s"); err != nil {
			t.Fatal(err)
		} else if len(files) > 0 {
			folders = append(folders, folder)
		}
	}
	if len(folders) == 0 {
		t.Error("found no assembly")
	}
	return folders
}

// callers are the functions, as folder.name, that call one that is asked for, by themselves or by functions
// that they call.
func callers(all map[string]map[string]*ast.File, asked func(of, function string) bool) map[string]bool {
	asks, calls := map[string]bool{}, map[string][]string{}
	for folder, files := range all {
		for _, file := range files {
			folders := map[string]string{} // of the packages of this library, by their names
			for _, path := range imports(file) {
				if in, ok := strings.CutPrefix(path, module); ok {
					folders[in[strings.LastIndex(in, "/")+1:]] = in
				}
			}
			for _, d := range file.Decls {
				f, ok := d.(*ast.FuncDecl)
				if !ok || f.Body == nil {
					continue
				}
				id := folder + "." + f.Name.Name
				ast.Inspect(f.Body, func(n ast.Node) bool {
					call, ok := n.(*ast.CallExpr)
					if !ok {
						return true
					}
					switch fun := call.Fun.(type) {
					case *ast.Ident:
						calls[id] = append(calls[id], folder+"."+fun.Name)
					case *ast.SelectorExpr:
						of := ""
						if x, ok := fun.X.(*ast.Ident); ok {
							of = x.Name
							calls[id] = append(calls[id], folders[of]+"."+fun.Sel.Name)
						}
						asks[id] = asks[id] || asked(of, fun.Sel.Name)
					}
					return true
				})
			}
		}
	}
	for again := true; again; {
		again = false
		for id, callees := range calls {
			if !asks[id] && slices.ContainsFunc(callees, func(c string) bool { return asks[c] }) {
				asks[id], again = true, true
			}
		}
	}
	return asks
}

// sources are the files of the library, by their folders and names.
func sources(t *testing.T) map[string]map[string]*ast.File {
	t.Helper()
	if _, err := os.Stat("examples/go.mod"); err != nil {
		t.Skipf("not the whole repository: %v", err) // but the module of the library alone
	}
	all, err := parsed()
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// parsed parses the files once for all tests.
var parsed = sync.OnceValues(func() (map[string]map[string]*ast.File, error) {
	all := map[string]map[string]*ast.File{}
	err := fs.WalkDir(os.DirFS("."), ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && name != "." && (strings.HasPrefix(d.Name(), ".") ||
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
	return all, err
})
