"""Writes what torchvision's MixUp and CutMix make of batches, with given draws.

    python make.py

cases.csv has a line per case: the step, the images' dtype, the labels' kind, the
batch's shape, the number of classes, λ and the centre of the box as drawn, and
checksums of the mixed images and labels. quantiles.csv has quantiles of λ, as
torchvision's steps draw it: the step, alpha, and 99 numbers.
"""
import random
import zlib

import numpy as np
import torch
from torchvision.transforms import v2

TYPES = {"float32": torch.float32, "float64": torch.float64, "float16": torch.float16,
         "bfloat16": torch.bfloat16, "uint8": torch.uint8, "int64": torch.int64}


def numbers(seed, n):
    """n numbers from 0 to 2**24-1, of a linear congruential generator."""
    out, s = np.empty(n, np.int64), seed
    for k in range(n):
        s = (s * 1664525 + 1013904223) % 2**32
        out[k] = s >> 8
    return torch.from_numpy(out)


def floats(seed, shape, dtype):
    n = numbers(seed, int(np.prod(shape))).reshape(shape)
    if dtype.is_floating_point:
        return (n.double() / 2**21 - 4).to(dtype)
    return (n & 255).to(dtype)


def checksum(t):
    t = t.contiguous()
    if t.dtype == torch.bfloat16:
        t = t.view(torch.int16)
    return zlib.crc32(t.numpy().tobytes())


class Fixed:
    def __init__(self, value):
        self.value = value

    def sample(self, shape):
        return self.value


def case(rng, seed):
    step = rng.choice(["MixUp", "CutMix"])
    dtype = rng.choice(["float32", "float32", "float64", "float16", "bfloat16"] + (["uint8", "int64"] if step == "CutMix" else []))
    kind = rng.choice(["classes", "shares"])
    b, c, h, w = rng.randint(1, 7), rng.choice([1, 3, 4]), rng.randint(1, 40), rng.randint(1, 40)
    classes = rng.choice([1, 2, 10, 101])
    lam = rng.choice([0.0, 1.0, rng.random(), rng.random(), rng.random() ** 6, 1 - rng.random() ** 6])
    x, y = rng.randrange(w), rng.randrange(h)

    images = floats(seed, (b, c, h, w), TYPES[dtype])
    labels = numbers(seed + 1, b) % classes
    if kind == "shares":
        labels = floats(seed + 2, (b, classes), torch.float32)
    transform = getattr(v2, step)(alpha=1.0, num_classes=classes)
    transform._dist = Fixed(lam)
    draws = iter([torch.tensor([x]), torch.tensor([y])])
    randint, torch.randint = torch.randint, lambda *a, **k: next(draws)
    try:
        images, labels = transform(images, labels)
    finally:
        torch.randint = randint
    return [step, dtype, kind, b, c, h, w, classes, lam.hex(), x, y, checksum(images), checksum(labels)]


def main():
    rng = random.Random(1)
    with open("cases.csv", "w") as f:
        for k in range(1000):
            print(*case(rng, 3 * k), sep=",", file=f)
    torch.manual_seed(1)
    with open("quantiles.csv", "w") as f:
        for alpha in [0.05, 0.2, 0.4, 1.0, 2.5]:
            for step in ["MixUp", "CutMix"]:
                transform = getattr(v2, step)(alpha=alpha, num_classes=2)
                n = 400_000 if step == "MixUp" else 50_000
                if step == "MixUp":
                    lams = transform._dist.sample((n,)).double().numpy().ravel()
                else:
                    image = [torch.zeros(1, 1, 24, 32)]
                    lams = np.array([transform.make_params(image)["lam_adjusted"] for _ in range(n)])
                lams = np.sort(lams)
                print(step, alpha, *[repr(float(lams[(k + 1) * n // 100])) for k in range(99)], sep=",", file=f)


if __name__ == "__main__":
    main()
