package main

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestAKilledRunGoesOnWithTheSameWeights kills a run twice, and uses other workers then.
func TestAKilledRunGoesOnWithTheSameWeights(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	o := options{dir: t.TempDir(), images: 210, epochs: 2, workers: 2}
	want, err := run(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	o.dir = t.TempDir()
	for _, kill := range []int{1, 7} {
		o.kill = kill
		if _, err := run(t.Context(), o); !errors.Is(err, errKilled) {
			t.Fatal(err)
		}
		o.workers++
	}
	o.kill = 0
	got, err := run(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(got.Weights, want.Weights) {
		t.Error("other weights than without the kills")
	}
	if slices.Max(got.Weights) == 0 {
		t.Error("nothing was learnt")
	}
}

func TestADamagedModelIsNamed(t *testing.T) {
	path := filepath.Join(t.TempDir(), "model.json")
	for _, text := range []string{"", "{", `{"Weights": [1]}`} {
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		if _, err := loadModel(path); err == nil || !strings.HasPrefix(err.Error(), path+" holds no model: ") {
			t.Errorf("%q: error %v, want one that names the file", text, err)
		}
	}
}
