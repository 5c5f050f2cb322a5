package result

import (
	"os"
	"path/filepath"
	"testing"
)

func TestGPUIsTheDriversModel(t *testing.T) {
	dir := t.TempDir()
	if got := nvidia(dir); got != "" {
		t.Errorf("got %q where there is none", got)
	}
	for i, want := range []string{"NVIDIA H200", "2 × NVIDIA H200"} {
		gpu := filepath.Join(dir, string(rune('0'+i)))
		if err := os.Mkdir(gpu, 0o755); err != nil {
			t.Fatal(err)
		}
		text := "IRQ:\t 7\nModel: \t\t NVIDIA H200\nBus Type: PCIe\n"
		if err := os.WriteFile(filepath.Join(gpu, "information"), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		if got := nvidia(dir); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestCachesAreThoseOfTheFirstProcessor(t *testing.T) {
	dir := t.TempDir()
	if got := caches(dir); got != "" {
		t.Errorf("got %q where nothing is described", got)
	}
	for folder, files := range map[string]map[string]string{
		"index0": {"level": "1\n", "type": "Data\n", "size": "32K\n"},
		"index1": {"level": "1\n", "type": "Instruction\n", "size": "64K\n"},
		"index2": {"level": "2\n", "type": "Unified\n", "size": "1024K\n"},
	} {
		for name, text := range files {
			path := filepath.Join(dir, folder, name)
			if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	if got, want := caches(dir), "L1d 32K, L1i 64K, L2 1024K"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
