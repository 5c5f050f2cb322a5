package classic_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/penstock-go/penstock/dataset/classic"
	"github.com/penstock-go/penstock/internal/datatest"
)

func TestPipesAreNotOpened(t *testing.T) {
	fsys := datatest.PipeFS{T: t}
	for name, read := range map[string]func() error{
		"data_batch_1.bin":        func() error { _, err := classic.CIFAR10(fsys, classic.Train); return err },
		"train-images-idx3-ubyte": func() error { _, err := classic.MNIST(fsys, classic.Train); return err },
	} {
		got := fmt.Sprint(read())
		if !strings.HasPrefix(got, "classic: read "+name+": ") || !strings.HasSuffix(got, "not a file") {
			t.Errorf("got %s, want classic: read %s: not a file", got, name)
		}
	}
}
