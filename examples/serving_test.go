package examples_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// served is a program around the code of docs/serving.md, with what the page takes for granted.
const served = `package main

import (
	"context"
	"errors"
	"io"
	"net/http"
	"os"

	"github.com/gomlx/gomlx/core/tensors"
	"github.com/penstock-go/penstock/transform"
	"github.com/penstock-go/penstock/transform/presets"
	ort "github.com/yalue/onnxruntime_go"
)

var (
	ctx          context.Context
	config, file []byte
	model        *transform.Compiled
	batch        []float32
	row, rows    int
	run          func(values []float32, height, width int) error

	_ = []any{errors.Is, io.ReadAll, http.Error, os.ReadFile, tensors.FromFlatDataAndDimensions[float32], presets.HuggingFace, ort.NewTensor[float32]}
)

func main() {}
`

func TestTheCodeOfTheServingPageCompiles(t *testing.T) {
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip(err)
	}
	if out, err := exec.Command("go", "env", "CGO_ENABLED").Output(); err != nil || strings.TrimSpace(string(out)) != "1" {
		t.Skipf("the binding of ONNX Runtime needs cgo: CGO_ENABLED is %q, %v", out, err)
	}
	page, err := os.ReadFile("../docs/serving.md")
	if err != nil {
		t.Fatal(err)
	}
	program := served
	blocks := strings.Split(string(page), "```go\n")[1:]
	if len(blocks) < 5 {
		t.Fatalf("%d blocks of code", len(blocks))
	}
	for i, block := range blocks {
		code, _, _ := strings.Cut(block, "```")
		program += fmt.Sprintf("\nfunc block%d(w http.ResponseWriter, r *http.Request) (err error) {\n\tif run != nil {\n%s\n\t}\n\treturn err\n}\n", i, code)
	}
	source := filepath.Join(t.TempDir(), "main.go")
	if err := os.WriteFile(source, []byte(program), 0o666); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.CommandContext(t.Context(), "go", "vet", source).CombinedOutput(); err != nil {
		t.Errorf("%v\n%s\n%s", err, out, program)
	}
}
