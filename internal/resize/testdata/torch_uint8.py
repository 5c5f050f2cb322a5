"""Makes torch.json: what torchvision 0.29 makes of noise in uint8 tensors, with antialias.

    pip install torch==2.15.0 torchvision==0.29.2 numpy
    python torch_uint8.py

For every pair of sizes there are the first 16 digits of the SHA-256 of the results in RGB. The noise is that of opencv.py. On processors
without AVX2, torchvision resizes bilinearly in float32, which gives other values.
"""
import hashlib
import json
import pathlib

import numpy as np
import torch
import torchvision
from torchvision.transforms.v2 import InterpolationMode
from torchvision.transforms.v2.functional import resize

assert torch.backends.cpu.get_cpu_capability() in ("AVX2", "AVX512")
SIZES = [(1, 1), (2, 1), (1, 3), (2, 2), (3, 5), (7, 7), (16, 9), (31, 64), (100, 75), (333, 500), (640, 480), (1, 400), (257, 1), (2, 700), (196, 98), (75, 150)]
TO = [(1, 1), (2, 3), (5, 5), (16, 16), (31, 47), (64, 64), (100, 37), (224, 224), (320, 240), (640, 427), (999, 2)]


def noise(w, h):
    i = np.arange(3 * w * h, dtype=np.uint64)
    return ((i * 2654435761 % 2**32 >> 24) ^ (i >> 7) & 255).astype(np.uint8).reshape(h, w, 3)


cases = []
for w, h in SIZES:
    image = torch.from_numpy(noise(w, h)).permute(2, 0, 1)
    for tw, th in TO + [(2 * w, 2 * h), ((w + 1) // 2, (h + 1) // 2), (w, h), (max(w // 3, 1), max(h // 3, 1))]:
        all = {}
        for name in ("bilinear", "bicubic", "lanczos"):
            out = resize(image, [th, tw], InterpolationMode(name), antialias=True)
            all[name] = hashlib.sha256(np.ascontiguousarray(out.permute(1, 2, 0).numpy()).tobytes()).hexdigest()[:16]
        cases.append({"from": [w, h], "to": [tw, th], **all})
path = pathlib.Path(__file__).parent / "torch.json"
path.write_text("[\n" + ",\n".join(json.dumps(c) for c in cases) + "\n]\n")
print(torch.__version__, torchvision.__version__, len(cases), "cases")
