"""Writes bench-lossy.webp and bench-lossless.webp: an image of smooth colours, of 375×500 pixels (height×width)."""

import math
import pathlib

from PIL import Image

here = pathlib.Path(__file__).parent
w, h = 500, 375
values = [128 + 90 * math.sin(x / (40 + 9 * c)) * math.cos(y / 60) for y in range(h) for x in range(w) for c in range(3)]
image = Image.frombytes("RGB", (w, h), bytes(int(v) for v in values))
image.save(here / "bench-lossy.webp", quality=90)
image.save(here / "bench-lossless.webp", lossless=True)
