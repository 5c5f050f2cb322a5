package main

import (
	"bufio"
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/penstock-go/penstock/examples/train/shapes"
)

// programOf is the first block of code in that language on a page that has this text.
func programOf(t *testing.T, page, language, text string) string {
	t.Helper()
	data, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	for _, block := range strings.Split(string(data), "```"+language+"\n")[1:] {
		code, _, _ := strings.Cut(block, "\n```")
		if strings.Contains(code, text) {
			return code + "\n"
		}
	}
	t.Fatalf("%s has no program in %s with %q", page, language, text)
	return ""
}

func TestTheProgramsOfThePageTrain(t *testing.T) {
	python, missing := torch(t)
	if missing != nil {
		t.Skip("PENSTOCK_TORCH_PYTHON, or python3, cannot run the trainer: ", missing)
	}
	const page = "../../docs/service.md"
	dir := t.TempDir()
	source, service, trainer := filepath.Join(dir, "service.go"), filepath.Join(dir, "service"), filepath.Join(dir, "train.py")
	for file, code := range map[string]string{source: programOf(t, page, "go", "package main"), trainer: programOf(t, page, "python", "def main(")} {
		if err := os.WriteFile(file, []byte(code), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-o", service, source).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	images := t.TempDir()
	if err := shapes.Write(images, 50, 1); err != nil {
		t.Fatal(err)
	}
	var addresses []string
	for range 2 {
		s := exec.CommandContext(t.Context(), service, images, "127.0.0.1:0")
		stderr, err := s.StderrPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			s.Process.Kill()
			s.Wait() // its error says that it was killed
		})
		line, err := bufio.NewReader(stderr).ReadString('\n')
		_, address, found := strings.Cut(strings.TrimSpace(line), "images at ")
		if err != nil || !found {
			t.Fatalf("the service says %q, %v; want its address", line, err)
		}
		addresses = append(addresses, address)
	}
	var stderr bytes.Buffer
	train := exec.CommandContext(t.Context(), python, trainer, strings.Join(addresses, ","))
	train.Stderr = &stderr
	out, err := train.Output()
	if err != nil || strings.Count(string(out), "loss") != 2 {
		t.Errorf("got %q, %v, want the losses of two epochs\n%s", out, err, stderr.String())
	}
}
