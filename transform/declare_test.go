package transform_test

import (
	"strings"
	"testing"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/transform"
)

func TestAnUnknownFieldIsAnsweredWithThoseOfTheDataset(t *testing.T) {
	_, err := transform.Images(ramp(t, 8, 8, 3), transform.Boxes("box", dataset.BoxesXYXY), transform.ToTensor())
	if want := `the dataset has no field "box", only image uint8 (8, 8, 3)`; err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("got %v, want %s", err, want)
	}
}
