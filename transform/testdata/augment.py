"""Makes augment.json with torchvision and Pillow.

    pip install torch==2.15.0 torchvision==0.29.2 pillow==12.3.0
    python augment.py

A case is [operation, w, h, k, parameters, hash]: the arithmetic image of golden.py, divided
by k and moved up by 20(k-1), after the operation on the PIL image. Of the sha256 of its bytes six
digits are kept. "near" are cases with all bytes, where results are compared within one level. "tensors" says per operation how far torchvision's results for tensors
are from those for PIL images: the most levels, and the share of values that differ by more than one. "draws"
counts what torchvision draws.
"""
import collections
import hashlib
import json
import math
import os
import random

import numpy as np
import PIL
import torch
import torchvision
from PIL import Image
from torchvision.transforms import v2
from torchvision.transforms.functional import _get_perspective_coeffs
from torchvision.transforms.v2 import functional as F

here = os.path.dirname(os.path.abspath(__file__))
rng = random.Random(17)
torch.manual_seed(17)
torch.set_num_threads(1)
MODES = ["nearest", "bilinear", "bicubic"]


def pixels(w, h, k):
    x = np.arange(w, dtype=np.uint32)[None, :, None]
    y = np.arange(h, dtype=np.uint32)[:, None, None]
    c = np.arange(3, dtype=np.uint32)[None, None, :]
    v = (x * x * (7 + c) + y * y * (5 - c) + x * y * (c + 1)) >> 4
    noise = ((x * 73 + y * 151 + c * 199) * (x + 2 * y + 3 * c + 1)) & 63
    return (((v + noise) & 255) // k + 20 * (k - 1)).astype(np.uint8)


def mode(m):
    return v2.InterpolationMode(MODES[m])


def perspective(im, w, h, m, *numbers):
    return F.perspective(im, None, None, mode(m), [7, 8, 9], list(numbers[8:]))


OPS = {
    "jpeg": lambda im, w, h, q: F.jpeg(im, q),
    "posterize": lambda im, w, h, b: F.posterize(im, b),
    "solarize": lambda im, w, h, t: F.solarize(im, t),
    "invert": lambda im, w, h: F.invert(im),
    "autocontrast": lambda im, w, h: F.autocontrast(im),
    "equalize": lambda im, w, h: F.equalize(im),
    "sharpness": lambda im, w, h, f: F.adjust_sharpness(im, f),
    "rotate": lambda im, w, h, m, e, a: F.rotate(im, a, mode(m), bool(e), fill=[7, 8, 9]),
    "rotate around": lambda im, w, h, m, e, a, x, y: F.rotate(im, a, mode(m), bool(e), [x, y], fill=[7, 8, 9]),
    "affine": lambda im, w, h, m, a, x, y, s, p, q: F.affine(im, a, [x, y], s, [p, q], mode(m), fill=[7, 8, 9]),
    "affine around": lambda im, w, h, m, a, x, y, s, p, q, u, v: F.affine(im, a, [x, y], s, [p, q], mode(m), [7, 8, 9], [u, v]),
    "perspective": perspective,
}

SPACES = {"usual": v2.RandAugment, "wide": v2.TrivialAugmentWide, "mild": v2.AugMix}
NAMES = ["Identity", "ShearX", "ShearY", "TranslateX", "TranslateY", "Rotate", "Brightness", "Color", "Contrast", "Sharpness",
         "Posterize", "Solarize", "AutoContrast", "Equalize", "Invert"]
policy = v2.RandAugment()


def magnitude(space, name, bins, i, w, h):
    f, _ = SPACES[space]._AUGMENTATION_SPACE[name]
    values = f(bins, h, w)
    return 0.0 if values is None else float(values[i])


def augment(im, w, h, space, a, bins, i, sign, m):
    value = sign * magnitude(space, NAMES[a], bins, i, w, h)
    return policy._apply_image_or_video_transform(im, NAMES[a], value, mode(m), {PIL.Image.Image: [7, 8, 9], torch.Tensor: [7, 8, 9]})


OPS["augment"] = augment


def size():
    return (rng.randint(1, 40), rng.randint(1, 40)) if rng.random() < 0.9 else (rng.randint(50, 130), rng.randint(50, 130))


def some(low, high):
    return round(rng.uniform(low, high), rng.randint(0, 3))


def cases():
    for op in ["posterize", "solarize", "invert", "autocontrast", "equalize", "sharpness"]:
        for _ in range({"invert": 20}.get(op, 150)):
            args = {"posterize": [rng.randint(0, 8)], "solarize": [some(0, 255)], "sharpness": [some(0, 3)]}.get(op, [])
            yield op, *size(), rng.randint(1, 6), args
    for _ in range(200):
        yield "jpeg", *size(), rng.randint(1, 3), [rng.choice([rng.randint(1, 100), 100])]
    for _ in range(400):
        angle = rng.choice([some(-400, 400), 90 * rng.randint(-4, 4), 15 * rng.randint(-24, 24)])
        yield "rotate", *size(), 1, [rng.randint(0, 2), rng.randint(0, 1), angle]
    for _ in range(100):
        w, h = size()
        yield "rotate around", w, h, 1, [rng.randint(0, 2), rng.randint(0, 1), some(-400, 400), some(0, w), some(0, h)]
    for _ in range(500):
        w, h = size()
        angle = rng.choice([0, some(-180, 180)])
        shear = rng.choice([[0, 0], [some(-40, 40), 0], [some(-40, 40), some(-40, 40)]])
        move = [rng.randint(-w, w), rng.randint(-h, h)]
        yield "affine", w, h, 1, [rng.randint(0, 2), angle, *move, rng.choice([1, some(0.3, 3)]) or 1, *shear]
    for _ in range(100):
        w, h = size()
        yield "affine around", w, h, 1, [rng.randint(0, 2), some(-180, 180), 1, -2, some(0.5, 2) or 1, some(-30, 30), some(-30, 30), some(0, w), some(0, h)]
    for _ in range(300):
        w, h = max(size()[0], 4), max(size()[1], 4)
        x, y = w // 4 + 1, h // 4 + 1
        corners = [rng.randrange(x), rng.randrange(y), w - 1 - rng.randrange(x), rng.randrange(y),
                   w - 1 - rng.randrange(x), h - 1 - rng.randrange(y), rng.randrange(x), h - 1 - rng.randrange(y)]
        start = [[0, 0], [w - 1, 0], [w - 1, h - 1], [0, h - 1]]
        found = _get_perspective_coeffs(start, [corners[i:i + 2] for i in range(0, 8, 2)])
        yield "perspective", w, h, 1, [rng.randint(0, 2), *corners, *(float("%.9g" % v) for v in found)]
    for space, transform in SPACES.items():
        for a, name in enumerate(NAMES):
            if name not in transform._AUGMENTATION_SPACE:
                continue
            for _ in range(35):
                bins = 10 if space == "mild" else rng.choice([31, 31, 10, 2])
                sign = rng.choice([1, -1]) if transform._AUGMENTATION_SPACE[name][1] else 1
                yield "augment", *size(), rng.randint(1, 3), [space, a, bins, rng.randrange(bins), sign, rng.randint(0, 1)]


def compared(op, im, w, h, args, result, off):
    """Adds to off how far the tensor's result is from PIL's."""
    try:
        t = OPS[op](F.pil_to_tensor(im), w, h, *args)
    except (RuntimeError, ValueError):  # tensors have no bicubic warps
        return
    t = t.permute(1, 2, 0).numpy().astype(int)
    if t.shape != result.shape:
        off[op]["sizes"] += 1
        return
    d = np.abs(t - result)
    name = op if op != "augment" else NAMES[args[1]]
    o = off[name]
    o["most"] = max(o["most"], int(d.max()))
    o["far"] += int((d > 1).sum())
    o["values"] += d.size


def all_cases(off):
    for op, w, h, k, args in cases():
        im = Image.fromarray(pixels(w, h, k))
        a = np.asarray(OPS[op](im, w, h, *args))
        compared(op, im, w, h, args, a.astype(int), off)
        yield [op, w, h, k, args, hashlib.sha256(a.tobytes()).hexdigest()[:6]]


def near():
    for _ in range(60):
        w, h = rng.randint(4, 14), rng.randint(4, 14)
        kw, kh = 1 + 2 * rng.randrange(min(w, 6)), 1 + 2 * rng.randrange(min(h, 6))
        sigma = some(0.1, 6) or 1
        k = rng.randint(1, 2)
        a = np.asarray(F.gaussian_blur(Image.fromarray(pixels(w, h, k)), [kw, kh], [sigma, sigma]))
        yield ["blur", w, h, k, [kw, kh, sigma], a.tobytes().hex()]
    for _ in range(60):
        w, h, m, k = rng.randint(1, 14), rng.randint(1, 14), rng.randint(0, 1), rng.randint(1, 2)
        size = rng.choice([0.3, 5.3, 19.7])
        x, y = np.arange(w)[None, :], np.arange(h)[:, None]
        d = np.stack([((x * 37 + y * 91 + 7) % 64 / 64 - 0.5) * 2 * size / w, ((x * 53 + y * 17 + 3) % 64 / 64 - 0.5) * 2 * size / h], -1)
        a = F.elastic(Image.fromarray(pixels(w, h, k)), torch.from_numpy(d[None].astype(np.float32)), mode(m), [7, 8, 9])
        yield ["elastic", w, h, k, [m, size], np.asarray(a).tobytes().hex()]


def recorded(transform, n):
    """Draws n times and returns the augmentations with their magnitudes, per call."""
    calls = []
    transform._apply_image_or_video_transform = lambda image, name, value, **_: calls[-1].append((name, value)) or image
    im = Image.fromarray(pixels(64, 48, 1))
    for _ in range(n):
        calls.append([])
        transform(im)
    return calls


def histogram(values, low, high, bins=20):
    return [int(v) for v in np.histogram(values, bins, (low, high))[0]]


def corners(n):
    got = []
    module = v2._geometry
    solve, module._get_perspective_coeffs = module._get_perspective_coeffs, lambda start, end: got.append(end)
    im = Image.fromarray(pixels(30, 20, 1))
    for _ in range(n):
        v2.RandomPerspective(0.5, 1).make_params([im])
    module._get_perspective_coeffs = solve
    for i, name in [(0, "upper left"), (2, "lower right")]:
        yield "RandomPerspective " + name, dict(sorted(collections.Counter("%d,%d" % tuple(c[i]) for c in got).items()))


def draws():
    count = lambda keys: dict(sorted(collections.Counter(keys).items()))
    sign = lambda v: "-" if v < 0 else "+"
    n = 6000
    yield "RandAugment", count(a + sign(v) for c in recorded(v2.RandAugment(), n // 2) for a, v in c)
    yield "TrivialAugmentWide", count(a + sign(v) for c in recorded(v2.TrivialAugmentWide(), n) for a, v in c)
    yield "TrivialAugmentWide rotation", count(f"{v:.1f}" for c in recorded(v2.TrivialAugmentWide(7), 6 * n) for a, v in c if a == "Rotate")
    for p in v2.AutoAugmentPolicy:
        yield "AutoAugment " + p.value, count("".join(a + sign(v) for a, v in c) for c in recorded(v2.AutoAugment(p), n))
    im = Image.fromarray(pixels(60, 40, 1))
    affine = v2.RandomAffine((-30, 60), (0.1, 0.3), (0.5, 2), (-10, 20, 5, 15))
    got = [affine.make_params([im]) for _ in range(n)]
    yield "RandomAffine angle", histogram([g["angle"] for g in got], -30, 60)
    yield "RandomAffine x", histogram([g["translate"][0] for g in got], -6.5, 6.5, 13)
    yield "RandomAffine y", histogram([g["translate"][1] for g in got], -12.5, 12.5, 25)
    yield "RandomAffine scale", histogram([g["scale"] for g in got], 0.5, 2)
    yield "RandomAffine shear x", histogram([g["shear"][0] for g in got], -10, 20)
    yield "RandomAffine shear y", histogram([g["shear"][1] for g in got], 5, 15)
    yield from corners(n)
    dirichlet = lambda *alpha: torch._sample_dirichlet(torch.tensor([alpha] * n))
    yield "AugMix own weight", histogram(dirichlet(0.7, 0.7)[:, 0], 0, 1)
    yield "AugMix first chain", histogram(dirichlet(2.0, 2.0, 2.0)[:, 0] * dirichlet(2.0, 2.0)[:, 1], 0, 1)
    few = v2.AugMix(all_ops=False, mixture_width=1, chain_depth=1)
    yield "AugMix", count(a + sign(v) for c in recorded(few, n) for a, v in c)
    values = torch.stack([v2.GaussianNoise(0.05, 0.1)(torch.full((3, 5, 5), 100, dtype=torch.uint8)) for _ in range(n // 25)])
    yield "GaussianNoise", histogram(values, 20, 200, 30)
    perms = v2.RandomChannelPermutation()
    yield "RandomChannelPermutation", count("".join(str(int(v)) for v in perms.make_params([im])["permutation"]) for _ in range(n))
    distort = v2.RandomPhotometricDistort(p=0.3)
    got = [distort.make_params([im]) for _ in range(n)]
    did = lambda g: "".join("+" if g[k] is not None else "-" for k in ["brightness_factor", "contrast_factor", "saturation_factor", "hue_factor"])
    yield "RandomPhotometricDistort", count(did(g) for g in got)
    elastic = v2.ElasticTransform(50.0, 1.5)
    moves = [elastic.make_params([Image.new("RGB", (9, 8))])["displacement"][0, 3, 7] * torch.tensor([9 / 2, 8 / 2]) for _ in range(n)]
    yield "ElasticTransform x", histogram([float(v[0]) for v in moves], -16, 16)
    yield "ElasticTransform y", histogram([float(v[1]) for v in moves], -16, 16)
    marks = [v2.Lambda(lambda im, i=i: im + str(i)) for i in range(3)]
    yield "RandomApply", count(v2.RandomApply([marks[0]], 0.3)("") for _ in range(n))
    yield "RandomChoice", count(v2.RandomChoice(marks, [1, 0, 2.5])("") for _ in range(n))
    yield "RandomOrder", count(v2.RandomOrder(marks)("") for _ in range(n))


if __name__ == "__main__":
    off = collections.defaultdict(lambda: {"most": 0, "far": 0, "values": 0, "sizes": 0})
    with open(os.path.join(here, "augment.json"), "w") as f:
        lines = [json.dumps(c, separators=(",", ":")) for c in all_cases(off)]
        tensors = {k: [v["most"], round(v["far"] / max(v["values"], 1), 4)] for k, v in sorted(off.items())}
        close = [json.dumps(c, separators=(",", ":")) for c in near()]
        f.write('{"pillow": %s, "torchvision": %s,\n"tensors": %s,\n"draws": %s,\n"near": [\n%s\n],\n"cases": [\n%s\n]}\n' % (
            json.dumps(PIL.__version__), json.dumps(torchvision.__version__), json.dumps(tensors),
            json.dumps(dict(draws()), separators=(",", ":")), ",\n".join(close), ",\n".join(lines)))
    print(len(lines), "cases", tensors)
