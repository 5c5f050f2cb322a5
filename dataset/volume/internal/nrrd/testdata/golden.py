#!/usr/bin/env python3
"""Writes files/ and golden.json: odd NRRD files, and what pynrrd reads from them and from real ones.

    golden.py [FOLDER]    FOLDER holds real files, by default shared/nrrd next to the clone

Needs pynrrd 1.1.3 and numpy. What pynrrd does not know (lists and patterns of data files, hex, zrl, blocks, version 6,
SKIPLIST) is written here by hand from the same values, and the values are the golden ones.
"""
import bz2
import gzip
import hashlib
import json
import os
import sys

import nrrd
import numpy as np

here = os.path.dirname(os.path.abspath(__file__))
files = os.path.join(here, "files")
real = sys.argv[1] if len(sys.argv) > 1 else os.path.join(here, "../../../../../../shared/nrrd")
golden = {"files": {}, "shared": {}}
random = np.random.default_rng(7)

TYPES = {
    "int8": ["signed char", "int8", "int8_t"],
    "uint8": ["uchar", "unsigned char", "uint8", "uint8_t"],
    "int16": ["short", "short int", "signed short", "signed short int", "int16", "int16_t"],
    "uint16": ["ushort", "unsigned short", "unsigned short int", "uint16", "uint16_t"],
    "int32": ["int", "signed int", "int32", "int32_t"],
    "uint32": ["uint", "unsigned int", "uint32", "uint32_t"],
    "int64": ["longlong", "long long", "long long int", "signed long long", "signed long long int", "int64", "int64_t"],
    "uint64": ["ulonglong", "unsigned long long", "unsigned long long int", "uint64", "uint64_t"],
    "float32": ["float"],
    "float64": ["double"],
}


def values(dtype, shape):
    """Values of the whole range, the fastest axis first in shape."""
    n = int(np.prod(shape))
    if np.dtype(dtype).kind == "f":
        a = random.normal(0, 1000, n).astype(dtype)
    else:
        i = np.iinfo(dtype)
        a = random.integers(i.min, i.max, n, dtype, endpoint=True)
        a[0], a[-1] = i.min, i.max
    return a


def entry(data, header=None, **more):
    """What a reader must find: data is flat, in the file's order."""
    data = np.ascontiguousarray(data)
    e = {"dtype": data.dtype.name, "sha256": hashlib.sha256(data.tobytes()).hexdigest(), **more}
    if header is not None:
        e["header"] = {k: plain(v) for k, v in header.items()}
    return e


def plain(v):
    if isinstance(v, np.ndarray):
        return [plain(x) for x in v]
    if isinstance(v, (list, tuple)):
        return [plain(x) for x in v]
    if v is None:
        return None
    if isinstance(v, (float, np.floating)):
        return None if np.isnan(v) else float(v)
    if isinstance(v, np.integer):
        return int(v)
    return v


def known(folder, name):
    """What pynrrd reads."""
    data, header = nrrd.read(os.path.join(folder, name), index_order="C")
    return entry(data.astype(data.dtype.newbyteorder("=")).ravel(), header, sizes=[int(s) for s in header["sizes"]])


def put(name, text, *tail):
    with open(os.path.join(files, name), "wb") as f:
        f.write(text if isinstance(text, bytes) else text.encode())
        for t in tail:
            f.write(t)


def head(version, *lines, end="\n"):
    return end.join(["NRRD" + version, *lines, "", ""]).encode()


os.makedirs(files, exist_ok=True)
for old in os.listdir(files):
    os.remove(os.path.join(files, old))

# Every type under every name, in every encoding that pynrrd writes and both byte orders.
k = 0
for dtype, names in TYPES.items():
    for n, name in enumerate(names):
        encoding = ["raw", "gzip", "bzip2", "gz", "bz2", "ascii", "text", "txt"][k % 8]
        order = "><"[k // 2 % 2]
        k += 1
        a = values(dtype, (3, 2, 5))
        if encoding in ("ascii", "text", "txt"):
            body = (" ".join(repr(x.item()) for x in a) + "\n").encode()
        else:
            body = a.astype(np.dtype(dtype).newbyteorder(order)).tobytes()
            body = {"g": lambda b: gzip.compress(b, mtime=0), "b": bz2.compress}.get(encoding[0], bytes)(body)
        file = f"type_{name.replace(' ', '_')}.nrrd"
        put(file, head("0001", f"type: {name}", "dimension: 3", "sizes: 3 2 5", f"encoding: {encoding}",
                       "endian: " + {">": "big", "<": "little"}[order]), body)
        golden["files"][file] = known(files, file)

# All fields that pynrrd writes, through pynrrd.
a = values("float32", (2, 3, 4)).reshape(4, 3, 2)
nrrd.write(os.path.join(files, "fields.nrrd"), a, {
    "content": "a test: of all fields", "space": "left-posterior-superior", "space units": ["mm", "mm", "m m"],
    "space directions": np.array([[np.nan] * 3, [0.5, 0, 0.25], [0, 2, 0]]), "space origin": np.array([1.5, -2.25, 1e-9]),
    "measurement frame": np.array([[1, 0, 0], [0, 1.00001, 0], [0, 0, -1.0]]), "kinds": ["2-vector", "domain", "space"],
    "labels": ["a", "b c", "d"], "thicknesses": [np.nan, 1.25, np.nan], "centerings": ["cell", "node", "???"],
    "units": ["1", "mm", "s"], "axis mins": [0.0, np.nan, 1.5], "axis maxs": [1.0, np.nan, 2.5],
    "min": -1.5, "max": 2.5, "old min": 0.0, "old max": 1e300, "sample units": "HU of X",
    "a key": "a value", "DWMRI_b-value": "1000"}, index_order="C", compression_level=9)
with open(os.path.join(files, "fields.nrrd"), "rb") as f:
    lines = f.read().split(b"\n")
put("fields.nrrd", b"\n".join(line for line in lines if not line.startswith(b"# on ")))  # the date
golden["files"]["fields.nrrd"] = known(files, "fields.nrrd")

a = values("int16", (4, 3)).astype("<i2")
raw = a.tobytes()
base = ["type: short", "dimension: 2", "sizes: 4 3", "endian: little"]
put("crlf.nrrd", head("0004", "# a comment", *base, "encoding: raw", "key:=value", end="\r\n"), raw)
put("spaces.nrrd", head("0005", *[s + " \t" for s in base], "encoding:   raw", "content:  two  spaces  "), raw)
put("comments.nrrd", head("0002", "# one", "##  two #", "#", *base, "#three: 3", "encoding: raw", "#a:=b"), raw)
put("detached.nhdr", head("0004", *base, "encoding: raw", "data file: ./detached.raw")[:-1])
put("detached.raw", raw)
put("byteskip.nhdr", head("0004", *base, "encoding: raw", "byteskip: 5", "data file: byteskip.raw"))
put("byteskip.raw", b"12345", raw)
put("lineskip.nhdr", head("0004", *base, "encoding: raw", "line skip: 3", "byte skip: 2", "data file: lineskip.raw"))
put("lineskip.raw", b"P5\n4 3\n65535\n", b"xy", raw)
put("backwards.nhdr", head("0004", *base, "encoding: raw", "byte skip: -1", "data file: lineskip.raw"))
put("attachedskip.nrrd", head("0004", *base, "encoding: raw", "line skip: 1", "byte skip: 1"), b"line\n", b"x", raw)
put("gzipskip.nhdr", head("0004", *base, "encoding: gzip", "line skip: 2", "byte skip: 3", "data file: gzipskip.gz"))
put("gzipskip.gz", b"one\ntwo\n", gzip.compress(b"abc" + raw, mtime=0))
put("gzipbackwards.nrrd", head("0004", *base, "encoding: gz", "byte skip: -1"), gzip.compress(b"header of some kind" + raw, mtime=0))
put("emptyvalue.nrrd", head("0004", "content: ", *base, "encoding: raw"), raw)
for name in ["crlf.nrrd", "spaces.nrrd", "comments.nrrd", "detached.nhdr", "byteskip.nhdr", "lineskip.nhdr",
             "backwards.nhdr", "attachedskip.nrrd", "emptyvalue.nrrd"]:
    golden["files"][name] = known(files, name)
    assert golden["files"][name]["sha256"] == hashlib.sha256(raw).hexdigest(), name
for name in ["gzipskip.nhdr", "gzipbackwards.nrrd"]:  # pynrrd skips before and after decompression
    golden["files"][name] = entry(a, sizes=[4, 3])

a = values("float64", (7,))
put("nan.nrrd", head("0001", "type: double", "dimension: 1", "sizes: 5", "encoding: ascii", "spacings: nan"),
    b"nan\n-inf Infinity 1e-320\t-0")
golden["files"]["nan.nrrd"] = entry(np.array([np.nan, -np.inf, np.inf, 1e-320, -0.0]), sizes=[5])
put("dim16.nrrd", head("0001", "type: uchar", "dimension: 16", "sizes: " + " ".join(["1"] * 13 + ["2", "1", "3"]),
                       "encoding: raw"), bytes(range(6)))
golden["files"]["dim16.nrrd"] = known(files, "dim16.nrrd")

# What pynrrd does not read.
a = values("uint16", (4, 3, 6))
raw = a.astype(">u2").tobytes()
base = ["type: UNSIGNED SHORT", "Dimension: 3", "sizes: 4 3 6", "endian: Big"]
piece = len(raw) // 6


def own(name, text, *tail, data=a, sizes=[4, 3, 6], **more):
    put(name, text, *tail)
    golden["files"][name] = entry(data, sizes=sizes, **more)


own("hex.nrrd", head("0001", *base, "encoding: hex"), "\n".join(raw.hex()[i:i + 13] for i in range(0, 2 * len(raw), 13)).upper().encode())
own("commas.nrrd", head("0001", *base[:3], "encoding: text"), (" , ".join(map(str, a[:50])) + "," + ",".join(map(str, a[50:]))).encode())
own("list.nhdr", head("0004", *base, "encoding: raw", "data file: LIST", *[f"piece{i}.raw" for i in range(6)]))
own("listend.nhdr", head("0004", *base, "encoding: raw", "data file: LIST", *[f"piece{i}.raw" for i in range(6)])[:-2])
own("listcrlf.nhdr", head("0004", *base, "encoding: raw", "data file: LIST 2", *[f"piece{i}.raw" for i in range(6)], end="\r\n"))
own("slabs.nhdr", head("0004", *base, "encoding: gzip", "data file: LIST 3", "slab a.gz", "slab b.gz"))
own("pattern.nhdr", head("0004", *base, "encoding: raw", "data file: piece%d.raw 0 5 1"))
own("patternslabs.nhdr", head("0004", *base, "encoding: raw", "byte skip: 1", "data file: slab%03d%%.raw 12 8 -4 3"))
own("rows.nhdr", head("0004", *base, "encoding: raw", "data file: row%02d.raw 0 17 1 1"))
own("skiplist.nhdr", head("0006", *base, "encoding: raw", "data file: SKIPLIST 3", "3 skip0.raw", "-1 skip1.raw"))
for i in range(6):
    put(f"piece{i}.raw", raw[i * piece:(i + 1) * piece])
for i in range(18):
    put(f"row{i:02d}.raw", raw[i * piece // 3:(i + 1) * piece // 3])
put("slab a.gz", gzip.compress(raw[:3 * piece], mtime=0))
put("slab b.gz", gzip.compress(raw[3 * piece:4 * piece], mtime=0) + gzip.compress(raw[4 * piece:], mtime=0))
put("slab012%.raw", b"x", raw[:3 * piece])
put("slab008%.raw", b"x", raw[3 * piece:])
put("skip0.raw", b"abc", raw[:3 * piece])
put("skip1.raw", b"abcdefg", raw[3 * piece:])
zeros = np.concatenate([np.zeros(3, "u1"), np.arange(1, 60, dtype="u1"), np.zeros(300, "u1"), np.full(2, 9, "u1")])
own("zrl.nrrd", head("0006", "type: uchar", "dimension: 1", f"sizes: {len(zeros)}", "encoding: zrl"),
    b"\0\3" + bytes(range(1, 60)) + b"\0\0" + (300).to_bytes(2, "little") + b"\t\t", data=zeros, sizes=[len(zeros)])
own("block.nrrd", head("0001", "type: block", "block size: 6", "dimension: 2", "sizes: 2 4", "encoding: raw"),
    bytes(range(48)), data=np.arange(48, dtype="u1"), sizes=[6, 2, 4])
own("early.nrrd", head("00.01", "type: uchar", "dimension: 1", "sizes: 3", "encoding: raw", "min: 1", "number: 3"), b"abc",
    data=np.frombuffer(b"abc", "u1"), sizes=[3])

if os.path.isdir(real):
    for name in sorted(os.listdir(real)):
        if name.endswith((".nrrd", ".nhdr")):
            golden["shared"][name] = known(real, name)
with open(os.path.join(here, "golden.json"), "w") as f:
    json.dump(golden, f, indent=0, sort_keys=True)
    f.write("\n")
