package main

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/penstock-go/penstock/examples/train/shapes"
)

// Chance is 1/7. 16 epochs reach 0.89.
func TestTheNetLearnsShapes(t *testing.T) {
	if testing.Short() {
		t.Skip("trains for a quarter of a minute")
	}
	backend, err := newBackend()
	if err != nil {
		t.Fatal(err)
	}
	defer backend.Finalize()
	dir, err := shapes.Folder(2100, 1)
	if err != nil {
		t.Fatal(err)
	}
	accuracy, err := run(backend, dir, 6, 32)
	if err != nil {
		t.Fatal(err)
	}
	if accuracy < 0.5 {
		t.Errorf("accuracy %.3f on seven classes, want 0.5", accuracy)
	}
}

func TestAFewImagesAreEnough(t *testing.T) {
	backend, err := newBackend()
	if err != nil {
		t.Fatal(err)
	}
	defer backend.Finalize()
	dir := t.TempDir()
	for _, class := range []string{"hills", "spheres"} {
		if err := os.CopyFS(filepath.Join(dir, class), os.DirFS(filepath.Join("../images/photos", class))); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := run(backend, dir, 1, 32); err != nil {
		t.Error(err)
	}
	one := t.TempDir()
	photo, err := os.ReadFile(filepath.Join(dir, "hills", "1.jpg"))
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(os.Mkdir(filepath.Join(one, "a"), 0o777), os.WriteFile(filepath.Join(one, "a", "1.jpg"), photo, 0o666)); err != nil {
		t.Fatal(err)
	}
	if _, err := run(backend, one, 1, 32); err == nil || !strings.Contains(err.Error(), "1 images: want some") {
		t.Errorf("got %v", err)
	}
}
