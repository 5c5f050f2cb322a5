// Package tests runs the Python package's tests, if there is a Python that can.
package tests

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// This test's program is also the programs that Python starts.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "numbers" {
		if err := serve(os.Args[2:]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	if len(os.Args) == 4 && os.Args[1] == "texts" {
		if err := serveTexts(os.Args[2], os.Args[3]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

// python is a Python that can run the package: PENSTOCK_PYTHON, in which it is
// installed, or else python3 with the package as a wheel would install it.
func python(t *testing.T) (path string, env []string) {
	t.Helper()
	if runtime.GOOS != "linux" {
		t.Skip("the package is for Linux")
	}
	path = os.Getenv("PENSTOCK_PYTHON")
	if path != "" {
		return path, os.Environ()
	}
	const able = "import sys, socket; assert sys.version_info >= (3, 9); import numpy"
	path, err := exec.LookPath("python3")
	if err != nil {
		t.Skip(err)
	}
	if out, err := exec.Command(path, "-c", able).CombinedOutput(); err != nil {
		lines := strings.Split(strings.TrimSpace(string(out)), "\n")
		t.Skipf("%s cannot run the package: %s", path, lines[len(lines)-1])
	}
	packages := t.TempDir()
	build := exec.Command("go", "build", "-o", filepath.Join(packages, "penstock", "penstock-images"), "../images")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	sources, err := filepath.Glob("../penstock/*.py")
	if err != nil || len(sources) < 3 {
		t.Fatal(sources, err)
	}
	for _, name := range sources {
		source, err := filepath.Abs(name)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(source, filepath.Join(packages, "penstock", filepath.Base(name))); err != nil {
			t.Fatal(err)
		}
	}
	return path, append(os.Environ(), "PYTHONPATH="+packages)
}

// buildREADME builds the program that README.md shows.
func buildREADME(t *testing.T, path string) {
	t.Helper()
	text, err := os.ReadFile("../README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, program, _ := strings.Cut(string(text), "```go\n")
	program, _, _ = strings.Cut(program, "```\n")
	source := filepath.Join(t.TempDir(), "main.go")
	if err := os.WriteFile(source, []byte(program), 0o666); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("go", "build", "-o", path, source).CombinedOutput(); err != nil {
		t.Fatalf("README.md: %v: %s", err, out)
	}
}

func TestPython(t *testing.T) {
	path, env := python(t)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	expected := map[string][]string{}
	for _, arguments := range []string{"-samples=100", "-samples=101 -shuffle=true -seed=7", "-samples=30 -batch_size=4 -drop_last=true"} {
		s, err := parsed(strings.Fields(arguments))
		if err != nil {
			t.Fatal(err)
		}
		for epoch := range 3 {
			sums, err := s.sums(t.Context(), epoch)
			if err != nil {
				t.Fatal(err)
			}
			expected[fmt.Sprintf("%s, epoch %d", arguments, epoch)] = sums
		}
	}
	text, err := json.Marshal(expected)
	if err != nil {
		t.Fatal(err)
	}
	squares := filepath.Join(t.TempDir(), "squares")
	buildREADME(t, squares)
	run(t, path, append(env, "PENSTOCK_NUMBERS="+self, "PENSTOCK_SQUARES="+squares, "PENSTOCK_EXPECTED="+string(text)), "test_penstock.py")
}

// run runs a script of this folder in an empty one.
func run(t *testing.T, path string, env []string, script string) {
	t.Helper()
	script, err := filepath.Abs(script)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), path, script, "-v")
	cmd.Dir = t.TempDir()
	cmd.Env = append(env, "PYTHONDONTWRITEBYTECODE=1")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	t.Logf("%s", out)
}

var pipelines = flag.Int("pipelines", 60, "how many random pipelines of transforms TestDataLoader compares with torchvision's")

// withTorchvision runs a script where there is PyTorch with torchvision.
func withTorchvision(t *testing.T, script string) {
	t.Helper()
	path, env := python(t)
	if out, err := exec.Command(path, "-c", "import torch, torchvision").CombinedOutput(); err != nil {
		lines := strings.Split(strings.TrimSpace(string(out)), "\n")
		t.Skipf("%s has no PyTorch with torchvision: %s", path, lines[len(lines)-1])
	}
	run(t, path, append(env, fmt.Sprintf("PENSTOCK_PIPELINES=%d", *pipelines)), script)
}

// TestDataLoader compares penstock.DataLoader with torch's.
func TestDataLoader(t *testing.T) { withTorchvision(t, "test_dataloader.py") }

// TestMistakes sees what a user sees.
func TestMistakes(t *testing.T) { withTorchvision(t, "test_mistakes.py") }

// TestDistributed kills two processes that train together.
func TestDistributed(t *testing.T) { withTorchvision(t, "test_distributed.py") }

// TestTrainers runs the programs of trainers.md.
func TestTrainers(t *testing.T) { withTorchvision(t, "test_trainers.py") }

// TestReferences runs the scripts of references, and sees that README.md shows what changes in them.
func TestReferences(t *testing.T) { withTorchvision(t, "test_references.py") }
