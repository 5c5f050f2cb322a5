// Package model is what a program must know to use EfficientNet-Lite0: where its
// files are, how images are prepared, and what its results mean.
package model

import (
	"bufio"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"

	"github.com/penstock-go/penstock/transform"
)

// Steps prepare an image as the model was trained: float32 (3, 224, 224), scaled to
// (v−127)/128. Source: the package efficientnet-lite-pytorch 0.1.0, README.
func Steps() []transform.Item {
	mean, deviation := float32(127.0/255), float32(128.0/255)
	return []transform.Item{
		transform.Resize(256, transform.Interpolation(transform.Bicubic)), transform.CenterCrop(224), transform.ToTensor(),
		transform.Normalize([]float32{mean, mean, mean}, []float32{deviation, deviation, deviation}),
	}
}

// Files are the paths of what examples/onnx/install makes.
type Files struct {
	Library string   // ONNX Runtime's
	Net     string   // EfficientNet-Lite0 as an ONNX file
	Classes []string // the names of ImageNet's 1000 classes
}

// Folder is where examples/onnx/install puts the files if it is not told another
// folder: $PENSTOCK_ONNX, or penstock-onnx in the user's cache. It is "" if there is neither: in a
// folder that others can write to, the library could be anybody's.
func Folder() string {
	if dir := os.Getenv("PENSTOCK_ONNX"); dir != "" {
		return dir
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		return ""
	}
	return filepath.Join(cache, "penstock-onnx")
}

// Find looks for the files in a folder. If one is missing, the error is an
// [fs.ErrNotExist] and says how to install them.
func Find(dir string) (Files, error) {
	if dir == "" {
		return Files{}, errors.New("no folder of the model: set PENSTOCK_ONNX, or HOME")
	}
	f := Files{Library: filepath.Join(dir, "libonnxruntime.so"), Net: filepath.Join(dir, "efficientnet-lite0.onnx")}
	for _, path := range []string{f.Library, f.Net} {
		if _, err := os.Stat(path); err != nil {
			return Files{}, missing(dir, err)
		}
	}
	names, err := os.Open(filepath.Join(dir, "classes.txt"))
	if err != nil {
		return Files{}, missing(dir, err)
	}
	defer names.Close()
	lines := bufio.NewScanner(names)
	for lines.Scan() {
		f.Classes = append(f.Classes, lines.Text())
	}
	return f, lines.Err()
}

func missing(dir string, err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%w: run examples/onnx/install %s", err, dir)
	}
	return err
}

// A Class is one that an image may be of.
type Class struct {
	Index       int     `json:"index"`
	Name        string  `json:"name"`
	Probability float32 `json:"probability"`
	Logit       float32 `json:"-"`
}

// Top are the k most probable classes, the first one before all others.
func Top(logits []float32, names []string, k int) []Class {
	classes := make([]Class, len(logits))
	highest, sum := slices.Max(logits), 0.0
	for i, l := range logits {
		classes[i] = Class{Index: i, Logit: l}
		if i < len(names) {
			classes[i].Name = names[i]
		}
		sum += math.Exp(float64(l - highest))
	}
	slices.SortStableFunc(classes, func(a, b Class) int {
		switch {
		case a.Logit > b.Logit:
			return -1
		case a.Logit < b.Logit:
			return 1
		}
		return 0
	})
	classes = slices.Clip(classes[:min(k, len(classes))])
	for i := range classes {
		classes[i].Probability = float32(math.Exp(float64(classes[i].Logit-highest)) / sum)
	}
	return classes
}
