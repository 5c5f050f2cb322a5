// Package nets writes networks as ONNX files: EfficientNet-Lite0 with the weights
// of a PyTorch file, and a vision transformer with random weights.
package nets

import (
	"encoding/binary"
	"fmt"
	"math"

	"google.golang.org/protobuf/encoding/protowire"
)

// The fields' numbers are those of onnx.proto of ONNX 1.15, whose operators have
// version 20. Source: https://github.com/onnx/onnx/blob/v1.15.0/onnx/onnx.proto.
const (
	irVersion    = 9
	opsetVersion = 20

	typeFloat = 1 // TensorProto.DataType
	typeInt64 = 7
)

// A graph is a network that is being written. A method that adds an operator
// returns the name of its result.
type graph struct {
	nodes   []byte
	weights []byte
	n       int // results so far
}

// node adds an operator.
func (g *graph) node(op string, inputs []string, attributes ...[]byte) string {
	g.n++
	result := fmt.Sprintf("%s_%d", op, g.n)
	var m []byte
	for _, in := range inputs {
		m = text(m, 1, in)
	}
	m = text(m, 2, result)
	m = text(m, 3, result)
	m = text(m, 4, op)
	for _, a := range attributes {
		m = message(m, 5, a)
	}
	g.nodes = message(g.nodes, 1, m)
	return result
}

// floats adds constant values: weights, or an operator's parameter.
func (g *graph) floats(name string, values []float32, shape ...int) string {
	raw := make([]byte, 0, 4*len(values))
	for _, v := range values {
		raw = binary.LittleEndian.AppendUint32(raw, math.Float32bits(v))
	}
	return g.constant(name, typeFloat, raw, shape)
}

// ints adds a list of constant numbers, such as a shape.
func (g *graph) ints(name string, values ...int64) string {
	raw := make([]byte, 0, 8*len(values))
	for _, v := range values {
		raw = binary.LittleEndian.AppendUint64(raw, uint64(v))
	}
	return g.constant(name, typeInt64, raw, []int{len(values)})
}

func (g *graph) constant(name string, dtype uint64, raw []byte, shape []int) string {
	var m []byte
	for _, n := range shape {
		m = varint(m, 1, uint64(n))
	}
	m = varint(m, 2, dtype)
	m = text(m, 8, name)
	m = message(m, 9, raw)
	g.weights = message(g.weights, 5, m)
	return name
}

// model is the file of a network that takes "image", float32 (n, 3, size, size), and
// gives x as "logits", float32 (n, classes), for any number n.
func (g *graph) model(name, x string, size, classes int) []byte {
	m := append([]byte(nil), g.nodes...)
	m = message(m, 1, text(text(text(nil, 1, x), 2, "logits"), 4, "Identity"))
	m = text(m, 2, name)
	m = append(m, g.weights...)
	m = message(m, 11, value("image", 3, size, size))
	m = message(m, 12, value("logits", classes))
	var file []byte
	file = varint(file, 1, irVersion)
	file = text(file, 2, "penstock")
	file = message(file, 7, m)
	return message(file, 8, varint(nil, 2, opsetVersion))
}

// value describes an input or output: (n, shape...) of float32.
func value(name string, shape ...int) []byte {
	dims := message(nil, 1, text(nil, 2, "n"))
	for _, n := range shape {
		dims = message(dims, 1, varint(nil, 1, uint64(n)))
	}
	tensor := varint(nil, 1, typeFloat)
	tensor = message(tensor, 2, dims)
	return message(text(nil, 1, name), 2, message(nil, 1, tensor))
}

// The attributes of operators.

func intAttribute(name string, v int) []byte {
	return varint(varint(text(nil, 1, name), 3, uint64(v)), 20, 2)
}

func intsAttribute(name string, values ...int) []byte {
	m := text(nil, 1, name)
	for _, v := range values {
		m = varint(m, 8, uint64(v))
	}
	return varint(m, 20, 7)
}

func floatAttribute(name string, v float32) []byte {
	m := protowire.AppendTag(text(nil, 1, name), 2, protowire.Fixed32Type)
	return varint(protowire.AppendFixed32(m, math.Float32bits(v)), 20, 1)
}

// The wire format.

func varint(m []byte, field protowire.Number, v uint64) []byte {
	return protowire.AppendVarint(protowire.AppendTag(m, field, protowire.VarintType), v)
}

func text(m []byte, field protowire.Number, s string) []byte {
	return protowire.AppendString(protowire.AppendTag(m, field, protowire.BytesType), s)
}

func message(m []byte, field protowire.Number, content []byte) []byte {
	return protowire.AppendBytes(protowire.AppendTag(m, field, protowire.BytesType), content)
}
