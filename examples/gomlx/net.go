package main

import (
	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/ml/layers"
	"github.com/gomlx/gomlx/ml/layers/activation"
	"github.com/gomlx/gomlx/ml/model"

	"github.com/penstock-go/penstock/transform"
)

// A net is three convolutions of stride 2, their mean over the image, and a dense
// layer.
type net struct{ classes int }

// graph takes uint8 images (batch, height, width, 3).
func (n net) graph(scope *model.Scope, _ any, inputs []*graph.Node) []*graph.Node {
	x := normalized(inputs[0])
	for i, channels := range []int{8, 16, 32} {
		x = layers.Convolution(scope.In("conv%d", i), x).Channels(channels).KernelSize(3).Strides(2).PadSame().Done()
		x = activation.Relu(x)
	}
	return []*graph.Node{layers.DenseWithBias(scope, graph.ReduceMean(x, 1, 2), n.classes)}
}

// normalized is what ToTensor and Normalize do, as part of the graph: so the batch is
// copied as uint8, a quarter of the bytes.
func normalized(x *graph.Node) *graph.Node {
	scale, shift := make([]float32, 3), make([]float32, 3)
	for c := range scale {
		scale[c] = 1 / (255 * transform.ImageNetStd[c])
		shift[c] = -transform.ImageNetMean[c] / transform.ImageNetStd[c]
	}
	constant := func(v []float32) *graph.Node { return graph.ExpandLeftToRank(graph.Const(x.Graph(), v), x.Rank()) }
	return graph.Add(graph.Mul(graph.ConvertDType(x, dtypes.Float32), constant(scale)), constant(shift))
}
