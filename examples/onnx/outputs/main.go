//go:build cgo

// Outputs says how much a difference between two inputs matters to a model: it runs an ONNX model on both, and prints the
// cosine of the outputs and the classes that each has at the top.
//
//	examples/onnx/install
//	go run ./examples/onnx/outputs -net FILE [-classes FILE] [-top N] A B
//
// A and B are raw float32 values of one sample. examples/check -model runs it on the exact tensor and on yours.
package main

import (
	"encoding/binary"
	"errors"
	"flag"
	"fmt"
	"io"
	"log"
	"math"
	"os"
	"path/filepath"
	"strings"

	"github.com/penstock-go/penstock/examples/onnx/model"
	"github.com/penstock-go/penstock/examples/onnx/ort"
)

// options are what the flags say.
type options struct {
	net     string
	classes string
	top     int
}

func main() {
	log.SetFlags(0)
	var o options
	flag.StringVar(&o.net, "net", filepath.Join(model.Folder(), "efficientnet-lite0.onnx"), "`file` of the model, of one input and one output")
	flag.StringVar(&o.classes, "classes", "", "`file` with the name of a class in each line; by default those that examples/onnx/install has, if there are as many")
	flag.IntVar(&o.top, "top", 5, "`classes` to print")
	flag.Parse()
	if flag.NArg() != 2 {
		log.Fatal("want two files of raw float32 values: see -h")
	}
	if err := run(os.Stdout, o, flag.Arg(0), flag.Arg(1)); err != nil {
		log.Fatal(err)
	}
}

func run(out io.Writer, o options, a, b string) (err error) {
	if o.top < 1 {
		return errors.New("-top: want 1 or more")
	}
	files, err := model.Find(model.Folder())
	if err != nil {
		return err
	}
	stop, err := ort.Start(files.Library)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, stop()) }()
	session, err := ort.Open(o.net, 0)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, session.Close()) }()
	names, err := o.names(files, session.Classes())
	if err != nil {
		return err
	}
	var outputs [2][]float32
	for k, path := range []string{a, b} {
		if outputs[k], err = output(session, path); err != nil {
			return err
		}
	}
	fmt.Fprintf(out, "cosine of the model's outputs: %.6f\n", cosine(outputs[0], outputs[1]))
	first, second := model.Top(outputs[0], names, o.top), model.Top(outputs[1], names, o.top)
	for k, title := range []string{"exact:", "yours:"} {
		fmt.Fprint(out, title)
		for _, c := range [][]model.Class{first, second}[k] {
			fmt.Fprintf(out, " %d %s %.1f %%,", c.Index, c.Name, 100*c.Probability)
		}
		fmt.Fprintln(out)
	}
	kept := 0
	for _, f := range first {
		for _, s := range second {
			if f.Index == s.Index {
				kept++
			}
		}
	}
	same := "the same"
	if first[0].Index != second[0].Index {
		same = "another one"
	}
	fmt.Fprintf(out, "the first class is %s, and %d of the first %d are still among them\n", same, kept, len(first))
	return nil
}

// output is what the model makes of the values in a file.
func output(session *ort.Session, path string) ([]float32, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	if len(data) != 4*session.Values() {
		return nil, fmt.Errorf("%s has %d bytes: the model takes %d values of 4 bytes", path, len(data), session.Values())
	}
	x, y := make([]float32, session.Values()), make([]float32, session.Classes())
	if _, err := binary.Decode(data, binary.LittleEndian, x); err != nil {
		return nil, err
	}
	return y, session.Run(x, y, 1)
}

// names are those of the model's classes, or none.
func (o options) names(files model.Files, classes int) ([]string, error) {
	if o.classes != "" {
		text, err := os.ReadFile(o.classes)
		return strings.Split(string(text), "\n"), err
	}
	if len(files.Classes) == classes {
		return files.Classes, nil
	}
	return nil, nil
}

// cosine is that of the angle between two outputs.
func cosine(a, b []float32) float64 {
	var ab, aa, bb float64
	for i := range a {
		x, y := float64(a[i]), float64(b[i])
		ab, aa, bb = ab+x*y, aa+x*x, bb+y*y
	}
	return ab / math.Sqrt(aa*bb)
}
