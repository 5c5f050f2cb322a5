#!/usr/bin/env python3
"""Writes files/ and golden.json: small NIfTI files of all kinds, and what nibabel reads from them.

Needs nibabel 5.4 and numpy. What nibabel does not write (a vox_offset of 0, a quaternion that is too long) is patched
into its files.
"""
import gzip
import hashlib
import io
import json
import os
import struct

import nibabel as nib
import numpy as np

here = os.path.dirname(os.path.abspath(__file__))
files = os.path.join(here, "files")
random = np.random.default_rng(11)
golden = {}

os.makedirs(files, exist_ok=True)
for old in os.listdir(files):
    os.remove(os.path.join(files, old))


def values(dtype, shape):
    n = int(np.prod(shape))
    dtype = np.dtype(dtype)
    if dtype.names:
        return random.integers(0, 256, (n, len(dtype.names)), "u1").view(dtype).reshape(shape)
    if dtype.kind == "c":
        return (random.normal(0, 9, n) + 1j * random.normal(0, 9, n)).astype(dtype).reshape(shape)
    if dtype.kind == "f":
        return random.normal(0, 1000, n).astype(dtype).reshape(shape)
    i = np.iinfo(dtype)
    return random.integers(i.min, i.max, n, dtype, endpoint=True).reshape(shape)


def number(v):
    v = float(v)
    return None if np.isnan(v) else v


def known(name):
    """Notes what nibabel reads."""
    image = nib.load(os.path.join(files, name))
    h = image.header
    data = np.asanyarray(image.dataobj.get_unscaled())
    data = data.astype(data.dtype.newbyteorder("=")) if not data.dtype.names else data
    parts = {"c": 2}.get(data.dtype.kind, len(data.dtype.names or [0]))
    dtype = {"complex64": "float32", "complex128": "float64"}.get(data.dtype.name, data.dtype.name)
    flat = data.ravel(order="F")
    slope, inter = image.dataobj.slope, image.dataobj.inter
    freq, phase, slices = h.get_dim_info()
    golden[name] = {
        "dtype": "uint8" if data.dtype.names else dtype,
        "sizes": ([parts] if parts > 1 else []) + [int(s) for s in h.get_data_shape()],
        "sha256": hashlib.sha256(flat.tobytes()).hexdigest(),
        "version": 2 if h["sizeof_hdr"] == 540 else 1,
        "affine": image.affine.ravel().tolist(),
        "placed": bool(h["sform_code"] > 0 or h["qform_code"] > 0),
        "qform": h.get_qform().ravel().tolist() if h["qform_code"] > 0 else None,
        "codes": [int(h["qform_code"]), int(h["sform_code"]), int(h["intent_code"]), int(h["slice_code"])],
        "pixdim": [number(v) for v in h["pixdim"][1:]],
        "scale": [float(slope), float(inter)],
        "intent": [number(h["intent_p1"]), number(h["intent_p2"]), number(h["intent_p3"])],
        "text": [str(h[k].item().decode()) for k in ("intent_name", "descrip", "aux_file")],
        "dims": [0 if d is None else d + 1 for d in (freq, phase, slices)],
        "slices": [int(h["slice_start"]), int(h["slice_end"])],
        "times": [number(h["slice_duration"]), number(h["toffset"])],
        "cal": [number(h["cal_min"]), number(h["cal_max"])],
        "units": int(h["xyzt_units"]),
        "extensions": [[e.get_code(), hashlib.sha256(e._content if isinstance(e._content, bytes) else e._mangle(e._content)).hexdigest()] for e in h.extensions],
    }


def fill(h):
    """Gives all fields of a header some value."""
    h.set_xyzt_units("mm", "msec")
    h.set_dim_info(1, 0, 2)
    h.set_intent("t test", (7.5,), name="a test")
    h["descrip"], h["aux_file"] = b"what it is", b"aux.txt"
    h["cal_min"], h["cal_max"], h["toffset"], h["slice_duration"] = -1.5, 2.5, 12.25, 0.5
    h["slice_start"], h["slice_end"], h["slice_code"] = 1, 2, 3


rgb = np.dtype([("R", "u1"), ("G", "u1"), ("B", "u1")])
rgba = np.dtype([("R", "u1"), ("G", "u1"), ("B", "u1"), ("A", "u1")])
k = 0
for dtype in ["u1", "i2", "i4", "f4", "c8", "f8", rgb, "i1", "u2", "u4", "i8", "u8", "c16", rgba]:
    for order in "<>":
        version = [1, 2][k // 2 % 2]
        suffix = [".nii", ".nii.gz", ".img", ".nii", ".img.gz"][k % 5]
        pair = ".img" in suffix
        a = values(dtype, (3, 4, 2, 1, 2)[:3 + k % 3])
        kind = {(1, False): nib.Nifti1Image, (1, True): nib.Nifti1Pair, (2, False): nib.Nifti2Image, (2, True): nib.Nifti2Pair}[version, pair]
        header = kind.header_class(endianness=order)
        header.set_data_dtype(np.dtype(dtype))
        q, _ = np.linalg.qr(random.normal(0, 1, (3, 3)))
        affine = np.eye(4)
        affine[:3, :3] = q * random.uniform(0.5, 3, 3)
        affine[:3, 3] = random.normal(0, 100, 3)
        image = kind(a, affine, header)
        fill(image.header)
        image.set_qform(affine, code=1)
        image.set_sform(affine if k % 3 else None, code=2 if k % 3 else 0)
        if np.dtype(dtype).kind in "iuf" and k % 2:
            image.header.set_slope_inter(0.5, -3)
        else:
            image.header.set_slope_inter(1, 0)
        for e in range(k % 4):
            image.header.extensions.append(nib.nifti1.Nifti1Extension(6, b"note %d " % e * (5 * e + 1)))
        name = f"{np.dtype(dtype).name if not np.dtype(dtype).names else 'rgba'[:len(np.dtype(dtype).names)]}_{'le' if order == '<' else 'be'}{suffix}"
        # Written as it is: the stored values stay those above, whatever the slope.
        image.header.set_data_shape(a.shape)
        raw = a.astype(np.dtype(dtype).newbyteorder(order)) if not np.dtype(dtype).names else a
        h = image.header.copy()
        base = os.path.join(files, name)
        out = {}
        if pair:
            h["vox_offset"] = 16 * (k % 2)
            b = io.BytesIO()
            h.write_to(b)
            out[base.replace(".img", ".hdr")] = b.getvalue()
            out[base] = b"\0" * (16 * (k % 2)) + raw.tobytes(order="F")
        else:
            b = io.BytesIO()
            h["vox_offset"] = (352 if version == 1 else 544) + h.extensions.get_sizeondisk()
            h.write_to(b)
            text = b.getvalue()
            out[base] = text.ljust(int(h["vox_offset"]), b"\0") + raw.tobytes(order="F")
        for path, content in out.items():
            with open(path, "wb") as f:
                f.write(gzip.compress(content, mtime=0) if path.endswith(".gz") else content)
        known(name)
        k += 1


def patch(name, of, **at):
    with open(os.path.join(files, of), "rb") as f:
        b = bytearray(f.read())
    for offset, content in at.values():
        b[offset:offset + len(content)] = content
    with open(os.path.join(files, name), "wb") as f:
        f.write(b)


# A plain image without any form, one whose scaling is not a number, and one of seven axes.
for name, shape in [("bare.nii", (4, 3, 2)), ("line.nii", (5,)), ("slice.nii", (5, 4)), ("seven.nii", (2, 1, 2, 1, 2, 1, 3))]:
    a = values("i2", shape)
    image = nib.Nifti1Image(a, None)
    image.header["pixdim"][1:4] = [0.5, 2, 3]
    image.header["scl_slope"], image.header["scl_inter"] = np.nan, np.nan
    with open(os.path.join(files, name), "wb") as f:
        image.header["vox_offset"] = 352
        image.header.write_to(f)
        f.write(a.tobytes(order="F"))
    known(name)
patch("qfac.nii", "slice.nii", form=(252, struct.pack("<hh3f3f", 1, 0, 0.6, 0.0, 0.8, 1, 2, 3)), qfac=(76, struct.pack("<f", -1)))
known("qfac.nii")
patch("half.nii", "bare.nii", form=(252, struct.pack("<hh3f3f", 1, 0, 0.1, -0.2, 0.3, 1, 2, 3)))
known("half.nii")
patch("offset0.nii", "bare.nii", offset=(108, struct.pack("<f", 0)))
golden["offset0.nii"] = golden["bare.nii"]

with open(os.path.join(here, "golden.json"), "w") as f:
    json.dump(golden, f, indent=0, sort_keys=True)
    f.write("\n")
