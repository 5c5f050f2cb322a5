// Check says why a tensor is not the one that a model's configuration asks for: which filter, which crop, which mean, which
// order of channels.
//
//	go run ./examples/check -config DIR -image FILE -tensor FILE [-out FILE] [-model FILE]
//
// DIR has a preprocessor_config.json of transformers or a config.json of timm. The tensor is what another program made of
// the image: an .npy file, a .safetensors file, or raw float32 values. Check compares it with the exact one, tries what
// people do in another way, one by one and together, and prints what explains the difference. It says "exactly" only if then no
// value is off by more than rounding: a level of 16 bits. It draws both and their difference.
//
// With a model it also says how much that matters: it runs examples/onnx/outputs on both tensors, which needs ONNX Runtime.
package main

import (
	"context"
	"encoding/binary"
	"errors"
	"flag"
	"fmt"
	"io"
	"log"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"

	"github.com/penstock-go/penstock/transform/presets"
)

// options are what the flags say.
type options struct {
	config, image, tensor, name, out, model string
}

func main() {
	log.SetFlags(0)
	var o options
	flag.StringVar(&o.config, "config", "", "`folder` of the model: its preprocessor_config.json, open_clip_config.json or timm's config.json")
	flag.StringVar(&o.image, "image", "", "`file` of the image")
	flag.StringVar(&o.tensor, "tensor", "", "`file` of the tensor: .npy, .safetensors, or raw float32")
	flag.StringVar(&o.name, "name", "", "`name` of the tensor in a .safetensors file; pixel_values, or the only one")
	flag.StringVar(&o.out, "out", "difference.png", "`file` to draw the difference in")
	flag.StringVar(&o.model, "model", "", "`file` of an ONNX model, to see how much the difference matters to it")
	flag.Parse()
	if flag.NArg() > 0 {
		log.Fatalf("%q is no flag: see -h", flag.Arg(0))
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	context.AfterFunc(ctx, stop) // a second interrupt does not wait
	if err := run(ctx, os.Stdout, o); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context, out io.Writer, o options) error {
	for _, f := range []struct{ flag, value string }{{"-config", o.config}, {"-image", o.image}, {"-tensor", o.tensor}} {
		if f.value == "" {
			return fmt.Errorf("%s is missing: see -h", f.flag)
		}
	}
	step, file, err := presets.Open(os.DirFS(o.config))
	if err != nil {
		return fmt.Errorf("-config %s: %w", filepath.Join(o.config, file), err)
	}
	photo, err := os.ReadFile(o.image)
	if err != nil {
		return err
	}
	m, err := modelOf(step, photo)
	if err != nil {
		return fmt.Errorf("%s: %w", o.image, err)
	}
	theirs, err := readTensor(o.tensor, o.name)
	if err != nil {
		return err
	}
	c, err := newComparison(m, photo, theirs)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "%s asks for\n  %s\n%s: %v\n", file, strings.ReplaceAll(m.plan, "\n", "\n  "), o.tensor, &theirs)
	found, ok := c.report(out)
	if !ok {
		return fmt.Errorf("%s has %d values, the exact tensor %d (3×%d×%d): nothing that was tried makes that many", o.tensor, len(theirs.values), len(m.exact), m.h, m.w)
	}
	gain, err := c.draw(o.out, found)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "%s shows the exact picture, yours, and the difference × %d\n", o.out, gain)
	if o.model == "" {
		return nil
	}
	return matters(ctx, out, o.model, m.exact, theirs.values)
}

// report prints what the search finds, and returns the recipe. It finds none if no recipe makes as many values as theirs has.
func (c *comparison) report(out io.Writer) (recipe, bool) {
	if len(c.theirs.values) == len(c.model.exact) {
		l := c.seen().leftover(c.base.values, c.theirs)
		if l.exact {
			fmt.Fprintf(out, "it is the exact tensor, but for rounding: no value differs by more than %.2g levels\n", l.most)
			return c.base, true
		}
		fmt.Fprintf(out, "  %.1f %% of its values differ, by %v (a level is 1/255 of the way from black to white)\n", 100*l.share, l)
	} else {
		fmt.Fprintf(out, "  it has %d values, and the exact tensor %d: 3×%d×%d\n", len(c.theirs.values), len(c.model.exact), c.model.h, c.model.w)
	}
	if c.limited {
		fmt.Fprintln(out, "  how this configuration crops and resizes cannot be varied: only layout, channels, scale, mean and std are")
	}
	a, ok := c.explain()
	switch best := a.best; {
	case !ok:
		return recipe{}, false
	case best.leftover.exact:
		fmt.Fprintln(out, "\nexactly explained by")
		bullets(out, best.deviations)
		for _, other := range a.others[:min(len(a.others), 3)] {
			fmt.Fprintln(out, "or by, since this image cannot tell them apart")
			bullets(out, other.deviations)
		}
	case len(best.deviations) == 0:
		fmt.Fprintln(out, "\nnot explained: nothing that was tried halves the difference")
	default:
		fmt.Fprintln(out, "\nnot explained exactly; nearest, with")
		bullets(out, best.deviations)
		fmt.Fprintf(out, "which leaves %v\n", best.leftover)
	}
	return a.best.recipe, true
}

func bullets(out io.Writer, list []deviation) {
	for _, d := range list {
		fmt.Fprintf(out, "  - %s\n", d.says)
	}
}

func (l leftover) String() string {
	return fmt.Sprintf("%.3g levels on average and %.3g at most", l.mean, l.most)
}

// matters runs a model on both tensors, in the program that has ONNX Runtime.
func matters(ctx context.Context, out io.Writer, model string, exact, theirs []float32) (err error) {
	dir, err := os.MkdirTemp("", "check")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	arguments := []string{"run", "github.com/penstock-go/penstock/examples/onnx/outputs", "-net", model}
	for k, values := range [][]float32{exact, theirs} {
		path := filepath.Join(dir, []string{"exact.raw", "theirs.raw"}[k])
		bytes, err := binary.Append(nil, binary.LittleEndian, values)
		if err == nil {
			err = os.WriteFile(path, bytes, 0o666)
		}
		if err != nil {
			return err
		}
		arguments = append(arguments, path)
	}
	cmd := exec.CommandContext(ctx, "go", arguments...)
	cmd.Stdout, cmd.Stderr = out, os.Stderr
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("-model %s: examples/onnx/outputs: %w", model, err)
	}
	return nil
}
