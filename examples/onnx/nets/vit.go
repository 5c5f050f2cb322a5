package nets

import (
	"fmt"
	"math"
	"math/rand/v2"
)

// A ViT is the size of a vision transformer. Its class comes from the mean of all
// tokens. Source: Dosovitskiy et al., https://arxiv.org/abs/2010.11929; the sizes of
// ViTTiny are DeiT-Ti's, https://arxiv.org/abs/2012.12877, table 1.
type ViT struct {
	Size    int // of images, in pixels on each side
	Patch   int // of a token, in pixels on each side
	Width   int
	Layers  int
	Heads   int
	Classes int
}

// ViTTiny has 5.7 million weights.
var ViTTiny = ViT{Size: 224, Patch: 16, Width: 192, Layers: 12, Heads: 3, Classes: 1000}

// Random is the network with random weights as an ONNX file: it takes the time of
// a trained one and knows nothing. Its input is "image", float32 (n, 3, Size,
// Size), and its output "logits", float32 (n, Classes).
func (v ViT) Random(seed uint64) []byte { return v.written(seed).file }

// Parameters is the number of weights.
func (v ViT) Parameters() int {
	w := v.Width
	tokens := v.Size / v.Patch * (v.Size / v.Patch)
	layer := 4*w + (w*3*w + 3*w) + (w*w + w) + (w*4*w + 4*w) + (4*w*w + w)
	return (3*v.Patch*v.Patch*w + w) + tokens*w + v.Layers*layer + 2*w + (w*v.Classes + v.Classes)
}

func (v ViT) written(seed uint64) *transformer {
	t := &transformer{ViT: v, random: rand.New(rand.NewPCG(seed, 0))}
	w, side := v.Width, v.Size/v.Patch
	tokens := side * side
	t.tokens = t.ints("tokens", 0, int64(w), int64(tokens))
	t.split = t.ints("split", 0, int64(tokens), 3, int64(v.Heads), int64(w/v.Heads))
	t.merge = t.ints("merge", 0, int64(tokens), int64(w))
	t.scale = t.floats("scale", []float32{float32(1 / math.Sqrt(float64(w/v.Heads)))})

	x := t.node("Conv", []string{"image", t.normal("patches.weight", 3*v.Patch*v.Patch, w, 3, v.Patch, v.Patch), t.same("patches.bias", 0, w)},
		intsAttribute("kernel_shape", v.Patch, v.Patch), intsAttribute("strides", v.Patch, v.Patch))
	x = t.node("Reshape", []string{x, t.tokens})
	x = t.node("Transpose", []string{x}, intsAttribute("perm", 0, 2, 1))
	x = t.node("Add", []string{x, t.normal("position", 2500, 1, tokens, w)})
	for k := range v.Layers {
		name := fmt.Sprintf("layer%d.", k)
		x = t.node("Add", []string{x, t.attention(t.norm(x, name+"norm0"), name)})
		y := t.linear(t.norm(x, name+"norm1"), name+"up", w, 4*w)
		y = t.linear(t.node("Gelu", []string{y}), name+"down", 4*w, w)
		x = t.node("Add", []string{x, y})
	}
	x = t.node("ReduceMean", []string{t.norm(x, "norm"), t.ints("axis", 1)}, intAttribute("keepdims", 0))
	x = t.linear(x, "head", w, v.Classes)
	t.file = t.model("vit", x, v.Size, v.Classes)
	return t
}

type transformer struct {
	graph
	ViT
	random               *rand.Rand
	tokens, split, merge string // shapes
	scale                string // of dot products
	parameters           int
	file                 []byte
}

// attention is multi-head self-attention.
func (t *transformer) attention(x, name string) string {
	w := t.Width
	x = t.node("Reshape", []string{t.linear(x, name+"qkv", w, 3*w), t.split})
	x = t.node("Transpose", []string{x}, intsAttribute("perm", 2, 0, 3, 1, 4))
	var qkv [3]string
	for k := range qkv {
		index := t.constant(fmt.Sprintf("%sindex%d", name, k), typeInt64, []byte{byte(k), 0, 0, 0, 0, 0, 0, 0}, nil)
		qkv[k] = t.node("Gather", []string{x, index}, intAttribute("axis", 0))
	}
	keys := t.node("Transpose", []string{qkv[1]}, intsAttribute("perm", 0, 1, 3, 2))
	x = t.node("MatMul", []string{t.node("Mul", []string{qkv[0], t.scale}), keys})
	x = t.node("Softmax", []string{x}, intAttribute("axis", -1))
	x = t.node("MatMul", []string{x, qkv[2]})
	x = t.node("Transpose", []string{x}, intsAttribute("perm", 0, 2, 1, 3))
	return t.linear(t.node("Reshape", []string{x, t.merge}), name+"out", w, w)
}

func (t *transformer) linear(x, name string, in, out int) string {
	x = t.node("MatMul", []string{x, t.normal(name+".weight", in, in, out)})
	return t.node("Add", []string{x, t.same(name+".bias", 0, out)})
}

func (t *transformer) norm(x, name string) string {
	return t.node("LayerNormalization", []string{x, t.same(name+".weight", 1, t.Width), t.same(name+".bias", 0, t.Width)},
		intAttribute("axis", -1), floatAttribute("epsilon", 1e-6))
}

// normal adds random weights whose variance is one over the number of inputs.
func (t *transformer) normal(name string, inputs int, shape ...int) string {
	return t.weight(name, func() float32 { return float32(t.random.NormFloat64() / math.Sqrt(float64(inputs))) }, shape...)
}

// same adds weights that all have one value.
func (t *transformer) same(name string, v float32, n int) string {
	return t.weight(name, func() float32 { return v }, n)
}

func (t *transformer) weight(name string, value func() float32, shape ...int) string {
	values := make([]float32, elements(shape))
	for i := range values {
		values[i] = value()
	}
	t.parameters += len(values)
	return t.floats(name, values, shape...)
}
