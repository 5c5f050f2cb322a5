"""Makes warps.json: what torchvision 0.29 makes of boxes, keypoints and masks that it rotates,
shears and distorts. Run it with Python, torch and torchvision 0.29:

    python warps.py
"""

import json
import os
import random

import torch
from torchvision import tv_tensors
from torchvision.transforms.v2 import functional as F

rng = random.Random(29)
cases = []
while len(cases) < 400:
    w, h = rng.randrange(8, 60), rng.randrange(8, 60)
    fmt = rng.choice(["XYXY", "XYWH", "CXCYWH"])
    x, y = sorted(rng.sample(range(w + 1), 2)), sorted(rng.sample(range(h + 1), 2))
    xyxy = torch.tensor([[x[0], y[0], x[1], y[1]], [0.0, 0.0, w, h]])
    boxes = F.convert_bounding_box_format(xyxy, tv_tensors.BoundingBoxFormat.XYXY, tv_tensors.BoundingBoxFormat[fmt])
    parts = [
        tv_tensors.BoundingBoxes(boxes, format=fmt, canvas_size=(h, w)),
        tv_tensors.KeyPoints(torch.tensor([[x[0] + 0.25, y[1] - 0.5]]), canvas_size=(h, w)),
        tv_tensors.Mask(torch.tensor([[(7 * i + 13 * j) % 251 for i in range(w)] for j in range(h)], dtype=torch.uint8)),
    ]
    kind = rng.choice(["rotate", "affine", "perspective"])
    if kind == "rotate":
        args = [rng.choice([rng.uniform(-180, 180), 180])]
        moved = [F.rotate(p, args[0]) for p in parts]
    elif kind == "affine":
        args = [rng.uniform(-90, 90), rng.randrange(-9, 10), rng.randrange(-9, 10), rng.uniform(0.5, 2), rng.uniform(-30, 30), rng.uniform(-30, 30)]
        moved = [F.affine(p, angle=args[0], translate=args[1:3], scale=args[3], shear=args[4:]) for p in parts]
    else:
        dx, dy = w // 4, h // 4
        args = [rng.randint(0, dx), rng.randint(0, dy), w - 1 - rng.randint(0, dx), rng.randint(0, dy),
                w - 1 - rng.randint(0, dx), h - 1 - rng.randint(0, dy), rng.randint(0, dx), h - 1 - rng.randint(0, dy)]
        start = [[0, 0], [w - 1, 0], [w - 1, h - 1], [0, h - 1]]
        moved = [F.perspective(p, start, [args[i : i + 2] for i in range(0, 8, 2)]) for p in parts]
    cases.append({
        "w": w, "h": h, "format": fmt, "kind": kind, "args": args,
        "boxes": boxes.reshape(-1).tolist(), "points": parts[1].reshape(-1).tolist(),
        "toBoxes": [round(v, 4) for v in moved[0].reshape(-1).tolist()], "toPoints": [round(v, 4) for v in moved[1].reshape(-1).tolist()],
        "mask": moved[2].numpy().tobytes().hex() if len(cases) < 60 else "",
    })
with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "warps.json"), "w") as f:
    f.write(json.dumps(cases, separators=(",", ":")))
