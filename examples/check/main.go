// Check says why a tensor is not the one that a model's configuration asks for: which filter, which crop, which mean, which
// order of channels.
//
//	go run ./examples/check -config DIR -image FILE -tensor FILE [-out FILE] [-model FILE]
//
// DIR has a preprocessor_config.json of transformers, an open_clip_config.json, or a config.json of timm; yolo:640 stands for YOLO's
// letterbox of that side. The tensor is what another program made of the image: an .npy file, a .safetensors file, or raw float32 values. Check compares it with the exact one, tries what
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
	"image"
	"image/png"
	"io"
	"log"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/penstock-go/penstock/transform"
	"github.com/penstock-go/penstock/transform/presets"
)

// options are what the flags say.
type options struct {
	config, image, tensor, name, out, model string
}

func main() {
	log.SetFlags(0)
	var o options
	flag.StringVar(&o.config, "config", "", "`folder` of the model: its preprocessor_config.json, open_clip_config.json or timm's config.json; or yolo:640 for YOLO of that side")
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
	step, file, err := stepOf(o.config)
	if err != nil {
		return err
	}
	photo, err := os.ReadFile(o.image)
	if err != nil {
		return fmt.Errorf("-image %s: %w", o.image, err)
	}
	m, err := modelOf(step, photo)
	if err != nil {
		return fmt.Errorf("-image %s: %w", o.image, err)
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

// stepOf makes the steps of a model's folder, or of YOLO's letterbox.
func stepOf(config string) (step transform.Step, file string, err error) {
	if text, ok := strings.CutPrefix(config, "yolo:"); ok {
		side, err := strconv.Atoi(text)
		if err != nil {
			return nil, config, fmt.Errorf("-config %s: want yolo:640 or another side", config)
		}
		return presets.YOLO(side), config, nil
	}
	step, file, err = presets.Open(os.DirFS(config))
	if file = filepath.Join(config, file); err != nil {
		err = fmt.Errorf("-config %s: %w", file, err)
	}
	return step, file, err
}

// report prints what the search finds, and returns it. It finds nothing if no recipe makes as many values as theirs has.
func (c *comparison) report(out io.Writer) (candidate, bool) {
	if len(c.theirs.values) != len(c.exact) {
		fmt.Fprintf(out, "  it has %d values, and the exact tensor %d: 3×%d×%d\n", len(c.theirs.values), len(c.exact), c.h, c.w)
	} else {
		l := c.compare(pictureOf(c.exact, c.w, c.h, c.base.values), &c.base.values)
		if l.exact {
			fmt.Fprintf(out, "it is the exact tensor, but for rounding: no value differs by more than %.2g levels\n", l.most)
			return candidate{recipe: c.base, w: c.w, h: c.h}, true
		}
		fmt.Fprintf(out, "  %.1f %% of its values differ, by %v (a level is 1/255 of the way from black to white)\n", 100*l.share, l)
	}
	if c.limited {
		fmt.Fprintln(out, "  how this configuration crops and resizes cannot be varied: only layout, channels, scale, mean and std are")
	}
	best, others, ok := c.explain()
	switch says := "\nexactly explained by"; {
	case !ok:
		return best, false
	case best.leftover.exact:
		for _, t := range append([]candidate{best}, others[:min(len(others), 3)]...) {
			bullets(out, says, t)
			says = "or by, since this image cannot tell them apart"
		}
	case len(best.deviations) == 0:
		fmt.Fprintln(out, "\nnot explained: nothing that was tried halves the difference")
	default:
		bullets(out, "\nnot explained exactly; nearest, with", best)
		fmt.Fprintf(out, "which leaves %v\n", best.leftover)
	}
	return best, true
}

func bullets(out io.Writer, says string, t candidate) {
	fmt.Fprintln(out, says)
	for _, d := range t.deviations {
		fmt.Fprintf(out, "  - %s\n", d.says)
	}
}

func (l leftover) String() string {
	return fmt.Sprintf("%.3g levels on average and %.3g at most", l.mean, l.most)
}

// draw writes a PNG file with the exact picture, theirs and the difference side by side, and returns by how much the difference
// is multiplied. Theirs is seen with the values that were found, so that what is left to see are the pixels.
func (c *comparison) draw(path string, found candidate) (gain int, err error) {
	exact, theirs := pictureOf(c.exact, c.w, c.h, c.base.values), pictureOf(c.theirs.values, found.w, found.h, found.recipe.values)
	difference, most := picture{w: min(exact.w, theirs.w), h: min(exact.h, theirs.h)}, float32(0)
	for k := range 3 {
		for i := range difference.w * difference.h {
			x, y := i%difference.w, i/difference.w
			d := exact.planes[k][y*exact.w+x] - theirs.planes[k][y*theirs.w+x]
			difference.planes[k], most = append(difference.planes[k], max(d, -d)), max(most, d, -d)
		}
	}
	for gain = 1; gain < 64 && most*float32(2*gain) <= 255; {
		gain *= 2
	}
	const gap = 4
	w, h := max(exact.w, theirs.w), max(exact.h, theirs.h)
	m := image.NewRGBA(image.Rect(0, 0, 3*w+2*gap, h))
	for k, p := range []picture{exact, theirs, difference} {
		for i := range p.w * p.h {
			at := m.PixOffset(k*(w+gap)+i%p.w, i/p.w)
			for ch, plane := range p.planes {
				m.Pix[at+ch] = uint8(min(max(plane[i]*float32([]int{1, 1, gain}[k]), 0), 255) + 0.5)
			}
			m.Pix[at+3] = 255
		}
	}
	file, err := os.Create(path)
	if err != nil {
		return 0, err
	}
	return gain, errors.Join(png.Encode(file, m), file.Close())
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
