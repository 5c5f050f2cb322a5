// Convert writes EfficientNet-Lite0 as an ONNX file, with the weights of a PyTorch
// file, of which it executes nothing, and the names of the classes as lines.
//
//	convert WEIGHTS.pth NAMES.json DIR
//
// The script install next to this folder calls it.
package main

import (
	"encoding/json"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"strings"

	"github.com/penstock-go/penstock/examples/onnx/nets"
)

func main() {
	log.SetFlags(0)
	if len(os.Args) != 4 {
		log.Fatal("usage: convert WEIGHTS.pth NAMES.json DIR")
	}
	weights, names, dir := os.Args[1], os.Args[2], os.Args[3]
	if err := convertNet(weights, filepath.Join(dir, "efficientnet-lite0.onnx")); err != nil {
		log.Fatal(err)
	}
	if err := convertNames(names, filepath.Join(dir, "classes.txt")); err != nil {
		log.Fatal(err)
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
