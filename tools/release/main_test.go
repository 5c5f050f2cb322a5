package main

import (
	"archive/zip"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// repository makes a git repository of a library, a module below it that
// requires it, and an example.
func repository(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"LICENSE":         "free\n",
		"go.mod":          "module example.com/lib\n\ngo 1.26.0\n",
		"lib.go":          "package lib\n",
		"gpu/gpu.go":      "package gpu\n",
		"gpu/feed/go.mod": "module example.com/lib/gpu/feed\n\ngo 1.26.0\n\nrequire example.com/lib v0.0.0\n\nreplace example.com/lib => ../..\n",
		"gpu/feed/f.go":   "package feed\n",
		"examples/go.mod": "module example.com/lib/examples\n\ngo 1.26.0\n\nrequire example.com/lib v0.0.0\n\nreplace example.com/lib => ..\n",
		"untracked.go":    "package lib\n",
	} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	for _, args := range [][]string{{"init", "-q"}, {"add", "LICENSE", "go.mod", "lib.go", "gpu", "examples"}} {
		git := exec.Command("git", args...)
		git.Dir = dir
		if out, err := git.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
	}
	return dir
}

func TestAProxyHoldsEveryReleasedModuleAndNoOtherModulesFiles(t *testing.T) {
	proxy := t.TempDir()
	if err := run(repository(t), "v0.10.0", proxy); err != nil {
		t.Fatal(err)
	}
	for module, want := range map[string][]string{
		"example.com/lib":          {"LICENSE", "go.mod", "gpu/gpu.go", "lib.go"},
		"example.com/lib/gpu/feed": {"LICENSE", "f.go", "go.mod"},
	} {
		z, err := zip.OpenReader(filepath.Join(proxy, module, "@v", "v0.10.0.zip"))
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, f := range z.File {
			got = append(got, strings.TrimPrefix(f.Name, module+"@v0.10.0/"))
			if strings.HasSuffix(f.Name, "feed@v0.10.0/go.mod") {
				r, err := f.Open()
				if err != nil {
					t.Fatal(err)
				}
				text, err := io.ReadAll(r)
				if err != nil || !strings.Contains(string(text), "require example.com/lib v0.10.0\n") {
					t.Errorf("go.mod of %s: %v\n%s", module, err, text)
				}
			}
		}
		z.Close()
		slices.Sort(got)
		if !slices.Equal(got, want) {
			t.Errorf("%s holds %v, want %v", module, got, want)
		}
	}
	if _, err := os.Stat(filepath.Join(proxy, "example.com/lib/examples")); err == nil {
		t.Error("the examples are released")
	}
}

func TestAReleaseSetsTheVersionInEveryGoMod(t *testing.T) {
	dir := repository(t)
	if err := run(dir, "v0.2.0", ""); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"gpu/feed/go.mod", "examples/go.mod"} {
		text, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(text), "require example.com/lib v0.2.0\n") || !strings.Contains(string(text), "replace example.com/lib =>") {
			t.Errorf("%s:\n%s", name, text)
		}
	}
}

func TestAVersionThatNoTagCouldHaveIsAnError(t *testing.T) {
	for _, version := range []string{"0.1.0", "v0.1", "latest", ""} {
		if err := run(t.TempDir(), version, ""); err == nil {
			t.Errorf("version %q is taken", version)
		}
	}
}
