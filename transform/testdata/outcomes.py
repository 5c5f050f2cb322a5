"""Makes outcomes.json: for random steps of torchvision.transforms.v2 0.29 on PIL images, 200
quantiles of 2,000 results of each number that the test measures too. Run it with Python, torch,
torchvision and NumPy:

    python outcomes.py
"""

import json
import os

import numpy as np
import torch
from PIL import Image
from torchvision import tv_tensors
from torchvision.transforms import v2

torch.manual_seed(23)


def pixels(w, h):
    x, y, c = np.arange(w)[None, :, None], np.arange(h)[:, None, None], np.arange(3)
    v = (x * x * (7 + c) + y * y * (5 - c) + x * y * (c + 1)) >> 4
    noise = ((x * 73 + y * 151 + c * 199) * (x + 2 * y + 3 * c + 1)) & 63
    return ((v + noise) & 255).astype(np.uint8)


plain = pixels(16, 12)


def colours(transform):
    """One pixel, and how far all are from those before."""
    got = np.asarray(transform(Image.fromarray(plain)))
    return [int(v) for v in got[3, 5]] + [float(np.abs(got.astype(int) - plain).mean())]


def distance(transform):
    return colours(transform)[3:]


def corner(transform):
    points = tv_tensors.KeyPoints(torch.tensor([[0.0, 0.0], [150.0, 20.0]]), canvas_size=(120, 200))
    return transform({"image": torch.zeros(3, 120, 200), "points": points})["points"].reshape(-1).tolist()


def rectangle(transform):
    """Top, left, height and width of what is erased, or -1."""
    got = transform(torch.ones(3, 40, 60))[0]
    ys, xs = torch.nonzero(got == 0, as_tuple=True)
    if len(ys) == 0:
        return [-1] * 4
    return [int(v) for v in (ys.min(), xs.min(), ys.max() - ys.min() + 1, xs.max() - xs.min() + 1)]


steps = {
    "ColorJitter brightness": (colours, v2.ColorJitter(brightness=0.4)),
    "ColorJitter contrast": (colours, v2.ColorJitter(contrast=0.6)),
    "ColorJitter saturation": (colours, v2.ColorJitter(saturation=0.8)),
    "ColorJitter hue": (colours, v2.ColorJitter(hue=0.3)),
    "ColorJitter": (colours, v2.ColorJitter(0.4, 0.6, 0.8, 0.3)),
    "RandomPhotometricDistort": (colours, v2.RandomPhotometricDistort(p=0.6)),
    "RandomGrayscale": (colours, v2.RandomGrayscale(0.3)),
    "RandomInvert": (colours, v2.RandomInvert(0.3)),
    "RandomPosterize": (colours, v2.RandomPosterize(3, 0.3)),
    "RandomSolarize": (colours, v2.RandomSolarize(100, 0.3)),
    "RandomAdjustSharpness": (colours, v2.RandomAdjustSharpness(2, 0.3)),
    "RandomAutocontrast": (colours, v2.Compose([v2.RandomAutocontrast(0.3), v2.RandomInvert(0.6)])),
    "RandomEqualize": (colours, v2.RandomEqualize(0.3)),
    "JPEG": (distance, v2.JPEG((5, 95))),
    "GaussianBlur": (distance, v2.GaussianBlur(5, (0.1, 2.0))),
    "RandomPerspective": (distance, v2.RandomPerspective(0.5, p=0.4)),
    "RandomRotation": (corner, v2.RandomRotation((-30, 60))),
    "RandomAffine": (corner, v2.RandomAffine((-30, 60), (0.1, 0.3), (0.5, 2), (-10, 20, 5, 15))),
    "RandomVerticalFlip": (corner, v2.RandomVerticalFlip(0.3)),
    "RandomErasing": (rectangle, v2.RandomErasing(p=0.7, scale=(0.02, 0.33), ratio=(0.3, 3.3))),
}
quantiles = {}
for name, (measure, transform) in steps.items():
    rows = np.array([measure(transform) for _ in range(2000)])
    quantiles[name] = [[round(float(v), 3) for v in sorted(rows[:, k])[5::10]] for k in range(rows.shape[1])]
with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "outcomes.json"), "w") as f:
    f.write("{\n" + ",\n".join(json.dumps(k) + ": " + json.dumps(v, separators=(",", ":")) for k, v in quantiles.items()) + "\n}\n")
