// Ossfuzz compiles a fuzz target of a package into a program for libFuzzer, as OSS-Fuzz runs them.
//
//	ossfuzz -out DIR FOLDER FuzzTarget
//
// It writes DIR/NAME, the program, DIR/NAME_seed_corpus.zip, the target's seeds, and DIR/NAME_files, a
// copy of the package's testdata. It runs in the folder of the package's module. CXX links with
// CXXFLAGS and LIB_FUZZING_ENGINE; by default that is clang++ -fsanitize=fuzzer.
//
// The tests of a package are compiled as they are. An overlay of go build gives them the names of
// files that are not tests, and a driver stands for the fuzzing engine of package testing.
package main

import (
	"archive/zip"
	_ "embed"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"text/template"
)

//go:embed driver.go.txt
var driver string

func main() {
	out := flag.String("out", ".", "folder of the program")
	flag.Parse()
	if flag.NArg() != 2 {
		fmt.Fprintln(os.Stderr, "usage: ossfuzz -out DIR FOLDER FuzzTarget")
		os.Exit(2)
	}
	if err := compile(flag.Arg(0), flag.Arg(1), *out); err != nil {
		fmt.Fprintln(os.Stderr, "ossfuzz:", err)
		os.Exit(1)
	}
}

// A listing is what go list says of a package.
type listing struct {
	Dir, ImportPath           string
	TestGoFiles, XTestGoFiles []string
}

func compile(folder, target, out string) error {
	text, err := exec.Command("go", "list", "-json=Dir,ImportPath,TestGoFiles,XTestGoFiles", "./"+folder).Output()
	if err != nil {
		return fmt.Errorf("go list %s: %w", folder, err)
	}
	var l listing
	if err := json.Unmarshal(text, &l); err != nil {
		return err
	}
	tmp, err := os.MkdirTemp("", "ossfuzz")
	if err != nil {
		return err
	}
	defer os.RemoveAll(tmp)
	if out, err = filepath.Abs(out); err != nil {
		return err
	}
	name := strings.ReplaceAll(filepath.ToSlash(filepath.Clean(folder)), "/", "_") + "_" + target
	overlay, err := overlaid(l, target, tmp, name+"_files")
	if err != nil {
		return err
	}
	program := filepath.Join(l.Dir, "zzfuzz", "zzmain")
	if err := os.MkdirAll(program, 0o777); err != nil { // cgo runs in it
		return err
	}
	defer os.RemoveAll(filepath.Dir(program))
	build := func(args ...string) error {
		c := exec.Command("go", append(append([]string{"build", "-overlay", overlay}, args...), l.ImportPath+"/zzfuzz/zzmain")...)
		c.Env = append(os.Environ(), "CGO_ENABLED=1")
		return run(c)
	}
	seeds := filepath.Join(tmp, "seeds")
	if err := build("-o", seeds); err != nil {
		return err
	}
	archive := filepath.Join(tmp, "target.a")
	if err := build("-buildmode=c-archive", "-tags=libfuzzer", "-gcflags=all=-d=libfuzzer", "-gcflags=runtime/cgo=-d=libfuzzer=0", "-gcflags=syscall=-d=libfuzzer=0", "-o", archive); err != nil {
		return err
	}
	if err := run(exec.Command(or("CXX", "clang++"), append(append(strings.Fields(os.Getenv("CXXFLAGS")), strings.Fields(or("LIB_FUZZING_ENGINE", "-fsanitize=fuzzer"))...),
		archive, "-o", filepath.Join(out, name))...)); err != nil {
		return err
	}
	if _, err := os.Stat(filepath.Join(l.Dir, "testdata")); err == nil {
		if err := os.CopyFS(filepath.Join(out, name+"_files", "testdata"), os.DirFS(filepath.Join(l.Dir, "testdata"))); err != nil {
			return err
		}
	}
	folderOfSeeds := filepath.Join(tmp, "corpus")
	if err := os.Mkdir(folderOfSeeds, 0o777); err != nil {
		return err
	}
	write := exec.Command(seeds, folderOfSeeds)
	write.Dir = l.Dir
	if err := run(write); err != nil {
		return err
	}
	return zipped(filepath.Join(out, name+"_seed_corpus.zip"), folderOfSeeds)
}

// overlaid writes the overlay's description. The tests of the package itself become files of it,
// those outside become a package below it, and the driver a program below that.
func overlaid(l listing, target, tmp, files string) (string, error) {
	replace := map[string]string{}
	declared := false
	add := func(names []string, folder string) error {
		for _, name := range names {
			path := filepath.Join(l.Dir, name)
			text, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			declared = declared || strings.Contains(string(text), "func "+target+"(")
			replace[filepath.Join(l.Dir, folder, "zz"+strings.TrimSuffix(name, "_test.go")+"_.go")] = path
		}
		return nil
	}
	if err := add(l.TestGoFiles, ""); err != nil {
		return "", err
	}
	imported := l.ImportPath
	if !declared {
		imported += "/zzfuzz"
	}
	if err := add(l.XTestGoFiles, "zzfuzz"); err != nil {
		return "", err
	}
	if !declared {
		return "", fmt.Errorf("%s has no %s", l.ImportPath, target)
	}
	program, err := os.Create(filepath.Join(tmp, "main.go"))
	if err != nil {
		return "", err
	}
	defer program.Close()
	if err := template.Must(template.New("driver").Parse(driver)).Execute(program, struct{ Import, Func, Files string }{imported, target, files}); err != nil {
		return "", err
	}
	replace[filepath.Join(l.Dir, "zzfuzz", "zzmain", "main.go")] = program.Name()
	text, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return "", err
	}
	overlay := filepath.Join(tmp, "overlay.json")
	return overlay, os.WriteFile(overlay, text, 0o666)
}

func zipped(name, folder string) error {
	f, err := os.Create(name)
	if err != nil {
		return err
	}
	defer f.Close()
	z := zip.NewWriter(f)
	if err := z.AddFS(os.DirFS(folder)); err != nil {
		return err
	}
	return z.Close()
}

// run runs a command, whose output is part of the error.
func run(c *exec.Cmd) error {
	if text, err := c.CombinedOutput(); err != nil {
		return fmt.Errorf("%v: %w\n%s", c.Args, err, text)
	}
	return nil
}

func or(variable, otherwise string) string {
	if v := os.Getenv(variable); v != "" {
		return v
	}
	return otherwise
}
