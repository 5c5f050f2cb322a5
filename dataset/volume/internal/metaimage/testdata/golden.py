#!/usr/bin/env python3
"""Writes files/ and golden.json: small MetaImage files of all kinds, and what SimpleITK reads from them.

Needs SimpleITK 2.5.7 and numpy. What SimpleITK does not write is written by hand. Where it does not read what MetaIO's
documents allow (compressed LOCAL data of unknown size, which it takes from the wrong place), the values are those that
were written and the rest is from the same header without compression.
"""
import gzip
import hashlib
import json
import os
import zlib

import numpy as np
import SimpleITK as sitk

here = os.path.dirname(os.path.abspath(__file__))
files = os.path.join(here, "files")
random = np.random.default_rng(13)
golden = {}

os.makedirs(files, exist_ok=True)
for old in os.listdir(files):
    os.remove(os.path.join(files, old))


def sha(a):
    return hashlib.sha256(np.ascontiguousarray(a).tobytes()).hexdigest()


def known(name, values=None, like=None):
    """Notes what SimpleITK reads; with values, they are checked where it reads them, and believed where like is read."""
    image = sitk.ReadImage(os.path.join(files, like or name))
    a = sitk.GetArrayFromImage(image)
    if values is not None and like is None:
        assert (a.ravel() == values.ravel()).all(), name
    golden[name] = {
        "dtype": a.dtype.name,
        "sizes": ([image.GetNumberOfComponentsPerPixel()] if image.GetNumberOfComponentsPerPixel() > 1 else []) + list(image.GetSize()),
        "spacing": list(image.GetSpacing()),
        "origin": list(image.GetOrigin()),
        "direction": list(image.GetDirection()),
        "sha256": sha(values if like else a),
    }


def put(name, data=b""):
    with open(os.path.join(files, name), "wb") as f:
        f.write(data)


def text(data="LOCAL", separator=" = ", end="\n", **fields):
    """A header; a field of None is left out."""
    all = dict(ObjectType="Image", NDims="3", BinaryData="True", BinaryDataByteOrderMSB="False", CompressedData="False",
               TransformMatrix="1 0 0 0 1 0 0 0 1", Offset="1.5 -2 3", ElementSpacing="0.5 2 3.25", DimSize="2 3 4",
               ElementType="MET_SHORT")
    all.update(fields)
    all["ElementDataFile"] = data
    return "".join(k + separator + v + end for k, v in all.items() if v is not None).encode()


def oblique(n):
    q, _ = np.linalg.qr(random.normal(0, 1, (n, n)))
    return q


# Written by SimpleITK: every type, 2 to 4 axes, one value and three, plain and compressed, in one file and in two.
k = 0
for dtype in ["i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "f4", "f8"]:
    for vector in (False, True):
        rank = 2 + k % 2
        shape = (4, 3, 5)[:rank]
        n = int(np.prod(shape)) * (3 if vector else 1)
        i = np.iinfo(dtype) if dtype[0] != "f" else None
        a = random.normal(0, 1000, n).astype(dtype) if i is None else random.integers(i.min, i.max, n, dtype, endpoint=True)
        image = sitk.GetImageFromArray(a.reshape(shape + ((3,) if vector else ())), isVector=vector)
        image.SetSpacing(random.uniform(0.3, 4, rank).tolist())
        image.SetOrigin(random.normal(0, 100, rank).tolist())
        image.SetDirection(oblique(rank).ravel().tolist())
        name = f"{a.dtype.name}{'x3' if vector else ''}.{'mha' if k % 3 else 'mhd'}"
        sitk.WriteImage(image, os.path.join(files, name), useCompression=bool(k % 4 >= 2))
        known(name, a)
        k += 1
image = sitk.GetImageFromArray(random.integers(0, 99, (2, 2, 3, 4), "i2"), isVector=False)
image.SetSpacing([1, 2, 3, 0.5])
image.SetOrigin([4, 5, 6, 7])
sitk.WriteImage(image, os.path.join(files, "four.mha"))
known("four.mha")

# By hand.
a = np.arange(-5, 19, dtype="i2")
d = a.astype("<i2").tobytes()
put("plain.mha", text() + d)
known("plain.mha", a)
for name, fields in {
    "colon": dict(separator=": "), "tight": dict(separator="="), "crlf": dict(end="\r\n"), "short": dict(BinaryData="T", CompressedData="0"),
    "nospacing": dict(ElementSpacing=None), "size": dict(ElementSpacing=None, ElementSize="3 4 5"), "both": dict(ElementSize="3 4 5"),
    "negative": dict(ElementSpacing="-1 2 3"), "nomatrix": dict(TransformMatrix=None),
    "rotation": dict(TransformMatrix=None, Rotation="0.8 0.6 0 -0.6 0.8 0 0 0 1"), "orientation": dict(TransformMatrix=None, Orientation="0 1 0 -1 0 0 0 0 1"),
    "long": dict(TransformMatrix="2 0 0 0 1 0 0 0 -0.5"),
    "position": dict(Offset=None, Position="4 5 6"), "origin": dict(Offset=None, Origin="4 5 6"), "nooffset": dict(Offset=None),
    "center": dict(CenterOfRotation="5 5 5", TransformMatrix="0 1 0 -1 0 0 0 0 1"), "intensity": dict(ElementToIntensityFunctionSlope="2"),
    "words": dict(AnatomicalOrientation="RAI", Modality="MET_MOD_CT", Comment="a = b: c", MyKey="my value"), "noorder": dict(BinaryDataByteOrderMSB=None),
    "noobject": dict(ObjectType=None), "nobinary": dict(BinaryData=None), "local": dict(data="Local"),
}.items():
    put(name + ".mha", text(**fields) + d)
    known(name + ".mha", a)
put("big.mha", text(BinaryDataByteOrderMSB="True") + a.astype(">i2").tobytes())
known("big.mha", a)
put("elementbig.mha", text(BinaryDataByteOrderMSB=None, ElementByteOrderMSB="True") + a.astype(">i2").tobytes())
known("elementbig.mha", a)
put("more.mha", text() + d + b"junk")
known("more.mha", a)
for name, element, dtype in [("long32.mha", "MET_LONG", "<i4"), ("ulong32.mha", "MET_ULONG", "<u4"), ("char.mha", "MET_ASCII_CHAR", "i1")]:
    put(name, text(ElementType=element) + np.abs(a).astype(dtype).tobytes())
    known(name, np.abs(a))
put("text.mha", text(BinaryData="False") + b"\n".join(b"%d" % x for x in a) + b"\n")
known("text.mha", a)
put("floats.mha", text(BinaryData="False", ElementType="MET_FLOAT") + b" ".join(b"%d.25" % abs(x) for x in a) + b" ")
known("floats.mha")
put("last.mha", text(HeaderSize="-1") + b"junk" + d)
known("last.mha", a)
put("header.raw", b"HDR!" + d + b"tail")
put("header.mhd", text("header.raw", HeaderSize="4"))
known("header.mhd", a)
z = zlib.compress(d)
put("sized.mha", text(CompressedData="True", CompressedDataSize=str(len(z))) + z + b"junk")
known("sized.mha", a)
put("zlib.raw", z)
put("zlib.mhd", text("zlib.raw", CompressedData="True"))
known("zlib.mhd", a)
put("unsized.mha", text(CompressedData="True") + z)
known("unsized.mha", a, like="plain.mha")
put("gzip.mha", text(CompressedData="True") + gzip.compress(d, mtime=0))
known("gzip.mha", a, like="plain.mha")
for i in range(4):
    put(f"slice {i:02d}.raw", d[12 * i:12 * i + 12])
for name, element, rest in [("list.mhd", "LIST", True), ("list2.mhd", "LIST 2", True), ("pattern.mhd", "slice %02d.raw 0 3 1", False)]:
    put(name, text(element) + (b"".join(b"slice %02d.raw\n" % i for i in range(4)) if rest else b""))
    known(name, a)
for i in range(4):
    put(f"p{i + 1}.raw", d[12 * i:12 * i + 12])
put("first.mhd", text("p%d.raw 1"))
known("first.mhd", a)
put("bare.mhd", text("p%d.raw"))
known("bare.mhd", a)
lines = [d[4 * i:4 * i + 4] for i in range(12)]
for i, line in enumerate(lines):
    put(f"line{i}.raw", line)
put("lines.mhd", text("LIST 1") + b"".join(b"line%d.raw\n" % i for i in range(12)))
known("lines.mhd", a)

with open(os.path.join(here, "golden.json"), "w") as f:
    f.write("{\n" + ",\n".join(f"{json.dumps(k)}: {json.dumps(golden[k], sort_keys=True)}" for k in sorted(golden)) + "\n}\n")
