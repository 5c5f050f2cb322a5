package main

import (
	"archive/zip"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestAProgramFindsWhatItsTargetRefuses compiles a target that fails for one input alone.
func TestAProgramFindsWhatItsTargetRefuses(t *testing.T) {
	if err := exec.Command("clang++", "--version").Run(); err != nil {
		t.Skipf("no clang++: %v", err)
	}
	folder, out := t.TempDir(), t.TempDir()
	for name, text := range map[string]string{
		"go.mod":         "module example.org/words\n\ngo 1.26\n",
		"words.go":       "package words\n\nfunc ok(word string, n int) bool { return word != \"pen\" || n != 7 }\n",
		"export_test.go": "package words\n\nvar OK = ok\n",
		"words_test.go": `package words_test

import (
	"os"
	"testing"

	"example.org/words"
)

func FuzzWords(f *testing.F) {
	seed, err := os.ReadFile("testdata/seed")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(string(seed), 7)
	f.Fuzz(func(t *testing.T, word string, n int) {
		if !words.OK(word, n) {
			t.Error("that word")
		}
	})
}
`,
		"testdata/seed": "pin",
	} {
		path := filepath.Join(folder, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	t.Chdir(folder)
	t.Setenv("GOFLAGS", "")
	t.Setenv("GOWORK", "off")
	if err := compile(".", "FuzzWords", out); err != nil {
		if strings.Contains(err.Error(), "libclang_rt.fuzzer") {
			t.Skipf("clang without libFuzzer: %v", err)
		}
		t.Fatal(err)
	}
	seeds, err := zip.OpenReader(filepath.Join(out, "._FuzzWords_seed_corpus.zip"))
	if err != nil {
		t.Fatal(err)
	}
	defer seeds.Close()
	corpus := t.TempDir()
	if err := os.CopyFS(corpus, seeds); err != nil {
		t.Fatal(err)
	}
	c := exec.Command(filepath.Join(out, "._FuzzWords"), "-runs=2000000", "-max_total_time=60", corpus)
	c.Dir = t.TempDir() // for the input that it finds
	text, err := c.CombinedOutput()
	if err == nil || !strings.Contains(string(text), "that word") {
		t.Errorf("got %v, want the word found:\n%s", err, text)
	}
}
