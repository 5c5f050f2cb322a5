package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

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
	missing, err := walk(dir)
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
