package transform_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/penstock-go/penstock/internal/testenv"
)

// TestCallsOfTheMigrationTableCompile type-checks the new calls of the table in CHANGELOG.md.
func TestCallsOfTheMigrationTableCompile(t *testing.T) {
	testenv.OneGoroutine(t)
	text, err := os.ReadFile("../CHANGELOG.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, found := strings.Cut(string(text), "| before | now |\n|---|---|\n")
	if !found {
		t.Fatal("CHANGELOG.md has no table of calls")
	}
	table, _, _ = strings.Cut(table, "\n\n")
	var calls []string
	for _, row := range strings.Split(table, "\n") {
		cells := strings.Split(strings.Trim(row, "| "), " | ")
		if len(cells) != 2 {
			t.Fatalf("row %q has %d cells", row, len(cells))
		}
		for _, code := range regexp.MustCompile("`[^`]+`").FindAllString(cells[1], -1) {
			calls = append(calls, strings.Trim(code, "`"))
		}
	}
	if len(calls) < 30 {
		t.Fatalf("the table has only %d calls", len(calls))
	}
	program := "package main\n\nimport (\n\t\"github.com/penstock-go/penstock/dataset\"\n\t. \"github.com/penstock-go/penstock/transform\"\n)\n\n" +
		"var t Transform\n\nvar _ dataset.Spec\n\nfunc main() {\n\t_ = []any{\n\t\t" + strings.Join(calls, ",\n\t\t") + ",\n\t}\n}\n"
	file := filepath.Join(t.TempDir(), "main.go")
	if err := os.WriteFile(file, []byte(program), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.CommandContext(t.Context(), "go", "vet", file).CombinedOutput(); err != nil {
		t.Errorf("%v\n%s\n%s", err, out, program)
	}
}
