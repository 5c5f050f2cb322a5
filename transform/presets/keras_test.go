package presets_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/internal/datatest"
	"github.com/penstock-go/penstock/transform"
)

// TestStepsOfKerasAreKeras compares the steps that docs/processors.md lists for models of Keras with what TensorFlow and Keras make.
func TestStepsOfKerasAreKeras(t *testing.T) {
	ones := []float32{1}
	ways := map[string]struct {
		text  string
		steps []transform.Item
	}{
		"tf":    {"Rescale(1/127.5), Normalize([]float32{1}, []float32{1})", []transform.Item{transform.Rescale(1 / 127.5), transform.Normalize(ones, ones)}},
		"torch": {"ToTensor(), Normalize(ImageNetMean, ImageNetStd)", []transform.Item{transform.ToTensor(), transform.Normalize(transform.ImageNetMean, transform.ImageNetStd)}},
		"caffe": {
			"Rescale(1), BGR(), Normalize([]float32{103.939, 116.779, 123.68}, []float32{1})",
			[]transform.Item{transform.Rescale(1), transform.BGR(), transform.Normalize([]float32{103.939, 116.779, 123.68}, ones)},
		},
		"layer": {"ToDtype(dataset.Float32, Scaled())", []transform.Item{transform.ToDtype(dataset.Float32, transform.Scaled())}},
		"none":  {"Rescale(1)", []transform.Item{transform.Rescale(1)}},
	}
	doc, err := os.ReadFile("../../docs/processors.md")
	if err != nil {
		t.Fatal(err)
	}
	var golden struct {
		Pictures []string
		Made     []struct {
			Size [2]int
			Mode string
			Sums []string
		}
	}
	datatest.JSON(t, "testdata/keras.json", &golden)
	if len(golden.Pictures) != 12 || len(golden.Made) < 3*len(ways) {
		t.Fatalf("only %d pictures and %d cases", len(golden.Pictures), len(golden.Made))
	}
	for _, c := range golden.Made {
		t.Run(fmt.Sprint(c.Mode, c.Size), func(t *testing.T) {
			way := ways[c.Mode]
			if !strings.Contains(string(doc), "`"+way.text+"`") {
				t.Errorf("docs/processors.md does not have %s", way.text)
			}
			resize := transform.Resize(c.Size, transform.Interpolation(transform.TensorFlowBilinear))
			p, err := transform.Compile(append([]transform.Item{resize, transform.Layout(transform.HWC)}, way.steps...)...)
			if err != nil {
				t.Fatal(err)
			}
			for i, name := range golden.Pictures {
				data, err := os.ReadFile(filepath.Join("testdata/pictures", name))
				if err != nil {
					t.Fatal(err)
				}
				if got := digest(t, p, data); got != c.Sums[i] {
					t.Errorf("%s: other bits: %s, want %s", name, got, c.Sums[i])
				}
			}
		})
	}
}
