"""Writes the files of this folder and, to golden.json, what Pillow 12.3 makes of them."""

import hashlib
import io
import json
import pathlib
import random
import struct

import PIL
from PIL import Image

assert PIL.__version__.startswith("12.3"), PIL.__version__
here = pathlib.Path(__file__).parent
draw = random.Random(1)
W, H = 13, 7
files = {}


def raw(kind, bands, maxval, top=None):
    top = maxval if top is None else top
    values = [draw.randint(0, top) for _ in range(W * H * bands)]
    values[:4] = [0, top, min(top, 255), min(top, 256)]
    code = "B" if maxval < 256 else "H"
    head = b"%s\n# by make.py\n%d %d\n%d\n" % (kind, W, H, maxval)
    return head + struct.pack(">%d%s" % (len(values), code), *values)


def plain(kind, bands, maxval):
    rows = []
    for y in range(H):
        values = [draw.randint(0, maxval) for _ in range(W * bands)]
        rows.append("  ".join(map(str, values)) + ("\t# row %d" % y if y % 3 == 0 else ""))
    return b"%s %d#width\n %d\n%d\n" % (kind, W, H, maxval) + "\n".join(rows).encode()


for maxval in 1, 15, 100, 254, 255, 256, 1000, 4095, 65534, 65535:
    files["gray-%d.pgm" % maxval] = raw(b"P5", 1, maxval)
    files["colour-%d.ppm" % maxval] = raw(b"P6", 3, maxval)
for maxval in 1, 100, 255, 1000, 65535:
    files["plain-%d.pgm" % maxval] = plain(b"P2", 1, maxval)
    files["plain-%d.ppm" % maxval] = plain(b"P3", 3, maxval)
files["beyond-100.pgm"] = raw(b"P5", 1, 100, 255)
files["beyond-300.ppm"] = raw(b"P6", 3, 300, 65535)
bits = bytes(draw.randrange(256) for _ in range((W + 7) // 8 * H))
files["bits.pbm"] = b"P4\n%d %d\n" % (W, H) + bits
files["plain.pbm"] = b"P1 %d %d\n# bits\n" % (W, H) + b"\n".join(
    b"".join(draw.choice((b"0", b"1", b"0 ", b"1#,\n")) for _ in range(W)) for _ in range(H))
floats = [draw.uniform(-50, 400) for _ in range(W * H)]
floats[:5] = [float("nan"), float("inf"), -float("inf"), 254.99, 255.0]
files["low-first.pfm"] = b"Pf\n%d %d\n-1.0\n" % (W, H) + struct.pack("<%df" % len(floats), *floats)
files["high-first.pfm"] = b"Pf\n%d %d\n2e1\n" % (W, H) + struct.pack(">%df" % len(floats), *floats)

golden = {}
for name, data in files.items():
    (here / name).write_bytes(data)
    rgb = Image.open(io.BytesIO(data)).convert("RGB")
    golden[name] = {"W": rgb.width, "H": rgb.height, "RGB": hashlib.sha256(rgb.tobytes()).hexdigest()}
(here / "golden.json").write_text(json.dumps(golden, indent=0))
