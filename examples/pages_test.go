package examples_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// served is a program around the code of docs/serving.md, with what the page takes for granted.
const served = `package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"

	"github.com/gomlx/gomlx/core/tensors"
	files "github.com/penstock-go/penstock/dataset/audio"
	"github.com/penstock-go/penstock/transform"
	"github.com/penstock-go/penstock/transform/audio"
	"github.com/penstock-go/penstock/transform/presets"
	ort "github.com/yalue/onnxruntime_go"
)

var (
	ctx          context.Context
	config, file []byte
	model        *transform.Compiled
	whisper      *audio.Compiled
	batch        []float32
	row, rows    int
	run          func(values []float32, height, width int) error

	_ = []any{errors.Is, fmt.Errorf, files.Decode, audio.Compile, io.ReadAll, http.Error, os.ReadFile, tensors.FromFlatDataAndDimensions[float32], presets.HuggingFace, ort.NewTensor[float32]}
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
	blocks := codeOf(t, "serving.md")
	if len(blocks) < 8 {
		t.Fatalf("%d blocks of code", len(blocks))
	}
	vet(t, served, blocks)
}

// heard is what the code of docs/audio.md takes for granted.
const heard = `package main

import (
	"context"
	"net/http"
	"time"

	"github.com/penstock-go/penstock/dataset"
	files "github.com/penstock-go/penstock/dataset/audio"
	"github.com/penstock-go/penstock/transform/audio"
)

var (
	folder   dataset.Dataset
	samples  []float32
	ctx      context.Context
	features *audio.Compiled
	run      func()

	_ = []any{time.Second, files.Decode, audio.Compile}
)

func main() {}
`

// TestTheCodeOfTheSoundPageRuns: its whole program, with the project's own clips in a folder speech. The other blocks compile.
func TestTheCodeOfTheSoundPageRuns(t *testing.T) {
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip(err)
	}
	blocks := codeOf(t, "audio.md")
	if len(blocks) < 3 {
		t.Fatalf("%d blocks of code", len(blocks))
	}
	vet(t, heard, blocks[1:])

	place := t.TempDir()
	if err := os.CopyFS(filepath.Join(place, "speech"), os.DirFS("speech/clips")); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(filepath.Join(place, "speech/low/5.flac")); err != nil { // the damaged one
		t.Fatal(err)
	}
	out, err := output(t, blocks[0], place)
	spec, _, _ := strings.Cut(out, "\n")
	if err != nil || !strings.Contains(blocks[0], "// "+spec+"\n") || strings.Count(out, "4 clips of the classes [") != 3 {
		t.Errorf("%v, want what the page says, and three batches of 4 clips:\n%s", err, out)
	}
}

// TestTheProgramOfTheClipsPageRuns with the dataset of package lerobot.
func TestTheProgramOfTheClipsPageRuns(t *testing.T) {
	for _, program := range []string{"go", "ffmpeg", "ffprobe"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skip(err)
		}
	}
	blocks := codeOf(t, "clips.md")
	place := t.TempDir()
	if err := os.CopyFS(filepath.Join(place, "robot"), os.DirFS("../dataset/shards/parquet/lerobot/testdata/robot")); err != nil {
		t.Fatal(err)
	}
	out, err := output(t, blocks[len(blocks)-1], place)
	if err != nil || strings.Count(out, "(8, 2, 3, 96, 96) (8, 4, 2) [") != 4 || strings.Count(out, "(4, 2, 3, 96, 96) (4, 4, 2) [") != 1 {
		t.Errorf("%v, want four batches of 8 frames and one of 4:\n%s", err, out)
	}
}

// output is what a program prints when it runs in a folder.
func output(t *testing.T, code, place string) (string, error) {
	t.Helper()
	source, program := filepath.Join(place, "main.go"), filepath.Join(place, "program.exe")
	if err := os.WriteFile(source, []byte(code), 0o666); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-o", program, source).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	cmd := exec.CommandContext(t.Context(), program)
	cmd.Dir = place
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// codeOf are the blocks of code in Go of a page in docs.
func codeOf(t *testing.T, page string) (blocks []string) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("../docs", page))
	if err != nil {
		t.Fatal(err)
	}
	for _, block := range strings.Split(string(text), "```go\n")[1:] {
		code, _, _ := strings.Cut(block, "```")
		blocks = append(blocks, code)
	}
	return blocks
}

// vet compiles each block as the body of a function of the program. A page need not use the last result that it shows.
func vet(t *testing.T, program string, blocks []string) {
	t.Helper()
	for i, block := range blocks {
		for _, name := range regexp.MustCompile(`(?m)^(\w+), err := `).FindAllStringSubmatch(block, -1) {
			block += "\t_, _ = " + name[1] + ", err\n"
		}
		program += fmt.Sprintf("\nfunc block%d(w http.ResponseWriter, r *http.Request) (err error) {\n\tif run != nil {\n%s\n\t}\n\treturn err\n}\n", i, block)
	}
	source := filepath.Join(t.TempDir(), "main.go")
	if err := os.WriteFile(source, []byte(program), 0o666); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.CommandContext(t.Context(), "go", "vet", source).CombinedOutput(); err != nil {
		t.Errorf("%v\n%s\n%s", err, out, program)
	}
}
