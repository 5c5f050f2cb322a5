"""Writes masks as PNG files in all depths and as TIFF files and, next to each, the numbers that
numpy.asarray(PIL.Image.open(f)) has: as bytes, of 16 bits as uint16, and of colours as
int32 ids (red + 256·green + 65536·blue, as panopticapi's rgb2id), in little-endian. Run it with Python, NumPy and Pillow:

    python png.py
"""

import os
import struct
import zlib

import numpy as np
from PIL import Image

here = os.path.dirname(os.path.abspath(__file__))
w, h = 21, 13


def chunk(name, body):
    return struct.pack(">I", len(body)) + name + body + struct.pack(">I", zlib.crc32(name + body))


def row_bits(row, depth):
    bits = "".join(format(int(v), "0%db" % depth) for v in row)
    bits += "0" * (-len(bits) % 8)
    return bytes(int(bits[i : i + 8], 2) for i in range(0, len(bits), 8))


def filtered(rows, pixel):
    """Each row with another of the five filters."""
    out, above = b"", bytes(len(rows[0]))
    for y, row in enumerate(rows):
        kind, line = y % 5, bytearray()
        for i, v in enumerate(row):
            a = row[i - pixel] if i >= pixel else 0
            b = above[i]
            c = above[i - pixel] if i >= pixel else 0
            p = a + b - c
            paeth = min([(abs(p - a), 0, a), (abs(p - b), 1, b), (abs(p - c), 2, c)])[2]
            line.append((v - [0, a, b, (a + b) // 2, paeth][kind]) % 256)
        out += bytes([kind]) + bytes(line)
        above = row
    return out


def write(name, colour, depth, laced=False, key=False):
    rng = np.random.default_rng(depth + 100 * colour if colour in (2, 6) else depth)
    channels = {2: 3, 6: 4}.get(colour, 1)
    numbers = rng.integers(0, 2**depth, (h, w * channels)).reshape(h, w, channels)
    data = b""
    passes = [(0, 0, 8, 8), (4, 0, 8, 8), (0, 4, 4, 8), (2, 0, 4, 4), (0, 2, 2, 4), (1, 0, 2, 2), (0, 1, 1, 2)] if laced else [(0, 0, 1, 1)]
    for x, y, dx, dy in passes:
        part = numbers[y::dy, x::dx]
        if part.size:
            data += filtered([row_bits(row.reshape(-1), depth) for row in part], max(1, channels * depth // 8))
    data = zlib.compress(data)
    file = b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", w, h, depth, colour, 0, 0, int(laced)))
    if colour == 3:
        file += chunk(b"PLTE", bytes(range(256)) * 3 if depth == 8 else bytes(range(3 * 2**depth)))
    if key:
        file += chunk(b"tRNS", struct.pack(">H", numbers[0, 0, 0]) * channels)
    file += chunk(b"IDAT", data[:20]) + chunk(b"IDAT", b"") + chunk(b"IDAT", data[20:]) + chunk(b"IEND", b"")
    path = os.path.join(here, name)
    with open(path + ".png", "wb") as f:
        f.write(file)
    with open(path + ".raw", "wb") as f:
        read = np.asarray(Image.open(path + ".png"))
        if channels > 1:
            rgb = read.astype(np.int32)
            f.write((rgb[..., 0] + 256 * rgb[..., 1] + 65536 * rgb[..., 2]).astype("<i4").tobytes())
        else:
            f.write(read.astype("<u2" if depth == 16 else np.uint8).tobytes())


for depth in (1, 2, 4, 8):
    write("palette%d" % depth, 3, depth)
    write("grey%d" % depth, 0, depth)
write("palette4laced", 3, 4, True)
write("grey1laced", 0, 1, True)
write("grey2laced", 0, 2, True)
for name, key in (("", False), ("key", True)):
    write("grey16" + name, 0, 16, key=key)
    write("grey16laced" + name, 0, 16, True, key)
write("ids", 2, 8)
write("idslaced", 2, 8, True)
write("idskeylaced", 2, 8, True, True)
write("idsalpha", 6, 8)
write("idsalphalaced", 6, 8, True)

for depth, dtype in ((8, np.uint8), (16, np.uint16)):
    for compression in (None, "tiff_lzw", "tiff_deflate", "packbits"):
        numbers = np.random.default_rng(depth).integers(0, 2**depth, (h, w)).astype(dtype)
        path = os.path.join(here, "grey%d%s" % (depth, compression or "raw"))
        Image.fromarray(numbers).save(path + ".tif", compression=compression)
        with open(path + ".raw", "wb") as f:
            f.write(np.asarray(Image.open(path + ".tif")).astype("<u2" if depth == 16 else np.uint8).tobytes())
