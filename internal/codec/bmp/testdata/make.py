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


def noise(n):
    return bytes(draw.randrange(256) for _ in range(n))


def rows(bits):
    """Rows of noise, padded to 4 bytes with something else than zeros."""
    return noise((W * bits + 31) // 32 * 4 * H)


def bitmap(bits, data, size=40, compression=0, palette=b"", colours=0, masks=(), down=False, offset=None):
    if size == 12:
        info = struct.pack("<IHHHH", 12, W, H, 1, bits)
    else:
        info = struct.pack("<IiiHHIIiiII", size, W, -H if down else H, 1, bits, compression, 0, 2835, 2835, colours, 0)
        info += struct.pack("<%dI" % len(masks), *masks) if masks and size > 40 else b""
        info = info[:size].ljust(size, b"\0")
        if masks and size == 40:
            info += struct.pack("<3I", *masks[:3])
    at = 14 + len(info) + len(palette) if offset is None else offset
    head = b"BM" + struct.pack("<IHHI", 14 + len(info) + len(palette) + len(data), 0, 0, at)
    return head + info + palette + data


def colours(n, entry=4):
    return noise(entry * n)


def grays(n):
    return b"".join(bytes((i, i, i, 0)) for i in range(n))


two = bytes((0, 0, 0, 0, 255, 255, 255, 0))
for size in 40, 56, 64, 108, 124:
    files["rgb24-%d.bmp" % size] = bitmap(24, rows(24), size)
files["rgb24-down.bmp"] = bitmap(24, rows(24), down=True)
files["rgb24-os2.bmp"] = bitmap(24, rows(24), 12)
files["rgb24-nowhere.bmp"] = bitmap(24, rows(24), offset=0)
for bits in 1, 4, 8:
    n = 1 << bits
    files["palette%d.bmp" % bits] = bitmap(bits, rows(bits), palette=colours(n))
    files["palette%d-os2.bmp" % bits] = bitmap(bits, rows(bits), 12, palette=colours(n, 3))
    files["palette%d-down.bmp" % bits] = bitmap(bits, rows(bits), palette=colours(n), down=True)
    files["palette%d-forgotten.bmp" % bits] = bitmap(bits, rows(bits), palette=colours(n), offset=54)
files["palette8-short.bmp"] = bitmap(8, rows(8), palette=colours(100), colours=100)
files["gray8.bmp"] = bitmap(8, rows(8), palette=grays(256))
files["gray8-short.bmp"] = bitmap(8, rows(8), palette=grays(100), colours=100)
files["gray8-os2.bmp"] = bitmap(8, rows(8), 12, palette=b"".join(bytes((i, i, i)) for i in range(256)))
files["bits.bmp"] = bitmap(1, rows(1), palette=two)
files["bits-upside.bmp"] = bitmap(1, rows(1), palette=two[4:] + two[:4])

files["rgb16.bmp"] = bitmap(16, rows(16))
files["rgb32.bmp"] = bitmap(32, rows(32))
for size in 40, 52, 56, 108, 124:
    files["rgb565-%d.bmp" % size] = bitmap(16, rows(16), size, 3, masks=(0xF800, 0x7E0, 0x1F, 0))
files["rgb555.bmp"] = bitmap(16, rows(16), 40, 3, masks=(0x7C00, 0x3E0, 0x1F))
files["rgb24-masks.bmp"] = bitmap(24, rows(24), 40, 3, masks=(0xFF0000, 0xFF00, 0xFF))
for i, masks in enumerate([
    (0xFF0000, 0xFF00, 0xFF, 0),
    (0xFF000000, 0xFF0000, 0xFF00, 0),
    (0xFF000000, 0xFF00, 0xFF, 0),
    (0xFF000000, 0xFF0000, 0xFF00, 0xFF),
    (0xFF, 0xFF00, 0xFF0000, 0xFF000000),
    (0xFF0000, 0xFF00, 0xFF, 0xFF000000),
    (0xFF000000, 0xFF00, 0xFF, 0xFF0000),
    (0, 0, 0, 0),
]):
    files["masks32-%d.bmp" % i] = bitmap(32, rows(32), 108, 3, masks=masks)



golden = {}
for name, data in files.items():
    (here / name).write_bytes(data)
    rgb = Image.open(io.BytesIO(data)).convert("RGB")
    golden[name] = {"W": rgb.width, "H": rgb.height, "RGB": hashlib.sha256(rgb.tobytes()).hexdigest()}
(here / "golden.json").write_text(json.dumps(golden, indent=0))
