package nets

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// The sizes of EfficientNet-Lite0.
const (
	Lite0Size       = 224     // of images, in pixels on each side
	Lite0Classes    = 1000    // ImageNet's
	Lite0Parameters = 4652008 // trained weights
)

// stages are EfficientNet-Lite0's stages of inverted residual blocks. Only the
// first block of a stage has its stride. Source: the package
// efficientnet-lite-pytorch 0.1.0, utils.py, and Tan and Le, EfficientNet,
// https://arxiv.org/abs/1905.11946, table 1.
var stages = []struct{ blocks, kernel, stride, expand, channels int }{
	{1, 3, 1, 1, 16},
	{2, 3, 2, 6, 24},
	{2, 5, 2, 6, 40},
	{3, 3, 2, 6, 80},
	{3, 5, 1, 6, 112},
	{4, 5, 2, 6, 192},
	{1, 3, 1, 6, 320},
}

const (
	stemChannels = 32
	headChannels = 1280
	epsilon      = 1e-3 // of batch normalisation
)

// Lite0 is EfficientNet-Lite0 as an ONNX file. Its input is "image", float32
// (n, 3, 224, 224), and its output "logits", float32 (n, 1000). The weights have
// the names of the package efficientnet-lite-pytorch 0.1.0. It is an error if one
// is missing, has another shape, or is left over.
func Lite0(weights map[string]Weight) ([]byte, error) {
	l := &lite0{weights: maps.Clone(weights), size: Lite0Size}
	x := l.layers()
	for name := range maps.Keys(l.weights) {
		if !strings.HasSuffix(name, ".num_batches_tracked") { // of training
			l.errs = append(l.errs, fmt.Errorf("weight %s belongs to no layer", name))
		}
	}
	if len(l.errs) > 0 {
		return nil, fmt.Errorf("nets: EfficientNet-Lite0: %w", errors.Join(l.errs...))
	}
	return l.model("efficientnet-lite0", x, Lite0Size, Lite0Classes), nil
}

// lite0 is the network that is being written.
type lite0 struct {
	graph
	weights map[string]Weight // not used so far
	size    int               // of the images after the last layer
	six     [2]string         // the bounds of ReLU6
	errs    []error
}

// layers adds all layers and returns the last one's result.
func (l *lite0) layers() string {
	l.six = [2]string{l.floats("zero", []float32{0}), l.floats("six", []float32{6})}
	x := l.relu6(l.conv("image", "_conv_stem", "_bn0", 3, stemChannels, 3, 2, 1))
	in, block := stemChannels, 0
	for _, s := range stages {
		for k := range s.blocks {
			stride := s.stride
			if k > 0 {
				stride = 1
			}
			x = l.block(x, fmt.Sprintf("_blocks.%d.", block), in, s.channels, s.kernel, stride, s.expand)
			in = s.channels
			block++
		}
	}
	x = l.relu6(l.conv(x, "_conv_head", "_bn1", in, headChannels, 1, 1, 1))
	x = l.node("Flatten", []string{l.node("GlobalAveragePool", []string{x})})
	return l.node("Gemm", []string{x, l.take("_fc.weight", Lite0Classes, headChannels), l.take("_fc.bias", Lite0Classes)}, intAttribute("transB", 1))
}

// block is an inverted residual block: expansion, depthwise convolution,
// projection, and the input added where it has the same shape.
func (l *lite0) block(x, name string, in, out, kernel, stride, expand int) string {
	input, wide := x, in*expand
	if expand > 1 {
		x = l.relu6(l.conv(x, name+"_expand_conv", name+"_bn0", in, wide, 1, 1, 1))
	}
	x = l.relu6(l.conv(x, name+"_depthwise_conv", name+"_bn1", wide, wide, kernel, stride, wide))
	x = l.conv(x, name+"_project_conv", name+"_bn2", wide, out, 1, 1, 1)
	if stride == 1 && in == out {
		x = l.node("Add", []string{x, input})
	}
	return x
}

// conv is a convolution without bias and a batch normalisation. The padding is
// TensorFlow's "same": the odd pixel lies below and to the right.
func (l *lite0) conv(x, name, norm string, in, out, kernel, stride, groups int) string {
	sides := (l.size + stride - 1) / stride
	pad := max((sides-1)*stride+kernel-l.size, 0)
	l.size = sides
	x = l.node("Conv", []string{x, l.take(name+".weight", out, in/groups, kernel, kernel)},
		intsAttribute("kernel_shape", kernel, kernel), intsAttribute("strides", stride, stride), intAttribute("group", groups),
		intsAttribute("pads", pad/2, pad/2, pad-pad/2, pad-pad/2))
	return l.node("BatchNormalization", []string{x, l.take(norm+".weight", out), l.take(norm+".bias", out),
		l.take(norm+".running_mean", out), l.take(norm+".running_var", out)}, floatAttribute("epsilon", epsilon))
}

func (l *lite0) relu6(x string) string { return l.node("Clip", []string{x, l.six[0], l.six[1]}) }

// take adds a weight to the graph.
func (l *lite0) take(name string, shape ...int) string {
	w, ok := l.weights[name]
	delete(l.weights, name)
	switch n := elements(shape); {
	case !ok:
		l.errs = append(l.errs, &missing{name, shape})
	case !slices.Equal(w.Shape, shape) || len(w.Values) != n:
		l.errs = append(l.errs, fmt.Errorf("weight %s: %d values of shape %v, want %v", name, len(w.Values), w.Shape, shape))
	}
	return l.floats(name, w.Values, shape...)
}

// missing is the error for a weight that is not there.
type missing struct {
	name  string
	shape []int
}

func (e *missing) Error() string { return fmt.Sprintf("weight %s is missing", e.name) }

func elements(shape []int) int {
	n := 1
	for _, side := range shape {
		n *= side
	}
	return n
}
