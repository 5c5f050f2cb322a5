#!/usr/bin/env python3
"""Writes golden.json.gz: arrays as NumPy saves them, and what they hold.

Needs Python 3 and NumPy (the committed file: 2.4.6). "files" are the files in
base64. "read" gives, for every file that is to be read, kind, shape and the
SHA-256 of the values in C order, little-endian, float16 as float32; "refused",
for every other, a word of the error.
"""
import base64, gzip, hashlib, io, itertools, json, os, warnings

import numpy as np
from numpy.lib import format as npy

warnings.simplefilter("ignore")  # on versions 2.0 and 3.0 of the format
KINDS = "b1 i1 i2 i4 i8 u1 u2 u4 u8 f2 f4 f8 c8 c16".split()
here = os.path.dirname(os.path.abspath(__file__))
random = np.random.default_rng(1)


def values(kind, shape):
    """Values of the kind, with its extremes."""
    dtype = np.dtype("<" + kind)
    n = int(np.prod(shape))
    if kind == "b1":
        return random.integers(0, 2, shape).astype(bool)
    if kind[0] in "iu":
        info = np.iinfo(dtype)
        a = random.integers(info.min, info.max, n, dtype=dtype, endpoint=True)
        a[:2] = [info.min, info.max][: len(a)]
        return a.reshape(shape)
    real = np.dtype("<f%d" % (dtype.itemsize // (2 if kind[0] == "c" else 1)))
    special = [0.0, -0.0, 1.0, -1.5, np.inf, -np.inf, np.nan, np.finfo(real).max, np.finfo(real).tiny, np.finfo(real).smallest_subnormal]

    def reals():
        a = random.normal(size=n).astype(real)
        random.shuffle(special)
        a[: min(n, 10)] = special[: min(n, 10)]
        return a

    if kind[0] == "c":
        a = np.empty(n, dtype)
        a.real, a.imag = reals(), reals()
        return a.reshape(shape)
    return reals().reshape(shape)


def known(a):
    """What a reader makes of the array."""
    a = np.ascontiguousarray(a.astype(np.float32) if a.dtype.kind == "f" and a.dtype.itemsize == 2 else a)
    a = a.astype(a.dtype.newbyteorder("<"))
    return {"kind": a.dtype.name, "shape": list(a.shape), "sha256": hashlib.sha256(a.tobytes("C")).hexdigest()}


def saved(a, version=None, pickle=False):
    out = io.BytesIO()
    npy.write_array(out, a, version=version, allow_pickle=pickle)
    return out.getvalue()


read, refused, files = {}, {}, {}


def keep(name, a, version=None):
    files[name] = saved(a, version)
    read[name] = known(a)


for kind, end, order, version in itertools.product(KINDS, "<>", "CF", [(1, 0), (2, 0), (3, 0)]):
    if np.dtype(kind).itemsize == 1 and end == ">":
        continue
    a = np.asarray(values(kind, (3, 2, 5)).astype(np.dtype(end + kind)), order=order)
    keep("%s%s-%s-%d.npy" % ("little" if end == "<" else "big", kind, order, version[0]), a, version)
for shape in [(7,), (1, 1, 1, 1), (0,), (0, 3), (9, 1), (1, 9), (2, 3, 4, 5, 2), (13, 7, 3)]:
    for order in "CF":
        keep("shape%s-%s.npy" % ("x".join(map(str, shape)), order), np.asarray(values("i2", shape), order=order))

for name, a, word in [
    ("structured", np.zeros(3, [("x", "<f4"), ("y", "<i2")]), "structured"),
    ("unicodefield", np.zeros(3, [("\u00fc\u4e00", "<f4")]), "structured"),
    ("bytes", np.array([b"ab", b"c"]), "text"),
    ("text", np.array(["ab", "c"]), "text"),
    ("times", np.array(["2020-01-01"], "M8[D]"), "times"),
    ("spans", np.array([1], "m8[s]"), "times"),
    ("void", np.zeros(3, "V5"), "want bool"),
    ("longdouble", np.zeros(3, np.longdouble), "want bool"),
    ("scalar", np.float32(1), "first dimension"),
    ("hollow", np.zeros((2, 0, 3), "f4"), "below 1"),
]:
    files[name + ".npy"] = saved(np.asarray(a))
    refused[name + ".npy"] = word
files["objects.npy"] = saved(np.array([{}, None], object), pickle=True)
refused["objects.npy"] = "pickled"

arrays = {"x": values("f4", (50, 3, 4)), "y": values("i8", (50,)), "z": np.asfortranarray(values("f2", (50, 6)))}
for name, save in ("stored.npz", np.savez), ("deflated.npz", np.savez_compressed):
    out = io.BytesIO()
    save(out, **arrays)
    files[name] = out.getvalue()
    read[name] = {member: known(a) for member, a in arrays.items()}

golden = {"files": {name: base64.b64encode(content).decode() for name, content in files.items()}, "read": read, "refused": refused}
with open(os.path.join(here, "golden.json.gz"), "wb") as f:
    f.write(gzip.compress(json.dumps(golden).encode(), mtime=0))
