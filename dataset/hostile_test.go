package dataset_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/internal/datatest"
)

func TestPipesAreNotOpened(t *testing.T) {
	fsys := datatest.PipeFS{T: t}
	for name, read := range map[string]func() error{
		"a.bin":                   func() error { _, err := dataset.CIFAR10(fsys, dataset.Train, dataset.CIFARFiles("a.bin")); return err },
		"train-images-idx3-ubyte": func() error { _, err := dataset.MNIST(fsys, dataset.Train); return err },
	} {
		got := fmt.Sprint(read())
		if !strings.HasPrefix(got, "dataset: read "+name+": ") || !strings.HasSuffix(got, "not a file") {
			t.Errorf("got %s, want dataset: read %s: not a file", got, name)
		}
	}
}
