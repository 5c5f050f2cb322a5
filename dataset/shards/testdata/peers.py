"""Writes shards of photos with the writers of WebDataset, tfrecord and MosaicML.

    pip install webdataset==1.0.2 tfrecord==1.14.6 crc32c mosaicml-streaming==0.13.0 zstandard pillow
    python peers.py PHOTOS OUT [N]

PHOTOS has a folder of JPEG files per class. OUT gets webdataset/, tfrecord/, mds/ and
mds-zstd/. With N, it takes the N smallest photos, and adds columns of other types.

The tests read the shards in this folder, which `python peers.py PHOTOS testdata 3` made.
"""

import gzip
import importlib.util
import io
import json
import os
import struct
import subprocess
import sys
import tarfile
import types
from unittest.mock import MagicMock

import numpy as np
import tfrecord
import webdataset
import zstandard


def mds_writer():
    """MosaicML's writer, without the packages that its other parts import, such as PyTorch."""

    class Absent:
        names = ("torch", "transformers", "boto3", "botocore", "azure", "oci", "paramiko", "google", "huggingface_hub", "requests", "filelock", "psutil")

        def find_spec(self, name, path=None, target=None):
            if name.split(".")[0] in self.names:
                return importlib.machinery.ModuleSpec(name, self, is_package=True)

        def create_module(self, spec):
            return MagicMock(name=spec.name, __path__=[], __spec__=spec)

        def exec_module(self, module):
            pass

    if "streaming" in sys.modules:
        return sys.modules["streaming.base.format.mds.writer"].MDSWriter
    folder = importlib.util.find_spec("streaming").submodule_search_locations[0]
    for name in ("streaming", "streaming.base", "streaming.base.format"):
        package = types.ModuleType(name)
        package.__path__ = [os.path.join(os.path.dirname(folder), *name.split("."))]
        sys.modules[name] = package
    sys.meta_path.append(Absent())
    from streaming.base.format.mds.writer import MDSWriter
    return MDSWriter


def samples(photos, n):
    found = []
    for label, name in enumerate(sorted(os.listdir(photos))):
        for file in sorted(os.listdir(os.path.join(photos, name))):
            with open(os.path.join(photos, name, file), "rb") as f:
                found.append((os.path.splitext(file)[0], label, f.read()))
    return sorted(found, key=lambda s: len(s[2]))[:n] if n else found


def extras(i):
    """Further columns of sample i."""
    return {
        "box": np.array([[i, 1.5], [-2.25, 1e30]], np.float32),
        "tokens": np.arange(i * 7, i * 7 + i + 1, dtype=np.int64) * (-1 if i % 2 else 1),
        "score": i / 4,
        "text": f"photo number {i}: żółw",
    }


def npy(array):
    out = io.BytesIO()
    np.save(out, array)
    return out.getvalue()


def webdataset_shards(out, photos, tiny):
    os.makedirs(out)
    path = os.path.join(out, "train-000000.tar")
    with webdataset.TarWriter(path, mtime=0, user="", group="") as w:
        for i, (key, label, image) in enumerate(photos):
            sample = {"__key__": key, "jpg": image, "cls": label}
            if tiny:
                x = extras(i)
                sample |= {"box.npy": x["box"], "tokens.npy": x["tokens"], "json": {"text": x["text"]}, "txt": x["text"]}
            w.write(sample)
    if not tiny:
        return
    data = open(path, "rb").read()
    with open(os.path.join(out, "gzip.tar.gz"), "wb") as f:
        f.write(gzip.compress(data, mtime=0))
    with open(os.path.join(out, "zstd.tar.zst"), "wb") as f:
        f.write(zstandard.ZstdCompressor().compress(data))
    for name, format in ("pax", tarfile.PAX_FORMAT), ("gnu", tarfile.GNU_FORMAT), ("ustar", tarfile.USTAR_FORMAT):
        with tarfile.open(os.path.join(out, name + ".tar"), "w", format=format) as t:
            folder = tarfile.TarInfo("set")
            folder.type = tarfile.DIRTYPE
            t.addfile(folder)
            for i, (key, label, image) in enumerate(photos):
                long = "set/" + "d" * (90 if format == tarfile.USTAR_FORMAT else 150) + "/" + key * (1 if format == tarfile.USTAR_FORMAT else 3)
                for ext, data in ("JPG", image), ("seg.png", b"mask"), ("cls", str(label).encode()):
                    member = tarfile.TarInfo(long + "." + ext)
                    member.size = len(data)
                    t.addfile(member, io.BytesIO(data))
            notes = tarfile.TarInfo("__notes__/a.txt")
            t.addfile(notes)


def tfrecord_shards(out, photos, tiny):
    os.makedirs(out)
    path = os.path.join(out, "train.tfrecord")
    w = tfrecord.TFRecordWriter(path)
    for i, (key, label, image) in enumerate(photos):
        example = {"image": (image, "byte"), "label": (label, "int"), "key": (key.encode(), "byte")}
        if tiny:
            x = extras(i)
            example |= {"box": (x["box"].ravel().tolist(), "float"), "tokens": (x["tokens"].tolist(), "int"), "text": (x["text"].encode(), "byte")}
        w.write(example)
    w.close()
    if tiny:
        with open(os.path.join(out, "gzip.tfrecord.gz"), "wb") as f:
            f.write(gzip.compress(open(path, "rb").read(), mtime=0))


def mds_shards(out, photos, tiny, **options):
    columns = {"image": "bytes", "label": "int", "key": "str"}
    if tiny:
        columns |= {"box": "ndarray:float32:2,2", "tokens": "ndarray:int64", "any": "ndarray", "score": "float32", "half": "float16",
                    "small": "uint8", "text": "json", "digits": "str_int", "object": "pkl"}
    with mds_writer()(columns=columns, out=out, size_limit=6 << 10 if tiny else 8 << 20, **options) as w:
        for i, (key, label, image) in enumerate(photos):
            sample = {"image": image, "label": label, "key": key}
            if tiny:
                x = extras(i)
                sample |= {"box": x["box"], "tokens": x["tokens"], "any": x["box"].astype(np.float64), "score": x["score"], "half": x["score"],
                           "small": i + 200, "text": x["text"], "digits": -i, "object": [i]}
            w.write(sample)


def main():
    photos, out = sys.argv[1:3]
    n = int(sys.argv[3]) if len(sys.argv) > 3 else 0
    found = samples(photos, n)
    webdataset_shards(os.path.join(out, "webdataset"), found, n)
    tfrecord_shards(os.path.join(out, "tfrecord"), found, n)
    mds_shards(os.path.join(out, "mds"), found, n)
    mds_shards(os.path.join(out, "mds-zstd"), found, n, compression="zstd")


main()
