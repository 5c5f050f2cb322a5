//go:build cgo

package ort_test

import (
	"errors"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/penstock-go/penstock/examples/onnx/model"
	"github.com/penstock-go/penstock/examples/onnx/nets"
	"github.com/penstock-go/penstock/examples/onnx/ort"
)

// opened writes a small transformer with random weights and opens it.
func opened(t *testing.T) *ort.Session {
	t.Helper()
	files, err := model.Find(model.Folder())
	if errors.Is(err, fs.ErrNotExist) {
		t.Skip("ONNX Runtime is not installed: ", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	stop, err := ort.Start(files.Library)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { stop() })
	path := filepath.Join(t.TempDir(), "vit.onnx")
	net := nets.ViT{Size: 32, Patch: 8, Width: 24, Layers: 2, Heads: 3, Classes: 7}
	if err := os.WriteFile(path, net.Random(1), 0o666); err != nil {
		t.Fatal(err)
	}
	session, err := ort.Open(path, 1)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { session.Close() })
	return session
}

func TestASampleHasTheSameResultInEveryBatch(t *testing.T) {
	s := opened(t)
	if s.Values() != 3*32*32 || s.Classes() != 7 {
		t.Fatalf("%d values and %d classes", s.Values(), s.Classes())
	}
	x := make([]float32, 5*s.Values())
	for i := range x {
		x[i] = float32(math.Sin(float64(i)))
	}
	together := make([]float32, 5*s.Classes())
	if err := s.Run(x, together, 5); err != nil {
		t.Fatal(err)
	}
	alone := make([]float32, s.Classes())
	for row := range 5 {
		if err := s.Run(x[row*s.Values():][:s.Values()], alone, 1); err != nil {
			t.Fatal(err)
		}
		for c, got := range alone {
			if want := together[row*s.Classes()+c]; math.Abs(float64(got-want)) > 1e-5 || got == 0 {
				t.Errorf("row %d, class %d: got %v, want %v", row, c, got, want)
			}
		}
	}
	if together[0] == together[s.Classes()] {
		t.Error("two images have the same result")
	}
}

func TestWrongLengthsAreErrorsAndReachNoMemory(t *testing.T) {
	s := opened(t)
	for _, n := range []int{-1, 0, 1, 3} {
		if err := s.Run(make([]float32, 2*s.Values()), make([]float32, 2*s.Classes()), n); err == nil || !strings.Contains(err.Error(), "ort: run: ") {
			t.Errorf("%d samples: got %v", n, err)
		}
	}
}

func TestFilesThatAreNoModelsAreErrors(t *testing.T) {
	opened(t)
	path := filepath.Join(t.TempDir(), "text.onnx")
	if err := os.WriteFile(path, []byte("no model"), 0o666); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{path, path + ".absent"} {
		if _, err := ort.Open(path, 1); err == nil || !strings.Contains(err.Error(), path) {
			t.Errorf("got %v", err)
		}
	}
}
