//go:build cgo

package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"io/fs"
	"testing"
)

func TestEveryBatchSizeOfEveryNetLeavesARecord(t *testing.T) {
	for _, model := range []string{lite0, vitTiny} {
		var out bytes.Buffer
		err := run(t.Context(), options{data: "random", model: model, samples: 2, batches: []int{1, 2}}, &out)
		if errors.Is(err, fs.ErrNotExist) {
			t.Skip("ONNX Runtime is not installed: ", err)
		}
		if err != nil {
			t.Fatal(err)
		}
		lines := json.NewDecoder(&out)
		for _, batch := range []int{1, 2} {
			var l line
			if err := lines.Decode(&l); err != nil {
				t.Fatal(err)
			}
			if l.Record.Config.Batch != batch || l.Record.Config.Model != model || l.Record.Measured.PerItem <= 0 || l.Parameters < 1e6 || l.Record.Versions["onnxruntime"] == "" {
				t.Errorf("%s, batch %d: %+v", model, batch, l)
			}
		}
	}
}
