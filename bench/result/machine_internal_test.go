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
