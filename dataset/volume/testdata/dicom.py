#!/usr/bin/env python3
"""Writes dicom/, small series in all the ways that are read, and dicom.json: what SimpleITK's series reader gives.

Needs SimpleITK 2.5.7 (GDCM), pydicom 3.0.2 and numpy. Where SimpleITK goes another way (slopes that differ from slice
to slice, of which it takes the first's type; a tilted gantry, which it reads as if it were straight) the values are
slope·v + intercept of pydicom's, and the geometry is that of the positions. So are they of RLE, which GDCM does not read
as pydicom writes it.
"""
import json
import os
import shutil

import numpy as np
import pydicom
import SimpleITK as sitk
from pydicom.dataset import Dataset, FileDataset, FileMetaDataset
from pydicom.sequence import Sequence
from pydicom.uid import (CTImageStorage, DeflatedExplicitVRLittleEndian, ExplicitVRBigEndian, ExplicitVRLittleEndian,
                         ImplicitVRLittleEndian, RLELossless)

here = os.path.dirname(os.path.abspath(__file__))
root = os.path.join(here, "dicom")
random = np.random.default_rng(17)
golden = {}
shutil.rmtree(root, ignore_errors=True)

UID = "1.2.826.0.1.3680043.8.498."
q, _ = np.linalg.qr(random.normal(0, 1, (3, 3)))
oblique = (q if np.linalg.det(q) > 0 else -q).T


def number(x):
    return f"{x:.12g}"[:16]


def series(name, syntax=ExplicitVRLittleEndian, dtype="<i2", stored=None, slopes=(1,), intercepts=(0,), directions=oblique, gap=2.5,
           tilt=0.0, n=4, edit=None, own=False, photometric="MONOCHROME2", garbage=0):
    """Writes a folder of n slices of 3 by 5 values, whose names do not follow their places."""
    os.makedirs(os.path.join(root, name))
    big = syntax == ExplicitVRBigEndian
    t = np.dtype(dtype).newbyteorder(">" if big else "<")
    bits = 8 * t.itemsize
    stored = stored or bits
    normal = np.cross(directions[0], directions[1])
    origin = np.array([-120.5, 33.25, 700])
    order = random.permutation(n)
    values, places = [], []
    for k in range(n):
        place = origin + k * (gap * normal + tilt * directions[1])
        lo, hi = (-(1 << stored - 1), (1 << stored - 1) - 1) if t.kind == "i" else (0, (1 << stored) - 1)
        v = random.integers(lo, hi, (3, 5), "i8", endpoint=True)
        v[0, 0], v[2, 4] = lo, hi
        ds = Dataset()
        ds.SOPClassUID = CTImageStorage
        ds.SOPInstanceUID = f"{UID}{len(golden)}.{k}"
        ds.StudyInstanceUID, ds.SeriesInstanceUID, ds.FrameOfReferenceUID = UID + "1", f"{UID}2.{len(golden)}", UID + "3"
        ds.Modality, ds.SeriesDescription, ds.PatientID, ds.PatientName = "CT", name, "x", "x"
        ds.InstanceNumber = str(k + 1)
        ds.Rows, ds.Columns, ds.SamplesPerPixel, ds.PhotometricInterpretation = 3, 5, 1, photometric
        ds.BitsAllocated, ds.BitsStored, ds.HighBit, ds.PixelRepresentation = bits, stored, stored - 1, int(t.kind == "i")
        ds.PixelSpacing, ds.SliceThickness = ["0.75", "0.5"], "3"
        ds.ImagePositionPatient = [number(x) for x in place]
        ds.ImageOrientationPatient = [number(x) for x in np.concatenate(directions[:2])]
        slope, intercept = slopes[k % len(slopes)], intercepts[k % len(intercepts)]
        ds.RescaleSlope, ds.RescaleIntercept = number(slope), number(intercept)
        if own:
            inner = Dataset()
            inner.ReferencedSOPInstanceUID = UID + "9"
            outer = Dataset()
            outer.ReferencedImageSequence = Sequence([inner, inner])
            ds.ReferencedStudySequence = Sequence([outer, Dataset()])
            for s in (ds["ReferencedStudySequence"], outer["ReferencedImageSequence"]):
                s.is_undefined_length = True
            outer.is_undefined_length_sequence_item = True
            block = ds.private_block(0x29, "PENSTOCK", create=True)
            block.add_new(1, "OB", b"\xfe\xff\x00\xe0" * 500)
            block.add_new(2, "UN", b"12345678")
            block.add_new(3, "SQ", Sequence([inner]))
        # what stands above the stored bits
        raw = ((v & ((1 << stored) - 1)) | (garbage << stored if stored < bits else 0)).astype("u8").astype(np.dtype(f"u{t.itemsize}").newbyteorder(">" if big else "<"))
        data = raw.tobytes()
        ds.PixelData = data + b"\0" * (len(data) % 2)
        ds["PixelData"].VR = "OB" if bits == 8 and not big else "OW"
        if big and bits == 8:
            b = np.frombuffer(ds.PixelData, "u2").byteswap().tobytes()
            ds.PixelData = b
        if edit:
            edit(ds, k)
        meta = FileMetaDataset()
        meta.MediaStorageSOPClassUID, meta.MediaStorageSOPInstanceUID, meta.TransferSyntaxUID = ds.SOPClassUID, ds.SOPInstanceUID, syntax
        if syntax == RLELossless:
            meta.TransferSyntaxUID = ExplicitVRLittleEndian
        ds.file_meta = meta
        if syntax == RLELossless:
            ds.compress(RLELossless, encoding_plugin="pydicom")
        pydicom.dcmwrite(os.path.join(root, name, f"IM{order[k]:04d}" + (".dcm" if k % 2 else "")), ds, enforce_file_format=True)
        values.append(slope * v + intercept)
        places.append(place)
    values = np.array(values)
    step = (places[-1] - places[0]) / (n - 1) if n > 1 else 3 * normal
    g = {
        "values": values.ravel().tolist(),
        "spacing": [0.5, 0.75, float(np.linalg.norm(step))],
        "origin": origin.tolist(),
        "direction": np.array([directions[0], directions[1], step / np.linalg.norm(step)]).T.ravel().tolist(),
    }
    paths = sitk.ImageSeriesReader.GetGDCMSeriesFileNames(os.path.join(root, name))
    if syntax == RLELossless:
        read = [pydicom.dcmread(p) for p in paths]
        assert (np.array([ds.pixel_array for ds in read]) == values).all() and read[0].file_meta.TransferSyntaxUID == RLELossless
    elif len(slopes) == 1 and tilt == 0 and n > 1:
        image = sitk.ReadImage(paths)
        a = sitk.GetArrayFromImage(image)
        assert np.allclose(a, values, rtol=1e-6), (name, a.dtype, np.abs(a - values).max())
        assert np.allclose(image.GetSpacing(), g["spacing"], atol=1e-6) and np.allclose(image.GetOrigin(), g["origin"], atol=1e-6), (name, image.GetSpacing(), image.GetOrigin())
        assert np.allclose(image.GetDirection(), g["direction"], atol=1e-6), name
        g["itk"] = a.dtype.name
        if a.dtype.kind in "iu":
            g["values"] = [int(x) for x in a.ravel()]
    golden[name] = g


series("ct", dtype="<u2", stored=12, intercepts=(-1024,), own=True)
series("implicit", ImplicitVRLittleEndian, own=True)
series("big", ExplicitVRBigEndian, own=True)
series("deflated", DeflatedExplicitVRLittleEndian, dtype="<u2")
series("rle", RLELossless, directions=np.eye(3))
series("rle8", RLELossless, dtype="u1")
series("u8", dtype="u1", directions=np.array([[1, 0, 0], [0, 0, -1], [0, 1, 0]]))
series("i8", dtype="i1")
series("u32", dtype="<u4", stored=32)
series("garbage", stored=12, garbage=0b1010)
series("garbageu", dtype="<u2", stored=10, garbage=0b110011)
series("half", slopes=(0.5,), intercepts=(-3.25,))
series("double", dtype="<u2", stored=15, slopes=(2,), intercepts=(-7,))
series("pet", dtype="<u2", slopes=(1.7, 0.3, 12.125, 5.5))
series("tilted", tilt=0.8)
series("one", n=1)

with open(os.path.join(here, "dicom.json"), "w") as f:
    f.write("{\n" + ",\n".join(f"{json.dumps(k)}: {json.dumps(v)}" for k, v in golden.items()) + "\n}\n")
