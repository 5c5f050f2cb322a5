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
		log.Fatal("want three arguments: WEIGHTS.pth NAMES.json DIR")
	}
	if err := convert(os.Args[1], os.Args[2], os.Args[3]); err != nil {
		log.Fatal(err)
	}
}

func convert(from, names, dir string) error {
	weights, err := nets.ReadWeights(from)
	if err != nil {
		return err
	}
	file, err := nets.Lite0(weights)
	if err != nil {
		return fmt.Errorf("%s: %w", from, err)
	}
	text, err := os.ReadFile(names)
	if err != nil {
		return err
	}
	var classes []string
	if err := json.Unmarshal(text, &classes); err != nil || len(classes) != nets.Lite0Classes {
		return fmt.Errorf("%s: want a list of %d names: %v", names, nets.Lite0Classes, err)
	}
	if err := os.WriteFile(filepath.Join(dir, "efficientnet-lite0.onnx"), file, 0o666); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, "classes.txt"), []byte(strings.Join(classes, "\n")+"\n"), 0o666)
}
