"""The kinds of work, and what each of them reads.

inputs(o) reads everything once, so that it is in the page cache or in memory:
photos and items are lists of (path, label), CIFAR's pictures a pair of arrays.
"""

import pathlib
import sys
import typing

import numpy


class Work(typing.NamedTuple):
    size: int  # pixels of a side of a prepared picture
    batch: int
    samples: int  # of an epoch, which goes over the inputs again and again
    photos: bool = False  # reads photos; otherwise data.py makes what it reads


WORKS = {
    "eval": Work(size=224, batch=128, samples=1024, photos=True),
    "train": Work(size=224, batch=128, samples=1024, photos=True),
    "preprocessed": Work(size=224, batch=256, samples=4096),
    "cifar": Work(size=32, batch=64, samples=50000),
}


def inputs(o):
    if o.work == "cifar":
        return tiny_pictures(o.folder)
    found = items(o.folder) if o.work == "preprocessed" else photos(o.folder)
    for path, _ in found:
        pathlib.Path(path).read_bytes()  # into the page cache
    return found


def photos(folder):
    """Paths and labels in the order of torchvision's ImageFolder."""
    classes = sorted(p for p in pathlib.Path(folder).iterdir() if p.is_dir())
    found = [
        (str(path), label)
        for label, c in enumerate(classes)
        for path in sorted(c.rglob("*"))
        if path.suffix.lower() in (".jpg", ".jpeg")
    ]
    if not found:
        sys.exit(f"{folder}: no photos in folders")
    return found


def items(folder):
    """Paths of preprocessed pictures, each the float32 (3, 224, 224) of a file, and labels."""
    found = [(str(path), i % 10) for i, path in enumerate(sorted(pathlib.Path(folder).glob("*.bin")))]
    if not found:
        sys.exit(f"{folder}: no items")
    return found


def tiny_pictures(folder):
    """Pictures, uint8 (n, 3, 32, 32), and labels, int64 (n), in memory."""
    size = WORKS["cifar"].size
    pictures = numpy.fromfile(pathlib.Path(folder) / "pictures.bin", numpy.uint8).reshape(-1, 3, size, size)
    return pictures, numpy.arange(len(pictures)) % 10
