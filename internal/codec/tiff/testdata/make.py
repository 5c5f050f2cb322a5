"""Writes the files of this folder and, to golden.json, what Pillow 12.3 makes of them.

    python make.py            the files of this folder
    python make.py FOLDER     some thousands of files with all that they can be combined of,
                              for the test of transform that compares a folder with Pillow

Needs pillow, numpy and imagecodecs.
"""

import hashlib
import io
import itertools
import json
import logging
import pathlib
import random
import struct
import sys
import warnings
import zlib

import imagecodecs
import numpy
import PIL
from PIL import Image

assert PIL.__version__.startswith("12.3"), PIL.__version__
warnings.simplefilter("ignore")
logging.disable(logging.CRITICAL)

NONE, FAX3, FAX4, LZW, JPEG, DEFLATE, PACKBITS, OLD_DEFLATE, ZSTD = (1, 3, 4, 5, 7, 8, 32773, 32946, 50000)
NAMES = {NONE: "none", FAX3: "fax3", FAX4: "fax4", LZW: "lzw", JPEG: "jpeg", DEFLATE: "deflate",
         PACKBITS: "packbits", OLD_DEFLATE: "olddeflate", ZSTD: "zstd"}
TYPES = {"H": 3, "I": 4, "Q": 16, "f": 11, "B": 1, "R": 5, "U": 7}
reversal = bytes(int(format(i, "08b")[::-1], 2) for i in range(256))


def file(fields, chunks, order="<", big=False, offsets=273, counts=279):
    """A file with one directory of {tag: (type, values)} after the chunks."""
    head = struct.pack(order + ("2sHHH" if big else "2sH"), b"II" if order == "<" else b"MM", *((43, 8, 0) if big else (42,)))
    at = len(head) + (8 if big else 4)
    body, places = b"", []
    for chunk in chunks:
        places.append(at + len(body))
        body += chunk + b"\0" * (len(chunk) % 2)
    word = "Q" if big else "I"
    fields = dict(fields)
    fields[offsets] = (word, places)
    fields[counts] = (word, [len(c) for c in chunks])
    start = at + len(body)
    n = len(fields)
    extra_at = start + (8 + 20 * n + 8 if big else 2 + 12 * n + 4)
    entries, extra = b"", b""
    for tag, (kind, values) in sorted(fields.items()):
        count = len(values)
        if kind == "R":
            data = b"".join(struct.pack(order + "II", *v) for v in values)
        elif kind == "U":
            data = bytes(values)
        else:
            data = struct.pack(order + "%d%s" % (count, kind), *values)
        room = 8 if big else 4
        if len(data) > room:
            place = extra_at + len(extra)
            extra += data + b"\0" * (len(data) % 2)
            data = struct.pack(order + word, place)
        entries += struct.pack(order + ("HHQ" if big else "HHI"), tag, TYPES[kind], count) + data.ljust(room, b"\0")
    return head + struct.pack(order + word, start) + body + struct.pack(order + ("Q" if big else "H"), n) + entries + struct.pack(order + word, 0) + extra


def compress(scheme, data, seed=0):
    if scheme == LZW:
        return imagecodecs.lzw_encode(data)
    if scheme in (DEFLATE, OLD_DEFLATE):
        return zlib.compress(data, 9)
    if scheme == PACKBITS:
        return imagecodecs.packbits_encode(data)
    if scheme == ZSTD:
        return imagecodecs.zstd_encode(data)
    return data


def pack(samples, bits, order):
    """Rows of samples as bytes: arrays of shape (rows, values)."""
    if bits in (8, 16, 32):
        return samples.astype(order + samples.dtype.str[1:]).tobytes()
    out = b""
    for row in samples:
        text = "".join(format(int(v), "0%db" % bits) for v in row)
        text += "0" * (-len(text) % 8)
        out += int(text, 2).to_bytes(len(text) // 8, "big")
    return out


def differences(samples, step, bits, fmt, order):
    rows = samples.reshape(samples.shape[0], -1)
    if fmt == "float":
        out = b""
        for row in rows:
            planes = numpy.frombuffer(row.astype(">f4").tobytes(), "u1").reshape(-1, 4).T.reshape(-1).copy()
            planes[step:] -= planes[:-step].copy()
            out += planes.tobytes()
        return out
    u = rows.view("u%d" % (bits // 8)).copy()
    u[:, step:] -= u[:, :-step].copy()
    return pack(u, bits, order)


def noise(draw, shape, bits, fmt):
    if fmt == "float":
        return draw.uniform(-40, 300, shape).astype("f4")
    smooth = draw.integers(0, 2, shape) * draw.integers(0, 1 << min(bits, 31), shape) + numpy.arange(shape[1])[None, :, None]
    if fmt == "int":
        return (smooth % (1 << bits) - (1 << bits - 1) // 2).astype("i%d" % (bits // 8)) if bits > 8 else (smooth % 256).astype("u1").view("i1")
    low = draw.integers(0, 2, shape)
    smooth = numpy.where(low, smooth % 300, smooth) % (1 << bits)
    return smooth.astype({8: "u1", 16: "u2", 32: "u4"}.get(bits, "u2"))


def tiff(photometric=1, bits=8, fmt="uint", samples=1, extra=None, planar=1, tile=None, rows=None, predictor=1, fill=1,
         scheme=NONE, order="<", big=False, orientation=None, w=29, h=19, seed=0, more=()):
    draw = numpy.random.default_rng(seed + 1)
    pixels = noise(draw, (h, w, samples), bits, fmt)
    if extra and extra[0] == 1 and bits in (8, 16):
        pixels[:, :, 3] = numpy.maximum(pixels[:, :, 3], draw.integers(0, 1 << bits, (h, w)))
    cw, ch = tile or (w, rows or h)
    chunks = []
    planes = [pixels] if planar == 1 else [pixels[:, :, b : b + 1] for b in range(samples)]
    for plane in planes:
        for y in range(0, h, ch):
            for x in range(0, w, cw):
                part = plane[y : y + ch, x : x + cw]
                if tile:
                    part = numpy.pad(part, ((0, ch - part.shape[0]), (0, cw - part.shape[1]), (0, 0)), "edge")
                part = numpy.ascontiguousarray(part)
                if predictor > 1:
                    data = differences(part, part.shape[2], bits, fmt, order)
                else:
                    data = pack(part.reshape(part.shape[0], -1), bits, order)
                data = compress(scheme, data)
                chunks.append(data.translate(reversal) if fill == 2 else data)
    fields = {256: ("H", [w]), 257: ("H", [h]), 258: ("H", [bits] * samples), 259: ("H", [scheme]), 262: ("H", [photometric]),
              277: ("H", [samples]), 284: ("H", [planar])}
    if fill == 2:
        fields[266] = ("H", [2])
    if fmt != "uint":
        fields[339] = ("H", [{"int": 2, "float": 3}[fmt]] * samples)
    if extra is not None:
        fields[338] = ("H", list(extra))
    if predictor > 1:
        fields[317] = ("H", [predictor])
    if photometric == 3:
        fields[320] = ("H", list(draw.integers(0, 65536, 3 << bits)))
    if orientation:
        fields[274] = ("H", [orientation])
    for tag, value in more:
        fields[tag] = value
    if tile:
        fields[322], fields[323] = ("H", [cw]), ("H", [ch])
        return file(fields, chunks, order, big, 324, 325)
    fields[278] = ("H", [ch])
    return file(fields, chunks, order, big)


def fax(scheme, fill=1, photometric=0, w=133, h=40, rows=None, marks=True, seed=0):
    """Black and white by libtiff's encoder, out of Pillow's file of it."""
    draw = random.Random(seed + 7)
    rows = rows or h
    runs = numpy.zeros((h, w), "u1")
    for y in range(h):
        if y % 5 == 3:
            runs[y] = runs[y - 1]
            continue
        x, black = 0, False
        while x < w:
            n = draw.choice((1, 2, 3, 7, 17, 64, 70, 200))
            runs[y, x : x + n] = 255 * black
            x, black = x + n, not black
    chunks = []
    for y in range(0, h, rows):
        out = io.BytesIO()
        name = {FAX3: "group3", FAX4: "group4"}[scheme]
        part = Image.fromarray(255 - runs[y : y + rows]).convert("1")
        part.save(out, "TIFF", compression=name, strip_size=1 << 20)
        im = Image.open(out)
        at, n = im.tag_v2[273][0], im.tag_v2[279][0]
        data = out.getvalue()[at : at + n]
        chunks.append(data.translate(reversal) if fill == 2 else data)
    fields = {256: ("H", [w]), 257: ("H", [h]), 258: ("H", [1]), 259: ("H", [scheme]), 262: ("H", [photometric]),
              266: ("H", [fill]), 277: ("H", [1]), 278: ("H", [rows])}
    return file(fields, chunks)


def split_tables(jpeg):
    """The tables of a JPEG file, and the rest."""
    tables, rest, at = b"\xff\xd8", b"\xff\xd8", 2
    while jpeg[at + 1] != 0xDA:
        n = 2 + struct.unpack(">H", jpeg[at + 2 : at + 4])[0]
        if jpeg[at + 1] in (0xDB, 0xC4):
            tables += jpeg[at : at + n]
        elif jpeg[at + 1] & 0xF0 != 0xE0:
            rest += jpeg[at : at + n]
        at += n
    return tables + b"\xff\xd9", rest + jpeg[at:]


def jpegs(photometric=6, samples=3, sub=(2, 2), tables=True, planar=1, tile=None, rows=16, extra=None, orientation=None,
          w=45, h=37, longer=False, seed=0):
    draw = numpy.random.default_rng(seed + 3)
    y, x = numpy.mgrid[0:h, 0:w]
    pixels = numpy.stack([(x * (3 + b) + y * (5 - b) + 20 * numpy.sin(x * y / 40 + b)) % 256 for b in range(samples)], 2)
    pixels = (pixels + draw.integers(0, 12, pixels.shape)).clip(0, 255).astype("u1")
    cw, ch = tile or (w, rows)
    chunks, common = [], None
    planes = [pixels] if planar == 1 else [pixels[:, :, b] for b in range(samples)]
    for plane in planes:
        for y0 in range(0, h, ch):
            for x0 in range(0, w, cw):
                part = plane[y0 : y0 + ch, x0 : x0 + cw]
                pad = ch - part.shape[0] if tile or longer else 0
                part = numpy.pad(part, ((0, pad), (0, cw - part.shape[1])) + ((0, 0),) * (part.ndim - 2), "edge")
                part = numpy.ascontiguousarray(part.reshape(part.shape[:2]) if part.shape[2:] == (1,) else part)
                if photometric == 6:
                    data = imagecodecs.jpeg8_encode(part, level=80, colorspace="RGB", outcolorspace="YCbCr", subsampling=sub)
                elif part.ndim == 2:
                    data = imagecodecs.jpeg8_encode(part, level=80)
                elif part.shape[2] == 3:
                    data = imagecodecs.jpeg8_encode(part, level=80, colorspace="RGB", outcolorspace="RGB", subsampling=(1, 1))
                else:
                    data = imagecodecs.jpeg8_encode(part, level=80, colorspace="CMYK", outcolorspace="CMYK", subsampling=(1, 1))
                if tables:
                    common, data = split_tables(data)
                chunks.append(data)
    fields = {256: ("H", [w]), 257: ("H", [h]), 258: ("H", [8] * samples), 259: ("H", [JPEG]), 262: ("H", [photometric]),
              277: ("H", [samples]), 284: ("H", [planar])}
    if photometric == 6:
        fields[530] = ("H", list(sub))
    if photometric == 3:
        fields[320] = ("H", list(draw.integers(0, 65536, 768)))
    if extra is not None:
        fields[338] = ("H", list(extra))
    if orientation:
        fields[274] = ("H", [orientation])
    if common:
        fields[347] = ("U", common)
    if tile:
        fields[322], fields[323] = ("H", [cw]), ("H", [ch])
        return file(fields, chunks, offsets=324, counts=325)
    fields[278] = ("H", [ch])
    return file(fields, chunks)


KINDS = [  # photometric, bits, format, samples, extra samples
    *[(p, b, "uint", 1, None) for p in (0, 1, 3) for b in (1, 2, 4, 8)],
    (1, 12, "uint", 1, None), (0, 16, "uint", 1, None), (1, 16, "uint", 1, None), (1, 8, "int", 1, None),
    (1, 16, "int", 1, None), (1, 32, "uint", 1, None), (1, 32, "int", 1, None), (1, 32, "float", 1, None), (0, 32, "float", 1, None),
    (1, 8, "uint", 2, (2,)), (3, 8, "uint", 2, (0,)), (3, 8, "uint", 2, (2,)), (6, 8, "uint", 1, None),
    *[(2, b, "uint", 3, None) for b in (8, 16)],
    *[(2, b, "uint", 4, e) for b in (8, 16) for e in (None, (0,), (1,), (2,))],
    (2, 8, "uint", 4, (999,)),
    *[(2, 8, "uint", 3 + len(e), e) for e in ((0, 0), (1, 0), (2, 0), (0, 0, 0), (1, 0, 0), (2, 0, 0))],
    (5, 8, "uint", 4, None), (5, 8, "uint", 5, (0,)), (5, 8, "uint", 6, (0, 0)), (5, 16, "uint", 4, None),
]


def name_of(kind, scheme, planar, tile, predictor, order, fill):
    p, bits, fmt, samples, extra = kind
    parts = ["p%d" % p, "%d%s" % (bits, fmt), "x%d" % samples]
    parts += ["e" + "".join(map(str, extra))] if extra is not None else []
    parts += [NAMES[scheme]] + ["planes"] * (planar == 2) + ["tiles"] * bool(tile) + ["predict%d" % predictor] * (predictor > 1)
    parts += ["high"] * (order == ">") + ["reversed"] * (fill == 2)
    return "-".join(parts) + ".tif"


def everything():
    for i, kind in enumerate(KINDS):
        p, bits, fmt, samples, extra = kind
        for scheme, planar, tile, order, fill in itertools.product(
                (NONE, LZW, DEFLATE, PACKBITS, ZSTD), (1, 2), (None, (16, 16)), "<>", (1, 2)):
            predictors = (1, 3 if fmt == "float" else 2) if scheme in (LZW, DEFLATE, ZSTD) and bits in (8, 16, 32) else (1,)
            for predictor in predictors:
                yield (name_of(kind, scheme, planar, tile, predictor, order, fill),
                       lambda: tiff(p, bits, fmt, samples, extra, planar, tile, 8, predictor, fill, scheme, order, seed=i))
    for orientation, tile, scheme in itertools.product(range(10), (None, (16, 16)), (NONE, DEFLATE)):
        name = "orientation%d-%s%s.tif" % (orientation, NAMES[scheme], "-tiles" if tile else "")
        yield name, lambda: tiff(2, 8, "uint", 3, tile=tile, rows=5, scheme=scheme, more=[(274, ("H", [orientation]))])
    for o in range(10):
        xmp = b'<rdf tiff:Orientation="%d"/>' % o
        yield "xmp%d.tif" % o, lambda: tiff(more=[(700, ("B", xmp))])
    for order, scheme in itertools.product("<>", (NONE, DEFLATE)):
        yield "big-%s%s.tif" % (NAMES[scheme], "-high" * (order == ">")), lambda: tiff(2, 8, "uint", 3, scheme=scheme, order=order, big=True, rows=4)
    for scheme, fill, photometric, rows, w in itertools.product((FAX3, FAX4), (1, 2), (0, 1), (None, 16), (1, 8, 133, 2600)):
        yield ("%s-p%d-w%d%s%s.tif" % (NAMES[scheme], photometric, w, "-strips" * bool(rows), "-reversed" * (fill == 2)),
               lambda: fax(scheme, fill, photometric, w, rows=rows))
    for sub, tables, tile, longer in itertools.product(((1, 1), (2, 1), (1, 2), (2, 2), (4, 1)), (False, True), (None, (32, 32)), (False, True)):
        yield ("jpeg-ycbcr-%d%d%s%s%s.tif" % (*sub, "-tables" * tables, "-tiles" * bool(tile), "-longer" * longer),
               lambda: jpegs(6, 3, sub, tables, tile=tile, longer=longer))
    for (p, n, extra), tables, tile, planar in itertools.product(
            ((0, 1, None), (1, 1, None), (2, 3, None), (2, 4, None), (2, 4, (0,)), (2, 4, (1,)), (2, 4, (2,)), (3, 1, None), (5, 4, None)),
            (False, True), (None, (32, 32)), (1, 2)):
        e = "" if extra is None else "-e%d" % extra
        yield ("jpeg-p%d-x%d%s%s%s%s.tif" % (p, n, e, "-tables" * tables, "-tiles" * bool(tile), "-planes" * (planar == 2)),
               lambda: jpegs(p, n, (1, 1), tables, planar, tile, extra=extra))
    for o in range(2, 9):
        yield "jpeg-orientation%d.tif" % o, lambda: jpegs(orientation=o)


# Those that are committed: of everything, those whose names are here, and more that tests speak of.
COMMITTED = """
p0-1uint-x1-none p0-2uint-x1-packbits p1-4uint-x1-lzw p0-8uint-x1-none p1-8uint-x1-deflate-tiles-predict2
p1-8int-x1-none p1-16uint-x1-none p1-16uint-x1-lzw-predict2-high p0-16uint-x1-none p1-16int-x1-none-high p1-32uint-x1-none
p1-32int-x1-deflate p1-32float-x1-none-high p1-32float-x1-zstd-predict3 p0-32float-x1-lzw-tiles p1-8uint-x2-e2-none p3-8uint-x2-e0-none
p3-8uint-x2-e2-lzw-planes p3-1uint-x1-none p3-2uint-x1-none p3-4uint-x1-deflate p3-8uint-x1-packbits p2-8uint-x3-none p2-8uint-x3-lzw-predict2
p2-8uint-x3-deflate-tiles-predict2 p2-8uint-x3-none-planes-tiles p2-8uint-x3-zstd-planes p2-16uint-x3-none
p2-16uint-x3-deflate-predict2-high p2-16uint-x3-lzw-planes-tiles p2-8uint-x4-none p2-8uint-x4-deflate-planes p2-8uint-x4-e0-none p2-8uint-x4-e1-none
p2-8uint-x4-e1-lzw-planes p2-8uint-x4-e2-none-planes p2-16uint-x4-e1-none-high p2-8uint-x5-e10-none p2-8uint-x6-e200-lzw
orientation1-none orientation2-deflate-tiles orientation3-none orientation4-deflate orientation5-none-tiles orientation6-deflate orientation7-none
orientation8-deflate-tiles xmp6 big-none big-deflate fax3-p0-w133 fax4-p0-w133 fax4-p1-w2600
fax4-p0-w133-reversed jpeg-ycbcr-22-tables jpeg-ycbcr-11 jpeg-ycbcr-21-tables-tiles jpeg-ycbcr-22-longer jpeg-p1-x1 jpeg-p0-x1-tables
jpeg-p2-x3 jpeg-p2-x4-e1-tiles jpeg-p3-x1 jpeg-orientation6
""".split()

# Pillow misreads these. They have the samples of others.
MISREAD = {
    "p2-16uint-x3-none-planes": "p2-16uint-x3-none", "p1-16int-x1-lzw-high": "p1-16int-x1-none-high",
    "p1-32float-x1-deflate-predict3-high": "p1-32float-x1-none-high", "p0-8uint-x1-none-planes": "p0-8uint-x1-none",
}

# These are refused.
REFUSED = "p5-8uint-x4-none p1-12uint-x1-none p1-1uint-x1-none-reversed jpeg-p2-x3-tables-planes".split()


def pillow(data):
    rgb = Image.open(io.BytesIO(data)).convert("RGB")
    return {"W": rgb.width, "H": rgb.height, "RGB": hashlib.sha256(rgb.tobytes()).hexdigest()}


if len(sys.argv) > 1:
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(exist_ok=True)
    for name, make in everything():
        (folder / name).write_bytes(make())
else:
    here, golden, left = pathlib.Path(__file__).parent, {}, set(COMMITTED + list(MISREAD) + REFUSED)
    for name, make in everything():
        if name[:-4] in left:
            left.remove(name[:-4])
            data = make()
            (here / name).write_bytes(data)
            golden[name] = pillow(data) if name[:-4] in COMMITTED else {}
    assert not left, left
    for name, other in MISREAD.items():
        golden[name + ".tif"] = golden[other + ".tif"]
    (here / "golden.json").write_text(json.dumps(golden, indent=0))
