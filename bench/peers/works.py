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

# What the formats' comparison and the studies do besides; a sample of the last three is
# a patient with four volumes, or a slice of them.
FORMATS = {
    "npy": Work(size=224, batch=32, samples=4096),
    "npy-items": Work(size=224, batch=32, samples=4096),
    "npy-cached": Work(size=224, batch=32, samples=4096),
    "cifar100": Work(size=32, batch=256, samples=50000),
    "nrrd": Work(size=0, batch=2, samples=16),
    "volumes-cached": Work(size=0, batch=2, samples=512),
    "volumes": Work(size=128, batch=8, samples=4864),
}
ALL = WORKS | FORMATS
VOLUMES = ("ct", "pet", "truth", "prediction")  # of a patient: two scans and two masks


def inputs(o):
    if o.work == "cifar":
        return tiny_pictures(o.folder)
    if o.work in FORMATS:
        return of_format(o)
    found = items(o.folder) if o.work == "preprocessed" else photos(o.folder)
    for path, _ in found:
        pathlib.Path(path).read_bytes()  # into the page cache
    return found


def of_format(o):
    """What a format's work reads: paths, patients' paths by volume, or arrays."""
    folder = pathlib.Path(o.folder)
    if o.work == "cifar100":
        return cifar100(folder)
    if o.work == "npy":
        found = [str(folder / "array.npy")]
    elif o.work in ("npy-items", "npy-cached"):
        found = [str(path) for path in sorted(folder.glob("items/*.npy"))]
    else:
        patients = sorted(p for p in folder.iterdir() if p.is_dir())
        found = [{name: str(p / (name + ".nrrd")) for name in VOLUMES} for p in patients]
    if not found:
        sys.exit(f"{folder}: no files")
    for one in found:
        for path in one.values() if isinstance(one, dict) else [one]:
            pathlib.Path(path).read_bytes()
    return found


def cifar100(folder):
    """Pictures, uint8 (n, 3, 32, 32), and fine labels, int64 (n), of the binary version."""
    data = numpy.fromfile(folder / "train.bin", numpy.uint8).reshape(-1, 2 + 3 * 32 * 32)
    return data[:, 2:].reshape(-1, 3, 32, 32).copy(), data[:, 1].astype(numpy.int64)


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
    paths = (p for p in pathlib.Path(folder).iterdir() if p.suffix in (".bin", ".raw"))
    found = [(str(path), i % 10) for i, path in enumerate(sorted(paths))]
    if not found:
        sys.exit(f"{folder}: no items")
    return found


def tiny_pictures(folder):
    """Pictures, uint8 (n, 3, 32, 32), and labels, int64 (n), in memory."""
    size = WORKS["cifar"].size
    pictures = numpy.fromfile(pathlib.Path(folder) / "pictures.bin", numpy.uint8).reshape(-1, 3, size, size)
    return pictures, numpy.arange(len(pictures)) % 10
