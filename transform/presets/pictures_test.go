package presets_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/penstock-go/penstock/internal/datatest"
	"github.com/penstock-go/penstock/internal/dense"
	"github.com/penstock-go/penstock/transform"
	"github.com/penstock-go/penstock/transform/presets"
)

// goldenPictures is what testdata/pictures.py wrote down.
type goldenPictures struct {
	Pictures       []string
	Processors     []goldenProcessor
	Configurations []goldenPicture
}

// A goldenProcessor is a class of transformers.
type goldenProcessor struct {
	Name   string   // without ImageProcessor
	PIL    bool     // it has a processor for PIL images
	Models []string // values of model_type
}

// A goldenPicture is what a class makes of the pictures with a configuration.
type goldenPicture struct {
	Name   string
	Config json.RawMessage
	Pixels string                // which tensor, if it has two
	Sums   []string              // of the pictures; "error" where transformers fails
	Fields []map[string][]string // of the pictures: the numbers of other fields, or their sum
}

// tensorOf is the step of a configuration that makes this tensor, if it has two.
func tensorOf(config, pixels string) made {
	if pixels == "" {
		return hf(config)
	}
	return hf(config, presets.Pixels(pixels))
}

func readPictures(t testing.TB) (g goldenPictures, files [][]byte) {
	t.Helper()
	datatest.JSON(t, "testdata/pictures.json", &g)
	for _, name := range g.Pictures {
		data, err := os.ReadFile(filepath.Join("testdata/pictures", name))
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, data)
	}
	return g, files
}

// TestPicturesAreTheProcessors compares twelve pictures of all kinds with what the processors of transformers make of them.
func TestPicturesAreTheProcessors(t *testing.T) {
	g, files := readPictures(t)
	if len(g.Pictures) != 12 {
		t.Fatalf("%d pictures, want 12", len(g.Pictures))
	}
	configs := map[string]int{}
	for _, c := range g.Configurations {
		configs[c.Name]++
		t.Run(fmt.Sprintf("%s %d", c.Name, configs[c.Name]), func(t *testing.T) {
			step := tensorOf(string(c.Config), c.Pixels)
			p, err := step.compile()
			if err != nil && strings.Contains(err.Error(), "the size varies from image to image") {
				p, err = step.compile(transform.Ragged())
			}
			if err != nil {
				t.Fatal(err)
			}
			for i, data := range files {
				got, err := prepared(p, data)
				if err != nil {
					got = "error"
				}
				if got != c.Sums[i] {
					t.Errorf("%s: %s (%v), want %s", g.Pictures[i], got, err, c.Sums[i])
				}
				if err == nil && len(p.Spec()) > 1 {
					checkFields(t, g.Pictures[i], p, data, c.Fields[i])
				}
			}
		})
	}
	for name, n := range configs {
		if n < 3 {
			t.Errorf("%s: only %d configurations", name, n)
		}
	}
}

// TestImageTokensAreThoseOfTheFields compares ImageTokens with the fields of the pictures.
func TestImageTokensAreThoseOfTheFields(t *testing.T) {
	g, files := readPictures(t)
	whole, err := transform.Compile(transform.ToTensor(), transform.Ragged())
	if err != nil {
		t.Fatal(err)
	}
	compared := 0
	for _, c := range g.Configurations {
		merge := struct {
			Size int64 `json:"merge_size"`
		}{2}
		if c.Name == "VideoLlama3" {
			merge.Size = 1
		}
		if err := json.Unmarshal(c.Config, &merge); err != nil {
			t.Fatal(err)
		}
		p, err := hf(string(c.Config)).compile(transform.Ragged())
		if err != nil {
			t.Fatal(err)
		}
		for i, data := range files {
			_, h, w, err := whole.Append(nil, transform.File(data))
			if err != nil {
				t.Fatal(err)
			}
			tokens, err := presets.ImageTokens(c.Config, h, w)
			if err != nil && strings.Contains(err.Error(), "is not known for this image processor") {
				break
			}
			_, numbers, failed := p.AppendAll(nil, nil, transform.File(data))
			if err != nil || failed != nil {
				if (err == nil) != (failed == nil) {
					t.Errorf("%s, %s: error %v, but %v of the picture", c.Name, g.Pictures[i], err, failed)
				}
				continue
			}
			compared++
			var want int64
			switch p.Spec()[1].Name {
			case "image_grid_thw":
				want = numbers[1] * numbers[2] / (merge.Size * merge.Size)
			case "pixel_attention_mask":
				want = numbers[len(numbers)-2] * numbers[len(numbers)-1]
			case "image_position_ids":
				want = numbers[len(numbers)-1]
			}
			if int64(tokens) != want {
				t.Errorf("%s, %s: %d tokens, want %d", c.Name, g.Pictures[i], tokens, want)
			}
		}
	}
	if compared < 300 {
		t.Errorf("only %d pictures were compared", compared)
	}
	still := []byte(`{"image_processor_type": "Qwen2VLImageProcessor", "do_resize": false}`)
	if n, err := presets.ImageTokens(still, 56, 84); n != 6 || err != nil {
		t.Errorf("%d tokens, error %v, want 6", n, err)
	}
	if n, err := presets.ImageTokens(still, 56, 85); err == nil || !strings.Contains(err.Error(), "without do_resize, want multiples of 28, not 56×85 pixels") {
		t.Errorf("%d tokens, error %v, want one of the size", n, err)
	}
}

// checkFields compares the fields after the first.
func checkFields(t *testing.T, name string, p *transform.Compiled, data []byte, want map[string][]string) {
	t.Helper()
	_, numbers, err := p.AppendAll(nil, nil, transform.File(data))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range p.Spec()[1:] {
		own := numbers[:f.Elements()]
		numbers = numbers[f.Elements():]
		got := []string{shortSum(dense.Bytes(own))}
		if len(own) <= 8 {
			got = strings.Fields(strings.Trim(fmt.Sprint(own), "[]"))
		}
		if !slices.Equal(got, want[f.Name]) {
			t.Errorf("%s: %s is %v, want %v", name, f.Name, got, want[f.Name])
		}
	}
	if len(numbers) > 0 {
		t.Errorf("%s: %d numbers are left", name, len(numbers))
	}
}

// TestImageTokensAreThoseOfTheRows compares them with the grid of the patches of images of many sizes.
func TestImageTokensAreThoseOfTheRows(t *testing.T) {
	for _, config := range []string{
		`{"image_processor_type": "Glm5NextImageProcessor"}`,
		`{"image_processor_type": "Glm5NextImageProcessor", "min_image_tokens": 4, "max_image_tokens": 40}`,
		`{"image_processor_type": "Qwen2VLImageProcessor", "max_pixels": 40000}`,
		`{"image_processor_type": "Glm4vImageProcessor"}`,
	} {
		p, err := hf(config).compile(transform.Ragged())
		if err != nil {
			t.Fatal(err)
		}
		for _, size := range [][2]int{{100, 200}, {3, 5}, {24, 400}, {333, 30}, {427, 640}, {1, 150}, {56, 56}} {
			h, w := size[0], size[1]
			values, grid, err := p.AppendAll(nil, nil, transform.RGB(make([]uint8, 3*h*w), w, h))
			if err != nil {
				t.Fatal(err)
			}
			tokens, err := presets.ImageTokens([]byte(config), h, w)
			if err != nil || 4*int64(tokens) != grid[1]*grid[2] || len(values) != 4*tokens*p.Spec()[0].Shape[0] {
				t.Errorf("%s: %v: %d tokens and %v for %d values and the grid %v", config, size, tokens, err, len(values), grid)
			}
		}
	}
}

// TestModelTypesAreTransformers compares the class of every model_type with transformers'.
func TestModelTypesAreTransformers(t *testing.T) {
	g, _ := readPictures(t)
	plan := func(s made) string {
		p, err := s.compile(transform.Ragged())
		return fmt.Sprint(p, err)
	}
	for _, c := range g.Processors {
		text := `{"image_processor_type": "` + c.Name + `ImageProcessor"}`
		want := plan(hf(text))
		for _, model := range c.Models {
			got := strings.ReplaceAll(plan(hf("{}", presets.ModelType(model))), fmt.Sprintf(", ModelType(%q)", model), "")
			switch {
			case c.Name == "TimmWrapper":
			case strings.Contains(want, "is not supported"):
				if !strings.Contains(got, "is not known") {
					t.Errorf("%s: %s, but %s is not supported", model, got, c.Name)
				}
			case got != want:
				t.Errorf("%s:\n%s\nwant that of %s:\n%s", model, got, c.Name, want)
			}
		}
	}
}

// TestDocumentedProcessorsAreTransformers compares the list of all classes in docs/processors.md with transformers'.
func TestDocumentedProcessorsAreTransformers(t *testing.T) {
	g, _ := readPictures(t)
	text, err := os.ReadFile("../../docs/processors.md")
	if err != nil {
		t.Fatal(err)
	}
	_, list, found := strings.Cut(string(text), "## All classes")
	if !found {
		t.Fatal("no list of all classes")
	}
	rows := map[string][]string{}
	for line := range strings.Lines(list) {
		if cells := strings.Split(line, "|"); len(cells) == 5 && strings.Contains(cells[1], "`") {
			rows[strings.Trim(cells[1], " `")] = []string{strings.TrimSpace(cells[2]), strings.TrimSpace(cells[3])}
		}
	}
	if len(rows) != len(g.Processors) {
		t.Errorf("%d rows, want %d", len(rows), len(g.Processors))
	}
	for _, c := range g.Processors {
		row := rows[c.Name]
		if row == nil {
			t.Errorf("%s is missing", c.Name)
			continue
		}
		if want := strings.Join(c.Models, ", "); row[0] != want {
			t.Errorf("%s: models %q, want %q", c.Name, row[0], want)
		}
		unsupported := strings.Contains(fmt.Sprint(hf(`{"image_processor_type": "`+c.Name+`ImageProcessor"}`).err), "is not supported")
		switch {
		case c.Name == "TimmWrapper":
		case unsupported == strings.HasPrefix(row[1], "equal"):
			t.Errorf("%s: %q, but not supported: %v", c.Name, row[1], unsupported)
		case unsupported && !strings.HasPrefix(row[1], "no: "):
			t.Errorf("%s: %q, want no and why", c.Name, row[1])
		case !c.PIL != (row[1] == "no: only a torchvision processor"):
			t.Errorf("%s: %q, but it has a PIL processor: %v", c.Name, row[1], c.PIL)
		}
	}
}
