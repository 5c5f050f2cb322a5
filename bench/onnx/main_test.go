//go:build cgo

package main

import (
	"errors"
	"io/fs"
	"testing"

	"github.com/penstock-go/penstock/bench"
	"github.com/penstock-go/penstock/bench/result"
)

func TestEveryNetIsMeasured(t *testing.T) {
	for _, name := range []string{"efficientnet-lite0", "vit-tiny"} {
		m, parameters, err := measure(t.Context(), bench.Cell{Config: result.Config{Batch: 2, Model: name}, Samples: 3})
		if errors.Is(err, fs.ErrNotExist) {
			t.Skip("ONNX Runtime is not installed: ", err)
		}
		if err != nil {
			t.Fatal(err)
		}
		if m.Samples != 4 || m.PerItem <= 0 || parameters < 1e6 {
			t.Errorf("%s: %+v, %d parameters", name, m, parameters)
		}
	}
	if _, _, err := measure(t.Context(), bench.Cell{Config: result.Config{Batch: 1, Model: "no"}, Samples: 1}); err == nil {
		t.Error("a net that there is not: no error")
	}
}
