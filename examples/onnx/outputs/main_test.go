//go:build cgo

package main

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/penstock-go/penstock/examples/onnx/model"
	"github.com/penstock-go/penstock/transform"
)

func TestCosine(t *testing.T) {
	for _, c := range []struct {
		a, b []float32
		want float64
	}{
		{[]float32{1, 2}, []float32{2, 4}, 1},
		{[]float32{1, 0}, []float32{0, 3}, 0},
		{[]float32{1, 1}, []float32{-1, 0}, -math.Sqrt2 / 2},
	} {
		if got := cosine(c.a, c.b); math.Abs(got-c.want) > 1e-12 {
			t.Errorf("cosine(%v, %v) = %v, want %v", c.a, c.b, got, c.want)
		}
	}
}

// TestOutputsAreCompared runs the model on an image, on the same again, and on one with its colours in the wrong order.
func TestOutputsAreCompared(t *testing.T) {
	if _, err := model.Find(model.Folder()); errors.Is(err, fs.ErrNotExist) {
		t.Skip("the model is not installed: ", err)
	}
	photo, err := os.ReadFile("../../images/photos/hills/1.jpg")
	if err != nil {
		t.Fatal(err)
	}
	p, err := transform.Compile(model.Steps()...)
	if err != nil {
		t.Fatal(err)
	}
	values := make([]float32, p.Spec()[0].Elements())
	if err := p.Into(values, transform.File(photo)); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	file := func(name string, values []float32) string {
		data, _ := binary.Append(nil, binary.LittleEndian, values)
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o666); err != nil {
			t.Fatal(err)
		}
		return filepath.Join(dir, name)
	}
	n := len(values) / 3
	swapped := append(append(append([]float32(nil), values[2*n:]...), values[n:2*n]...), values[:n]...)
	exact, other, short := file("exact", values), file("other", swapped), file("short", values[:n])
	o := options{net: filepath.Join(model.Folder(), "efficientnet-lite0.onnx"), top: 5}
	var out bytes.Buffer
	if err := run(&out, o, exact, exact); err != nil || !strings.Contains(out.String(), "outputs: 1.000000\n") ||
		!strings.Contains(out.String(), "the first class is the same, and 5 of the first 5") {
		t.Errorf("the same image: %v\n%s", err, out.String())
	}
	out.Reset()
	if err := run(&out, o, exact, other); err != nil || !regexp.MustCompile(`outputs: -?0\.\d{6}\n(?s).*yours: \d+ \w+.*of the first 5 are still`).MatchString(out.String()) {
		t.Errorf("other colours: %v\n%s", err, out.String())
	}
	t.Log(out.String())
	if err := run(&out, o, exact, short); err == nil || !strings.Contains(err.Error(), "the model takes 150528 values") {
		t.Errorf("a file that is too short: %v", err)
	}
}
