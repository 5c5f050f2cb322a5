package transform_test

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unsafe"

	"gorgonia.org/tensor"

	"github.com/penstock-go/penstock/transform"
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
}

func readProcessors(t testing.TB) (g goldenProcessors) {
	t.Helper()
	text, err := os.ReadFile("testdata/processors.json")
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &g); err != nil {
		t.Fatal(err)
	}
	return g
}

// steps are all configurations with their steps.
func (g goldenProcessors) steps() map[*goldenConfig]transform.Step {
	all := map[*goldenConfig]transform.Step{}
	for i := range g.Transformers {
		c := &g.Transformers[i]
		s := transform.HuggingFace(c.Config)
		if c.Model != "" {
			s = s.ModelType(c.Model)
		}
		all[c] = s
	}
	for i := range g.Timm {
		c := &g.Timm[i]
		s := transform.Timm(c.Config)
		if c.Test {
			s = s.TestSize()
		}
		all[c] = s
	}
	return all
}

// TestConfiguredImagesAreTheProcessors compares images of the project with what
// the processors of transformers and the transforms of timm make of them.
func TestConfiguredImagesAreTheProcessors(t *testing.T) {
	g := readProcessors(t)
	checkProcessors(t, g, "../examples/images/photos", g.Images, len(g.Photos))
}

// TestConfiguredPhotosAreTheProcessors does the same with photos.
func TestConfiguredPhotosAreTheProcessors(t *testing.T) {
	g := readProcessors(t)
	if _, err := os.Stat("../../shared/photos"); errors.Is(err, fs.ErrNotExist) {
		t.Skip("../shared, next to the repository, is missing: it holds the photos")
	}
	photos := g.Photos
	if testing.Short() { // emulators are slow
		photos = photos[:3]
	}
	checkProcessors(t, g, "../../shared/photos", photos, 0)
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
			p, err := transform.Compile(step)
			switch c.Name {
			case "DETR", "DETR, new keys", "YOLOS", "Depth Anything":
				if err == nil || !strings.Contains(err.Error(), "the size varies from image to image") {
					t.Errorf("error %v, want one of the size", err)
				}
				p, err = transform.Compile(step, transform.Ragged())
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
	var out []byte
	var err error
	switch f := p.Spec()[0]; f.Dtype {
	case tensor.Float32:
		var values []float32
		if values, _, _, err = p.Append(nil, transform.File(data)); err == nil {
			out = unsafe.Slice((*byte)(unsafe.Pointer(&values[0])), 4*len(values))
		}
	default:
		out = make([]byte, f.Elements())
		err = p.IntoBytes(out, transform.File(data))
	}
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(out)
	return hex.EncodeToString(sum[:8])
}

// TestConfigurationErrorsNameTheKey has configurations that are refused.
func TestConfigurationErrorsNameTheKey(t *testing.T) {
	hf := func(text string) transform.Step { return transform.HuggingFace([]byte(text)) }
	timm := func(text string) transform.Step { return transform.Timm([]byte(text)) }
	for _, c := range []struct {
		step transform.Step
		want string
	}{
		{hf(``), "want a JSON object"},
		{hf(`null`), "want a JSON object, not null"},
		{hf(`[1]`), "want a JSON object"},
		{hf(`{"size": 224}`), `key "image_processor_type": missing`},
		{transform.HuggingFace([]byte(`{"size": 224}`)).ModelType("bert"), `ModelType "bert" is not known`},
		{hf(`{"image_processor_type": "Qwen2VLImageProcessor"}`), `key "image_processor_type": Qwen2VLImageProcessor is not supported`},
		{hf(`{"feature_extractor_type": "WhisperFeatureExtractor"}`), `key "feature_extractor_type": WhisperImageProcessor is not supported`},
		{hf(`{"image_processor_type": "ViTImageProcessor", "do_sharpen": true}`), `key "do_sharpen": not known (its value is true)`},
		{hf(`{"image_processor_type": "ViTImageProcessor", "crop_pct": 0.9}`), `key "crop_pct": not known`},
		{hf(`{"image_processor_type": "ViTImageProcessor", "do_resize": 1}`), `key "do_resize": want true or false, not 1`},
		{hf(`{"image_processor_type": "ViTImageProcessor", "Do_resize": false}`), `key "Do_resize": not known`},
		{hf(`{"image_processor_type": "ViTImageProcessor", "size": {"height": 224, "depth": 3}}`), `key "size.depth": not known`},
		{hf(`{"image_processor_type": "ViTImageProcessor", "size": {"height": 224}}`), `key "size": want height and width`},
		{hf(`{"image_processor_type": "ViTImageProcessor", "size": {"longest_edge": 224}}`), `key "size": want height and width`},
		{hf(`{"image_processor_type": "ViTImageProcessor", "size": -1}`), `key "size": want height and width from 1`},
		{hf(`{"image_processor_type": "ViTImageProcessor", "size": {"height": 1e3, "width": 9}}`), `key "size.height": want a whole number`},
		{hf(`{"image_processor_type": "ViTImageProcessor", "size": [1, 2, 3]}`), `key "size": want height and width`},
		{hf(`{"image_processor_type": "CLIPImageProcessor", "size": 4611686018427387904}`), `key "size": want a whole number`},
		{hf(`{"image_processor_type": "ViTImageProcessor", "do_center_crop": true}`), `key "crop_size": missing`},
		{hf(`{"image_processor_type": "ViTImageProcessor", "resample": 6}`), `key "resample": want a number from 0 to 5, not 6`},
		{hf(`{"image_processor_type": "ViTImageProcessor", "image_mean": [0.5, 0.5]}`), `key "image_mean": want three numbers or one`},
		{hf(`{"image_processor_type": "ViTImageProcessor", "image_std": [0, 1, 1]}`), "want finite standard deviations other than 0"},
		{hf(`{"image_processor_type": "ViTImageProcessor", "rescale_factor": 0}`), `key "rescale_factor": want another number than 0`},
		{hf(`{"image_processor_type": "ConvNextImageProcessor", "size": {"height": 2, "width": 2}}`), `key "size": want shortest_edge`},
		{hf(`{"image_processor_type": "ConvNextImageProcessor", "crop_pct": -1}`), `key "crop_pct": want a part`},
		{hf(`{"image_processor_type": "DPTImageProcessor", "do_pad": true}`), `key "do_pad": padding to multiples is not supported`},
		{hf(`{"image_processor": {"image_processor_type": "ViTImageProcessor", "do_sharpen": 1}}`), `key "image_processor.do_sharpen": not known`},
		{timm(`{"pretrained_cfg": 1}`), `key "pretrained_cfg": want an object, not 1`},
		{timm(`{"pretrained_cfg": {"colour_space": "lab"}}`), `key "pretrained_cfg.colour_space": not known (its value is "lab")`},
		{timm(`{"input_size": [1, 28, 28]}`), `key "input_size": want [3, height, width], not [1, 28, 28]`},
		{timm(`{"interpolation": "random"}`), `key "interpolation": "random" is not a filter of Pillow`},
		{timm(`{"crop_mode": "stretch"}`), `key "crop_mode": want center, squash or border, not "stretch"`},
		{timm(`{"crop_pct": 1e-9}`), `key "crop_pct": want a part`},
		{timm(`{"model_args": {"in_chans": 4}}`), `key "model_args.in_chans": want 3, not 4`},
	} {
		_, err := transform.Compile(c.step)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("error %v, want %s", err, c.want)
		}
	}
}

// FuzzConfiguration compiles hostile configurations.
func FuzzConfiguration(f *testing.F) {
	g := readProcessors(f)
	for c := range g.steps() {
		f.Add([]byte(c.Config))
	}
	pix := make([]uint8, 3*5*7)
	f.Fuzz(func(t *testing.T, config []byte) {
		for _, step := range []transform.Step{
			transform.HuggingFace(config), transform.HuggingFace(config).ModelType("vit"),
			transform.Timm(config), transform.Timm(config).TestSize(),
		} {
			p, err := transform.Compile(step, transform.MaxPixels(1<<16))
			if err != nil {
				continue
			}
			field := p.Spec()[0]
			if n := field.Elements(); n > 1<<20 {
				continue
			}
			if field.Dtype == tensor.Float32 {
				err = p.Into(make([]float32, field.Elements()), transform.RGB(pix, 7, 5))
			} else {
				err = p.IntoBytes(make([]uint8, field.Elements()), transform.RGB(pix, 7, 5))
			}
			if err != nil && !strings.HasPrefix(err.Error(), "transform: ") {
				t.Errorf("error %v, want one of this package", err)
			}
		}
	})
}
