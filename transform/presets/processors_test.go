package presets_test

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unsafe"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/internal/datatest"
	"github.com/penstock-go/penstock/transform"
	"github.com/penstock-go/penstock/transform/presets"
)

// A goldenConfig is what testdata/processors.py wrote down of a configuration.
type goldenConfig struct {
	Name   string
	Config json.RawMessage
	Model  string   // transformers: the model_type, where the configuration names no class
	Test   bool     // timm: with use_test_size
	Sums   []string // of the photos, then of the project's own images
}

type goldenProcessors struct {
	Photos, Images     []string
	Transformers, Timm []goldenConfig
	Defaults           []goldenConfig    // that only name their class
	Models             map[string]string // from model_type to class
}

func readProcessors(t testing.TB) (g goldenProcessors) {
	t.Helper()
	datatest.JSON(t, "testdata/processors.json", &g)
	return g
}

// steps are all configurations with their steps.
func (g goldenProcessors) steps() map[*goldenConfig]made {
	all := map[*goldenConfig]made{}
	for i := range g.Transformers {
		c := &g.Transformers[i]
		all[c] = hf(string(c.Config))
		if c.Model != "" {
			all[c] = hf(string(c.Config), presets.ModelType(c.Model))
		}
	}
	for i := range g.Timm {
		c := &g.Timm[i]
		all[c] = timm(string(c.Config))
		if c.Test {
			all[c] = timm(string(c.Config), presets.TestSize())
		}
	}
	return all
}

// TestConfiguredImagesAreTheProcessors compares images of the project with what
// the processors of transformers and the transforms of timm make of them.
func TestConfiguredImagesAreTheProcessors(t *testing.T) {
	g := readProcessors(t)
	checkProcessors(t, g, "../../examples/images/photos", g.Images, len(g.Photos))
}

// TestConfiguredPhotosAreTheProcessors does the same with photos.
func TestConfiguredPhotosAreTheProcessors(t *testing.T) {
	g := readProcessors(t)
	if _, err := os.Stat("../../../shared/photos"); errors.Is(err, fs.ErrNotExist) {
		t.Skip("../shared, next to the repository, is missing: it holds the photos")
	}
	photos := g.Photos
	if testing.Short() { // emulators are slow
		photos = photos[:3]
	}
	checkProcessors(t, g, "../../../shared/photos", photos, 0)
}

func checkProcessors(t *testing.T, g goldenProcessors, dir string, names []string, first int) {
	files := make([][]byte, len(names))
	for i, name := range names {
		data, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(name)))
		if err != nil {
			t.Fatal(err)
		}
		files[i] = data
	}
	for c, step := range g.steps() {
		t.Run(c.Name, func(t *testing.T) {
			p, err := step.compile()
			switch c.Name {
			case "DETR", "DETR, new keys", "YOLOS", "Depth Anything":
				if err == nil || !strings.Contains(err.Error(), "the size varies from image to image") {
					t.Errorf("error %v, want one of the size", err)
				}
				p, err = step.compile(transform.Ragged())
			}
			if err != nil {
				t.Fatal(err)
			}
			for i, data := range files {
				if got, want := digest(t, p, data), c.Sums[first+i]; got != want {
					t.Errorf("%s: other bits: %s, want %s", names[i], got, want)
				}
			}
		})
	}
}

// digest is the beginning of the SHA-256 of a prepared file.
func digest(t *testing.T, p *transform.Compiled, data []byte) string {
	t.Helper()
	sum, err := prepared(p, data)
	if err != nil {
		t.Fatal(err)
	}
	return sum
}

func prepared(p *transform.Compiled, data []byte) (string, error) {
	var out []byte
	var err error
	switch f := p.Spec()[0]; f.Dtype {
	case dataset.Float32:
		var values []float32
		if values, _, _, err = p.Append(nil, transform.File(data)); err == nil {
			out = unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(values))), 4*len(values))
		}
	default:
		out = make([]byte, f.Elements())
		err = p.IntoBytes(out, transform.File(data))
	}
	return shortSum(out), err
}

func shortSum(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:8])
}

func TestMissingKeysHaveTheClassesDefaults(t *testing.T) {
	g := readProcessors(t)
	for _, c := range g.Defaults {
		p, err := hf(string(c.Config)).compile(transform.Ragged())
		if err != nil {
			t.Errorf("%s: %v", c.Name, err)
			continue
		}
		for i, name := range g.Images {
			data, err := os.ReadFile(filepath.Join("../../examples/images/photos", filepath.FromSlash(name)))
			if err != nil {
				t.Fatal(err)
			}
			if got, want := digest(t, p, data), c.Sums[i]; got != want {
				t.Errorf("%s, %s: other bits: %s, want %s", c.Name, name, got, want)
			}
		}
	}
}

func TestModelTypesNameTheirClass(t *testing.T) {
	plan := func(s made) string {
		p, err := s.compile(transform.Ragged())
		return fmt.Sprint(p, err)
	}
	g := readProcessors(t)
	if len(g.Models) < 60 {
		t.Fatalf("only %d models", len(g.Models))
	}
	for model, class := range g.Models {
		got := plan(hf("{}", presets.ModelType(model)))
		want := plan(hf(`{"image_processor_type": "` + class + `"}`))
		if got != want {
			t.Errorf("%s:\n%s\nwant that of %s:\n%s", model, got, class, want)
		}
	}
}
