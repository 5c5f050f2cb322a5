"""Makes cases.json.gz: what torchvision.transforms.v2 0.29 makes of boxes, masks and
keypoints, with the draws of the random steps, and draws.json: quantiles of the random
steps' results. Run it with Python, torch and torchvision 0.29:

    python make.py
"""

import gzip
import json
import os
import random
import struct
import zlib

import torch
from torchvision import tv_tensors
from torchvision.transforms import v2
from torchvision.transforms.v2 import functional as F

here = os.path.dirname(os.path.abspath(__file__))
rng = random.Random(17)
drawn = []


def recorded(name, number):
    real = getattr(torch, name)

    def call(*args, **kwargs):
        t = real(*args, **kwargs)
        for v in t.reshape(-1).tolist():
            drawn.append(number(v, args, kwargs))
        return t

    setattr(torch, name, call)


def integer(v, args, kwargs):
    low, high = kwargs.get("low", 0), kwargs.get("high")
    if high is None:
        numbers = [a for a in args if isinstance(a, int)]
        low, high = (0, numbers[0]) if len(numbers) == 1 else numbers[:2]
    return [int(v) - low, high - low]


recorded("rand", lambda v, args, kwargs: int(v * 2**24))
recorded("randint", integer)


def bits(t):
    return "".join("%08x" % struct.unpack("<I", struct.pack("<f", v))[0] for v in t.reshape(-1).tolist())


def quarter(n):
    return rng.randrange(4 * n + 1) / 4


def box(w, h, beyond):
    x, y = sorted([quarter(w), quarter(w)]), sorted([quarter(h), quarter(h)])
    if beyond and rng.random() < 0.2:
        x[1] += 3.5
    if rng.random() < 0.1:
        y[1] = y[0]
    return [x[0], y[0], x[1], y[1]]


def sample(beyond=True):
    w, h = rng.randrange(1, 60), rng.randrange(1, 60)
    fmt = rng.choice(["XYXY", "XYWH", "CXCYWH"])
    n = rng.randrange(1, 6)
    boxes = F.convert_bounding_box_format(
        torch.tensor([box(w, h, beyond) for _ in range(n)]), tv_tensors.BoundingBoxFormat.XYXY, tv_tensors.BoundingBoxFormat[fmt])
    points = torch.tensor([[quarter(w), quarter(h)] for _ in range(2)])
    mask = torch.tensor([[(7 * x + 13 * y) % 251 for x in range(w)] for y in range(h)], dtype=torch.uint8)
    planes = torch.stack([(mask + 3 * k) % 251 for k in range(n)]).to(torch.uint8)
    made = {
        "image": torch.zeros(1, h, w),
        "boxes": tv_tensors.BoundingBoxes(boxes, format=fmt, canvas_size=(h, w)),
        "points": tv_tensors.KeyPoints(points, canvas_size=(h, w)),
        "mask": tv_tensors.Mask(mask),
        "planes": tv_tensors.Mask(planes),
        "labels": torch.arange(n),
    }
    case = {"w": w, "h": h, "format": fmt, "boxes": bits(boxes), "points": bits(points)}
    return made, case


def step(w, h):
    """A step, as its name and arguments, and what it is in torchvision."""
    kind = rng.choice(["Crop", "Resize", "ResizeTo", "Pad", "CenterCrop", "Flip", "VerticalFlip", "ResizedCrop", "Clamp", "Convert"])
    if kind == "Crop":
        # Part of the image stays: else torchvision's result has another size than it was asked for.
        top, left = rng.randrange(-4, h), rng.randrange(-4, w)
        a = [top, left, rng.randrange(max(1, 1 - top), h + 6), rng.randrange(max(1, 1 - left), w + 6)]
        return [kind] + a, lambda s: each(s, lambda t: F.crop(t, *a))
    if kind == "Resize":
        n = rng.randrange(1, 60)
        return [kind, n], v2.Resize(n)
    if kind == "ResizeTo":
        a = [rng.randrange(1, 90), rng.randrange(1, 90)]
        return [kind] + a, v2.Resize(a)
    if kind == "Pad":
        a = [rng.randrange(5) for _ in range(4)]
        return [kind] + a, v2.Pad(a)
    if kind == "CenterCrop":
        # Where a crop is larger by an odd number, torchvision's boxes do not follow its own pixels.
        a = [rng.choice([rng.randrange(1, h + 1), h + 2 * rng.randrange(4)]), rng.choice([rng.randrange(1, w + 1), w + 2 * rng.randrange(4)])]
        return [kind] + a, v2.CenterCrop(a)
    if kind == "Flip":
        return [kind], v2.RandomHorizontalFlip(1)
    if kind == "VerticalFlip":
        return [kind], v2.RandomVerticalFlip(1)
    if kind == "ResizedCrop":
        ch, cw = rng.randrange(1, h + 1), rng.randrange(1, w + 1)
        a = [rng.randrange(0, h - ch + 1), rng.randrange(0, w - cw + 1), ch, cw, rng.randrange(1, 60), rng.randrange(1, 60)]
        return [kind] + a, lambda s: each(s, lambda t: F.resized_crop(t, *a[:4], size=a[4:]))
    if kind == "Clamp":
        return [kind], v2.Compose([v2.ClampBoundingBoxes(), v2.ClampKeyPoints()])
    k = rng.randrange(3)
    return [kind, k], v2.ConvertBoundingBoxFormat(["XYXY", "XYWH", "CXCYWH"][k])


def each(s, f):
    return {k: v if k == "labels" else f(v) for k, v in s.items()}


class FixedSizeCrop(v2.Transform):
    """torchvision's FixedSizeCrop was in its prototypes and in its references; here it is put
    together from kernels of 0.29."""

    def __init__(self, h, w):
        super().__init__()
        self.h, self.w = h, w

    def forward(self, s):
        h, w = s["image"].shape[-2:]
        nh, nw = min(h, self.h), min(w, self.w)
        r = torch.rand(1)
        top, left = int((h - nh) * r), int((w - nw) * r)
        if (nh, nw) != (h, w):
            s = each(s, lambda t: F.crop(t, top, left, nh, nw))
            size = F.convert_bounding_box_format(s["boxes"].as_subclass(torch.Tensor), s["boxes"].format, tv_tensors.BoundingBoxFormat.XYWH)[:, 2:]
            valid = (size > 0).all(-1)
            s["boxes"] = tv_tensors.wrap(s["boxes"][valid], like=s["boxes"])
            s["labels"], s["planes"] = s["labels"][valid], tv_tensors.Mask(s["planes"][valid])
        if (nh, nw) != (self.h, self.w):
            s = each(s, lambda t: F.pad(t, [0, 0, self.w - nw, self.h - nh]))
        return s


def random_step(w, h):
    kind = rng.choice(["RandomIoUCrop", "RandomIoUCrop", "RandomZoomOut", "ScaleJitter", "RandomShortestSize", "RandomResize", "FixedSizeCrop"])
    if kind == "RandomIoUCrop":
        return [kind], v2.RandomIoUCrop()
    if kind == "RandomZoomOut":
        return [kind], v2.RandomZoomOut(p=1)
    if kind == "ScaleJitter":
        a = [rng.randrange(40, 90), rng.randrange(40, 90)]
        return [kind] + a, v2.ScaleJitter(a, scale_range=(0.6, 2.0))
    if kind == "RandomShortestSize":
        a = [rng.randrange(8, 60) for _ in range(3)]
        return [kind] + a, v2.RandomShortestSize(a, max_size=90)
    if kind == "RandomResize":
        a = [rng.randrange(8, 30), rng.randrange(30, 60)]
        return [kind] + a, v2.RandomResize(*a)
    a = [rng.randrange(1, 60), rng.randrange(1, 60)]
    return [kind] + a, FixedSizeCrop(*a)


def finish(case, s):
    planes = s["planes"].reshape(-1).to(torch.uint8).numpy().tobytes()
    case.update(
        toW=s["image"].shape[-1], toH=s["image"].shape[-2], toBoxes=bits(s["boxes"]), toPoints=bits(s["points"]),
        mask="%08x" % zlib.crc32(s["mask"].numpy().tobytes()), planes="%08x" % zlib.crc32(planes),
        labels=s["labels"].tolist())
    return case


cases = []
while len(cases) < 1500:
    s, case = sample()
    case["steps"], case["draws"] = [], []
    for _ in range(rng.randrange(1, 5)):
        h, w = s["image"].shape[-2:]
        name, transform = step(w, h)
        s = transform(s)
        if s["image"].shape[-1] > 200 or s["image"].shape[-2] > 200:
            break
        case["steps"].append(name)
    else:
        # A mask with as many rows as there are boxes would lose rows, too.
        if rng.random() < 0.3 and s["image"].shape[-2] != len(s["labels"]):
            s = v2.SanitizeBoundingBoxes()(s)
            case["steps"].append(["Sanitize"])
        cases.append(finish(case, s))
while len(cases) < 3000:
    s, case = sample(beyond=False)
    h, w = s["image"].shape[-2:]
    if min(h, w) < 8:
        continue
    name, transform = random_step(w, h)
    drawn.clear()
    s = transform(s)
    case["draws"] = list(drawn)
    case["steps"] = [name]
    if rng.random() < 0.5 and s["image"].shape[-2] != len(s["labels"]):
        s = v2.SanitizeBoundingBoxes()(s)
        case["steps"].append(["Sanitize"])
    if min(s["image"].shape[-2:]) < 1:
        continue
    cases.append(finish(case, s))
with gzip.GzipFile(os.path.join(here, "cases.json.gz"), "wb", mtime=0) as f:
    f.write(json.dumps(cases, separators=(",", ":")).encode())

# Distributions: for fixed inputs, 2000 draws of torchvision, as 200 quantiles of each number.
torch.manual_seed(17)
boxes = [[10.0, 20.0, 60.0, 70.0], [100.0, 30.0, 180.0, 110.0], [5.0, 100.0, 25.0, 115.0]]


def state(transform):
    s = {
        "image": torch.zeros(1, 120, 200),
        "boxes": tv_tensors.BoundingBoxes(torch.tensor(boxes), format="XYXY", canvas_size=(120, 200)),
        "points": tv_tensors.KeyPoints(torch.tensor([[0.0, 0.0]]), canvas_size=(120, 200)),
    }
    s = transform(s)
    h, w = s["image"].shape[-2:]
    return [w, h] + s["points"].reshape(-1).tolist() + [float((s["boxes"] != 0).any(-1).sum())]


draws = {}
for name, transform in {
    "RandomIoUCrop": v2.RandomIoUCrop(), "RandomZoomOut": v2.RandomZoomOut(), "ScaleJitter": v2.ScaleJitter((160, 200)),
    "RandomShortestSize": v2.RandomShortestSize([64, 80, 96, 112], max_size=180), "RandomResize": v2.RandomResize(60, 240),
    "RandomCrop": v2.RandomCrop((50, 90)), "RandomResizedCrop": v2.RandomResizedCrop(64),
    "RandomHorizontalFlip": v2.RandomHorizontalFlip(0.3),
}.items():
    drawn.clear()
    rows = torch.tensor([state(transform) for _ in range(2000)])
    draws[name] = [[round(v, 3) for v in sorted(rows[:, k].tolist())[5::10]] for k in range(rows.shape[1])]
with open(os.path.join(here, "draws.json"), "w") as f:
    f.write(json.dumps(draws, separators=(",", ":")))
