"""Makes crops.json: what torchvision 0.29's FiveCrop and TenCrop make of the images of
golden.py, as CRC-32 of the pixels of all crops. Run it with Python, torchvision and NumPy:

    python crops.py
"""

import json
import os
import random
import zlib

import numpy as np
from PIL import Image
from torchvision.transforms import v2

here = os.path.dirname(os.path.abspath(__file__))
rng = random.Random(5)


def image(w, h):
    x, y, c = np.arange(w)[None, :, None], np.arange(h)[:, None, None], np.arange(3)
    v = (x * x * (7 + c) + y * y * (5 - c) + x * y * (c + 1)) >> 4
    noise = ((x * 73 + y * 151 + c * 199) * (x + 2 * y + 3 * c + 1)) & 63
    return Image.fromarray(((v + noise) & 255).astype(np.uint8))


cases = []
while len(cases) < 120:
    w, h = rng.randrange(1, 80), rng.randrange(1, 80)
    short = rng.choice([0, rng.randrange(1, 90)])
    img = image(w, h)
    if short:
        img = v2.Resize(short)(img)
    if max(img.size) > 300:
        continue
    ch, cw = rng.randrange(1, img.size[1] + 1), rng.randrange(1, img.size[0] + 1)
    five, vertical = rng.random() < 0.5, rng.random() < 0.5
    crops = v2.FiveCrop((ch, cw))(img) if five else v2.TenCrop((ch, cw), vertical_flip=vertical)(img)
    cases.append([w, h, short, ch, cw, len(crops), int(vertical), zlib.crc32(np.stack([np.asarray(c) for c in crops]).tobytes())])
with open(os.path.join(here, "crops.json"), "w") as f:
    f.write("[" + ",\n".join(json.dumps(c) for c in cases) + "]\n")
