package model

import (
	"errors"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestTopIsSortedAndItsProbabilitiesAreSoftmax(t *testing.T) {
	top := Top([]float32{0, 1000, 999, 1000, -5}, []string{"a", "b", "c", "d"}, 3)
	e := math.Exp(-1)
	want := []Class{{1, "b", float32(1 / (2 + e)), 1000}, {3, "d", float32(1 / (2 + e)), 1000}, {2, "c", float32(e / (2 + e)), 999}}
	for i := range want {
		if i >= len(top) || top[i] != want[i] {
			t.Fatalf("got %v, want %v", top, want)
		}
	}
	if all := Top([]float32{1, 2}, nil, 5); len(all) != 2 || all[0].Index != 1 || all[0].Name != "" {
		t.Errorf("got %v", all)
	}
}

func TestMissingFilesSayHowToInstallThem(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"libonnxruntime.so", "efficientnet-lite0.onnx", "classes.txt", ""} {
		f, err := Find(dir)
		if name == "" {
			if err != nil || len(f.Classes) != 2 || f.Classes[1] != "goldfish" {
				t.Errorf("got %v, %v", f, err)
			}
			break
		}
		if !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), name) || !strings.HasSuffix(err.Error(), "run examples/onnx/install "+dir) {
			t.Errorf("got %v", err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte("tench\ngoldfish\n"), 0o666); err != nil {
			t.Fatal(err)
		}
	}
}
