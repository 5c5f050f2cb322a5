"""The nets of bench/model and bench/onnx in PyTorch, with random weights, and their time per image without loading.
PyTorch has as many threads as there are processors.
"""

import json
import math
import time

import torch
from torch import nn
from torch.nn import functional

import peer

CLASSES = 100


class Gelu(nn.Module):
    """x·σ(1.702x), near the Gaussian error linear unit, as bench/model has it."""

    def forward(self, x):
        return x * torch.sigmoid(1.702 * x)


def conv(inputs, outputs, stride):
    return nn.Conv2d(inputs, outputs, 3, stride, 1)


def mlp(width, hidden, act=Gelu):
    return nn.Sequential(nn.Linear(width, hidden), act(), nn.Linear(hidden, width))


def pooled(layers, channels):
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(channels, CLASSES))


def plain(*channels):
    layers = []
    for inputs, outputs in zip((3, *channels), channels):
        layers += [conv(inputs, outputs, 2), nn.ReLU()]
    return pooled(layers, channels[-1])


class Block(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.body = nn.Sequential(conv(channels, channels, 1), nn.ReLU(), conv(channels, channels, 1))

    def forward(self, x):
        return functional.relu(x + self.body(x))


def residual(blocks, *channels):
    layers = []
    for inputs, outputs in zip((3, *channels), channels):
        layers += [conv(inputs, outputs, 2), nn.ReLU(), *(Block(outputs) for _ in range(blocks))]
    return pooled(layers, channels[-1])


class Patches(nn.Module):
    """Images to (n, patches, width)."""

    def __init__(self, side, width):
        super().__init__()
        self.cut = nn.Conv2d(3, width, side, side)

    def forward(self, x):
        return self.cut(x).flatten(2).transpose(1, 2)


class Mixing(nn.Module):
    def __init__(self, patches, width):
        super().__init__()
        self.norms = nn.ModuleList([nn.LayerNorm(width), nn.LayerNorm(width)])
        self.tokens, self.channels = mlp(patches, width // 2), mlp(width, 4 * width)

    def forward(self, x):
        x = x + self.tokens(self.norms[0](x).transpose(1, 2)).transpose(1, 2)
        return x + self.channels(self.norms[1](x))


class Attending(nn.Module):
    def __init__(self, width, heads, act=Gelu):
        super().__init__()
        self.norms = nn.ModuleList([nn.LayerNorm(width), nn.LayerNorm(width)])
        self.heads = heads
        self.qkv, self.out, self.mlp = nn.Linear(width, 3 * width), nn.Linear(width, width), mlp(width, 4 * width, act)

    def forward(self, x):
        n, rows, width = x.shape
        q, k, v = self.qkv(self.norms[0](x)).view(n, rows, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        y = functional.scaled_dot_product_attention(q, k, v)
        x = x + self.out(y.transpose(1, 2).reshape(n, rows, width))
        return x + self.mlp(self.norms[1](x))


class Rows(nn.Module):
    """Patches through layers; the class from their mean."""

    def __init__(self, size, side, width, layers, placed, classes=CLASSES):
        super().__init__()
        self.patches = Patches(side, width)
        self.place = nn.Parameter(torch.randn(1, (size // side) ** 2, width) / math.sqrt(50)) if placed else None
        self.layers, self.norm, self.head = nn.Sequential(*layers), nn.LayerNorm(width), nn.Linear(width, classes)

    def forward(self, x):
        x = self.patches(x)
        if self.place is not None:
            x = x + self.place
        return self.head(self.norm(self.layers(x)).mean(1))


def normed(inputs, outputs, kernel, stride, groups=1):
    """A convolution with TensorFlow's "same" padding of an even number of pixels, and batch normalization."""
    pad = kernel - stride
    padding = [nn.ZeroPad2d((pad // 2, pad - pad // 2) * 2)] * (pad > 0)
    return [*padding, nn.Conv2d(inputs, outputs, kernel, stride, groups=groups, bias=False), nn.BatchNorm2d(outputs, eps=1e-3)]


class Inverted(nn.Module):
    def __init__(self, inputs, outputs, kernel, stride, expand):
        super().__init__()
        wide = inputs * expand
        layers = [*normed(inputs, wide, 1, 1), nn.ReLU6()] if expand > 1 else []
        layers += [*normed(wide, wide, kernel, stride, wide), nn.ReLU6(), *normed(wide, outputs, 1, 1)]
        self.body, self.add = nn.Sequential(*layers), stride == 1 and inputs == outputs

    def forward(self, x):
        return self.body(x) + x if self.add else self.body(x)


def lite0():
    """EfficientNet-Lite0, as examples/onnx/nets writes it."""
    layers, inputs = [*normed(3, 32, 3, 2), nn.ReLU6()], 32
    for blocks, kernel, stride, expand, outputs in (
        (1, 3, 1, 1, 16),
        (2, 3, 2, 6, 24),
        (2, 5, 2, 6, 40),
        (3, 3, 2, 6, 80),
        (3, 5, 1, 6, 112),
        (4, 5, 2, 6, 192),
        (1, 3, 1, 6, 320),
    ):
        for k in range(blocks):
            layers.append(Inverted(inputs, outputs, kernel, 1 if k else stride, expand))
            inputs = outputs
    return nn.Sequential(*layers, *normed(320, 1280, 1, 1), nn.ReLU6(), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(1280, 1000))


# Name to net for images of size×size pixels.
NETS = {
    "conv-small": lambda size: plain(8, 16, 32),
    "conv-medium": lambda size: plain(16, 32, 64),
    "resnet-small": lambda size: residual(2, 16, 32, 64),
    "mixer": lambda size: Rows(size, 8, 64, [Mixing((size // 8) ** 2, 64) for _ in range(4)], placed=False),
    "vit": lambda size: Rows(size, 8, 64, [Attending(64, 4) for _ in range(4)], placed=True),
    "efficientnet-lite0": lambda size: lite0(),
    "vit-tiny": lambda size: Rows(size, 16, 192, [Attending(192, 3, nn.GELU) for _ in range(12)], placed=True, classes=1000),
}


def built(name, size, batch):
    """The net as a function of a batch, which has run once; its weights are counted in .parameters."""
    torch.manual_seed(1)
    net = NETS[name](size).eval()

    def infer(x):
        with torch.inference_mode():
            return net(x)

    infer.parameters = sum(w.numel() for w in net.parameters())
    infer(torch.zeros(batch, 3, size, size))
    return infer


def main():
    o = peer.cell()
    net = built(o.model, o.size, o.batch)
    x = torch.randn(o.batch, 3, o.size, o.size)
    net(x)
    samples, begun = 0, time.perf_counter()
    while samples < o.samples:
        net(x)
        samples += o.batch
    took = time.perf_counter() - begun
    versions = {"torch": torch.__version__, "torch threads": str(torch.get_num_threads())}
    measured = {"samples": samples, "seconds": took, "per_item_seconds": took / samples}
    print(json.dumps({"measured": measured, "versions": versions, "parameters": net.parameters}))


if __name__ == "__main__":
    main()
