package model

import (
	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// plain is a net of 3×3 convolutions that each halve the image's width and height.
func plain(channels ...int) func(b *builder, x *gorgonia.Node) *gorgonia.Node {
	return func(b *builder, x *gorgonia.Node) *gorgonia.Node {
		for _, c := range channels {
			x = must(gorgonia.Rectify(b.conv(x, c, 3, 2, 1)))
		}
		return b.pooled(x)
	}
}

// residual is a net of blocks of two convolutions with a skip connection (He et al. 2016), with the
// same number of blocks in each stage. A stage halves the image's width and height. Batch
// normalisation is folded into the convolutions, as usual for inference.
func residual(blocks int, channels ...int) func(b *builder, x *gorgonia.Node) *gorgonia.Node {
	return func(b *builder, x *gorgonia.Node) *gorgonia.Node {
		for _, c := range channels {
			x = must(gorgonia.Rectify(b.conv(x, c, 3, 2, 1)))
			for range blocks {
				y := must(gorgonia.Rectify(b.conv(x, c, 3, 1, 1)))
				x = must(gorgonia.Rectify(must(gorgonia.Add(x, b.conv(y, c, 3, 1, 1)))))
			}
		}
		return b.pooled(x)
	}
}

// patches divides images into squares and makes each of them a row: (n·patches, width).
func (b *builder) patches(x *gorgonia.Node, side, width int) *gorgonia.Node {
	x = b.conv(x, width, side, side, 0)
	s := x.Shape()
	x = must(gorgonia.Reshape(x, tensor.Shape{s[0] * width, s[2] * s[3]}))
	return swap(x, s[0])
}

// mixer is an MLP-Mixer (Tolstikhin et al. 2021). Its layers mix patches and then channels.
func mixer(side, width, layers int) func(b *builder, x *gorgonia.Node) *gorgonia.Node {
	return func(b *builder, x *gorgonia.Node) *gorgonia.Node {
		n := x.Shape()[0]
		x = b.patches(x, side, width)
		for range layers {
			y := swap(b.mlp(swap(b.norm(x), n), width/2), n)
			x = must(gorgonia.Add(x, y))
			x = must(gorgonia.Add(x, b.mlp(b.norm(x), 4*width)))
		}
		return b.head(b.norm(x), n)
	}
}

// transformer is a ViT (Dosovitskiy et al. 2021) that uses the mean of the patches in place of a
// class token.
func transformer(side, width, layers, heads int) func(b *builder, x *gorgonia.Node) *gorgonia.Node {
	return func(b *builder, x *gorgonia.Node) *gorgonia.Node {
		n := x.Shape()[0]
		x = b.patches(x, side, width)
		patches := x.Shape()[0] / n
		x = must(gorgonia.Reshape(x, tensor.Shape{n, patches * width}))
		x = must(gorgonia.BroadcastAdd(x, b.weight(100, 1, patches*width), nil, []byte{0})) // position embedding
		x = must(gorgonia.Reshape(x, tensor.Shape{n * patches, width}))
		for range layers {
			x = must(gorgonia.Add(x, b.attention(b.norm(x), n, heads)))
			x = must(gorgonia.Add(x, b.mlp(b.norm(x), 4*width)))
		}
		return b.head(b.norm(x), n)
	}
}

// attention is multi-head self-attention within each sample (Vaswani et al. 2017).
func (b *builder) attention(x *gorgonia.Node, n, heads int) *gorgonia.Node {
	rows, width := x.Shape()[0]/n, x.Shape()[1]
	each := width / heads
	// apart is a projection of shape (n·heads, rows, each), or for keys its transpose.
	apart := func(axes ...int) *gorgonia.Node {
		y := must(gorgonia.Reshape(b.linear(x, width), tensor.Shape{n, rows, heads, each}))
		y = must(gorgonia.Transpose(y, axes...))
		s := y.Shape()
		return must(gorgonia.Reshape(y, tensor.Shape{n * heads, s[2], s[3]}))
	}
	q, k, v := apart(0, 2, 1, 3), apart(0, 2, 3, 1), apart(0, 2, 1, 3)
	scores := must(gorgonia.BatchedMatMul(q, k))
	scale := gorgonia.NewConstant(1 / float32sqrt(each))
	scores = must(gorgonia.Mul(must(gorgonia.Reshape(scores, tensor.Shape{n * heads * rows, rows})), scale))
	scores = must(gorgonia.Reshape(must(gorgonia.SoftMax(scores, 1)), tensor.Shape{n * heads, rows, rows}))
	y := must(gorgonia.BatchedMatMul(scores, v))
	y = must(gorgonia.Reshape(y, tensor.Shape{n, heads, rows, each}))
	y = must(gorgonia.Reshape(must(gorgonia.Transpose(y, 0, 2, 1, 3)), tensor.Shape{n * rows, width}))
	return b.linear(y, width)
}
