// Convert writes EfficientNet-Lite0 as an ONNX file, with the weights of a PyTorch
// file, of which it executes nothing, and the names of the classes as lines.
//
//	convert -weights WEIGHTS.pth -names NAMES.json -out DIR
//
// The script install next to this folder calls it.
package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/penstock-go/penstock/examples/internal/usage"
	"github.com/penstock-go/penstock/examples/onnx/nets"
)

func main() {
	var weights, names, dir string
	usage.File(&weights, "weights", "`file` of PyTorch with the weights")
	usage.File(&names, "names", "`file` with the names of the classes, a list in JSON")
	usage.Folder(&dir, "out", "`folder` for efficientnet-lite0.onnx and classes.txt")
	usage.Parse("Convert writes EfficientNet-Lite0 as an ONNX file.")
	if weights == "" || names == "" || dir == "" {
		usage.Fatal(usage.Errorf("want -weights, -names and -out"))
	}
	if err := convertNet(weights, filepath.Join(dir, "efficientnet-lite0.onnx")); err != nil {
		usage.Fatal(err)
	}
	if err := convertNames(names, filepath.Join(dir, "classes.txt")); err != nil {
		usage.Fatal(err)
	}
}

func convertNet(from, to string) error {
	weights, err := nets.ReadWeights(from)
	if err != nil {
		return err
	}
	file, err := nets.Lite0(weights)
	if err != nil {
		return fmt.Errorf("%s: %w", from, err)
	}
	return os.WriteFile(to, file, 0o666)
}

// convertNames writes a JSON list of names as lines.
func convertNames(from, to string) error {
	text, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	var names []string
	if err := json.Unmarshal(text, &names); err != nil {
		return fmt.Errorf("%s: %w", from, err)
	}
	if len(names) != nets.Lite0Classes {
		return fmt.Errorf("%s: %d names, want %d", from, len(names), nets.Lite0Classes)
	}
	return os.WriteFile(to, []byte(strings.Join(names, "\n")+"\n"), 0o666)
}
