package presets_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/penstock-go/penstock/internal/datatest"
	"github.com/penstock-go/penstock/transform"
	"github.com/penstock-go/penstock/transform/presets"
)

// goldenOthers is what testdata/others.py wrote down.
type goldenOthers struct {
	Pictures []string
	Yolo     []struct {
		Size [2]int
		Sums []string
	}
	OpenCLIP []struct {
		Name   string
		Config json.RawMessage
		Sums   []string
	}
}

func readOthers(t testing.TB) (g goldenOthers) {
	t.Helper()
	datatest.JSON(t, "testdata/others.json", &g)
	if len(g.Pictures) != 12 || len(g.Yolo) < 3 || len(g.OpenCLIP) < 3 {
		t.Fatalf("only %d pictures, %d sizes and %d configurations", len(g.Pictures), len(g.Yolo), len(g.OpenCLIP))
	}
	return g
}

// comparePictures prepares the pictures with steps of which sums are known.
func comparePictures(t *testing.T, m made, pictures, sums []string) {
	t.Helper()
	p, err := m.compile()
	if err != nil {
		t.Fatal(err)
	}
	for i, name := range pictures {
		data, err := os.ReadFile(filepath.Join("testdata/pictures", name))
		if err != nil {
			t.Fatal(err)
		}
		if got := digest(t, p, data); got != sums[i] {
			t.Errorf("%s: other bits: %s, want %s", name, got, sums[i])
		}
	}
}

func TestYOLOIsThatOfOpenCV(t *testing.T) {
	g := readOthers(t)
	for _, c := range g.Yolo {
		t.Run(fmt.Sprint(c.Size), func(t *testing.T) {
			comparePictures(t, made{step: presets.YOLO(c.Size)}, g.Pictures, c.Sums)
			if c.Size[0] == c.Size[1] {
				comparePictures(t, made{step: presets.YOLO(c.Size[0])}, g.Pictures, c.Sums)
			}
		})
	}
}

func TestOpenCLIPIsThatOfOpenCLIP(t *testing.T) {
	g := readOthers(t)
	for _, c := range g.OpenCLIP {
		t.Run(c.Name, func(t *testing.T) { comparePictures(t, openclip(string(c.Config)), g.Pictures, c.Sums) })
	}
}

func TestOpenSaysWhichFileItTook(t *testing.T) {
	const (
		vit   = `{"image_processor_type": "ViTImageProcessor"}`
		bare  = `{"size": 30}`
		clip  = `{"model_cfg": {"vision_cfg": {"image_size": 30}}}`
		model = `{"model_type": "vit"}`
		net   = `{"architecture": "vit", "pretrained_cfg": {"input_size": [3, 30, 30]}}`
	)
	for _, c := range []struct {
		files map[string]string
		file  string
		want  made
	}{
		{map[string]string{"preprocessor_config.json": vit}, "preprocessor_config.json", hf(vit)},
		{map[string]string{"preprocessor_config.json": vit, "open_clip_config.json": clip, "config.json": net, "processor_config.json": `{"processor_class": "P"}`}, "preprocessor_config.json", hf(vit)},
		{map[string]string{"preprocessor_config.json": bare, "processor_config.json": `{"image_processor": ` + vit + `}`}, "processor_config.json", hf(vit)},
		{map[string]string{"preprocessor_config.json": bare, "config.json": model}, "preprocessor_config.json", hf(bare, presets.ModelType("vit"))},
		{map[string]string{"preprocessor_config.json": `{"size": 30, "image_processor_type": null}`, "config.json": model, "processor_config.json": `{"image_processor": null}`}, "preprocessor_config.json", hf(bare, presets.ModelType("vit"))},
		{map[string]string{"open_clip_config.json": clip, "config.json": net}, "open_clip_config.json", openclip(clip)},
		{map[string]string{"config.json": net}, "config.json", timm(net)},
	} {
		folder := fstest.MapFS{}
		for name, text := range c.files {
			folder[name] = &fstest.MapFile{Data: []byte(text)}
		}
		step, file, err := presets.Open(folder)
		if err != nil || file != c.file {
			t.Errorf("%v: file %q, error %v, want %q", c.files, file, err, c.file)
			continue
		}
		got, err := made{step: step}.compile(transform.Ragged())
		want, wanted := c.want.compile(transform.Ragged())
		if err != nil || wanted != nil || got.String() != want.String() {
			t.Errorf("%v: %v, %v\nwant %v, %v", c.files, got, err, want, wanted)
		}
	}
}

func TestOpenSaysWhatIsWrong(t *testing.T) {
	for _, c := range []struct {
		files   fstest.MapFS
		options []presets.Option
		file    string
		want    string
	}{
		{fstest.MapFS{}, nil, "", "presets: Open: want preprocessor_config.json, processor_config.json with image_processor, open_clip_config.json, or a config.json of timm"},
		{fstest.MapFS{"config.json": {Data: []byte(`{"model_type": "vit"}`)}, "processor_config.json": {Data: []byte(`{`)}}, nil, "", "presets: Open: want preprocessor_config.json"},
		{fstest.MapFS{"config.json": {Data: []byte(`{"pretrained_cfg": null, "architecture": null}`)}}, nil, "", "presets: Open: want preprocessor_config.json"},
		{fstest.MapFS{"preprocessor_config.json": {Data: []byte(`{}`)}}, nil, "preprocessor_config.json", `presets: HuggingFace(…): key "image_processor_type": missing`},
		{fstest.MapFS{"preprocessor_config.json": {Data: []byte(`{}`)}, "config.json": {Data: []byte(`{"model_type": "bert"}`)}}, nil, "preprocessor_config.json", `ModelType "bert" is not known`},
		{fstest.MapFS{"open_clip_config.json": {Data: []byte(`{`)}}, nil, "open_clip_config.json", "presets: OpenCLIP(…): want a JSON object"},
		{fstest.MapFS{"open_clip_config.json": {Data: []byte(`{}`)}}, []presets.Option{presets.TestSize()}, "open_clip_config.json", "has no option TestSize()"},
		{fstest.MapFS{"open_clip_config.json": {Data: make([]byte, 16<<20+1)}}, nil, "open_clip_config.json", "presets: Open: open_clip_config.json: want a file of up to 16 MiB"},
		{fstest.MapFS{"open_clip_config.json/x": {}}, nil, "open_clip_config.json", "presets: Open: open_clip_config.json: read"},
	} {
		step, file, err := presets.Open(c.files, c.options...)
		if step != nil || file != c.file || err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("step %v, file %q, error %v, want %q, %s", step, file, err, c.file, c.want)
		}
		if c.file == "" && !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%v is not fs.ErrNotExist", err)
		}
	}
}
