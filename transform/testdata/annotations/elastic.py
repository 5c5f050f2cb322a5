"""Makes elastic.json: what torchvision 0.29 makes of boxes, keypoints and masks by vectors
that the test makes too. Run it with Python, torch and torchvision 0.29:

    python elastic.py
"""

import json
import os
import random

import torch
from torchvision import tv_tensors
from torchvision.transforms.v2 import functional as F

rng = random.Random(31)


def vector(x, y, k):
    """In pixels: an odd number of eighths, so that no pixel lies between two others."""
    return (2 * ((7 * x + 13 * y + k) % 17) - 15) / 8, (2 * ((11 * x + 3 * y + 2 * k) % 19) - 17) / 8


cases = []
while len(cases) < 200:
    w, h, k = rng.randrange(4, 40), rng.randrange(4, 40), len(cases)
    fmt = rng.choice(["XYXY", "XYWH", "CXCYWH"])
    x = sorted(rng.randrange(4 * w + 1) / 4 for _ in range(2))
    y = sorted(rng.randrange(4 * h + 1) / 4 for _ in range(2))
    xyxy = torch.tensor([[x[0], y[0], x[1], y[1]], [0.0, 0.0, w, h]])
    boxes = F.convert_bounding_box_format(xyxy, tv_tensors.BoundingBoxFormat.XYXY, tv_tensors.BoundingBoxFormat[fmt])
    parts = [
        tv_tensors.BoundingBoxes(boxes, format=fmt, canvas_size=(h, w)),
        tv_tensors.KeyPoints(torch.tensor([[x[0], y[1]]]), canvas_size=(h, w)),
        tv_tensors.Mask(torch.tensor([[(7 * i + 13 * j) % 251 for i in range(w)] for j in range(h)], dtype=torch.uint8)),
    ]
    displacement = torch.tensor([[[[dx * 2 / w, dy * 2 / h] for dx, dy in (vector(i, j, k) for i in range(w))] for j in range(h)]])
    moved = [F.elastic(p, displacement) for p in parts]
    cases.append({
        "w": w, "h": h, "format": fmt,
        "boxes": boxes.reshape(-1).tolist(), "points": parts[1].reshape(-1).tolist(),
        "toBoxes": [round(v, 4) for v in moved[0].reshape(-1).tolist()], "toPoints": [round(v, 4) for v in moved[1].reshape(-1).tolist()],
        "mask": moved[2].numpy().tobytes().hex() if k < 60 else "",
    })
with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "elastic.json"), "w") as f:
    f.write(json.dumps(cases, separators=(",", ":")))
