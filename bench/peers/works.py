"""The kinds of work, and what each of them reads.

inputs(o) reads everything once, so that it is in the page cache or in memory: photos and items are
lists of (path, label), CIFAR's images a pair of arrays, patients dicts of paths.
"""

import json
import pathlib
import sys

import numpy

PHOTOS = ("eval", "train", "randaugment", "simclr")
ANNOTATED = ("detr", "ssd", "deeplab")  # the folders that presets makes
ALL = (*PHOTOS, *ANNOTATED, "preprocessed", "npy", "npy-items", "npy-cached", "cifar100", "nrrd", "volumes-cached", "volumes")
VOLUMES = ("ct", "pet", "truth", "prediction")  # of a patient: two scans and two masks


def inputs(o):
    folder = pathlib.Path(o.folder)
    if o.work == "cifar100":
        return cifar100(folder)
    if o.work in PHOTOS:
        found = photos(folder)
    elif o.work in ANNOTATED:
        found = annotated(folder)
    elif o.work == "preprocessed":
        found = [(str(path), i % 10) for i, path in enumerate(sorted(folder.glob("*.raw")))]
    elif o.work == "npy":
        found = [str(folder / "array.npy")]
    elif o.work.startswith("npy"):
        found = [str(path) for path in sorted(folder.glob("items/*.npy"))]
    else:
        found = [{name: str(p / (name + ".nrrd")) for name in VOLUMES} for p in sorted(folder.iterdir()) if p.is_dir()]
    if not found:
        sys.exit(f"{folder}: no files of {o.work}")
    for path in folder.rglob("*"):
        if path.is_file():
            path.read_bytes()  # into the page cache
    return found


def stored(o):
    """The size of all of the folder's files, in bytes."""
    return sum(path.stat().st_size for path in pathlib.Path(o.folder).rglob("*") if path.is_file())


def cifar100(folder):
    """Images, uint8 (n, 3, 32, 32), and fine labels, int64 (n), of the binary version."""
    data = numpy.fromfile(folder / "train.bin", numpy.uint8).reshape(-1, 2 + 3 * 32 * 32)
    return data[:, 2:].reshape(-1, 3, 32, 32).copy(), data[:, 1].astype(numpy.int64)


def annotated(folder):
    """Paths of photos and masks, and boxes (n, 4) as XYWH with their classes."""
    about = json.loads((folder / "annotations.json").read_text())
    boxes = {image["id"]: [] for image in about["images"]}
    for a in about["annotations"]:
        boxes[a["image_id"]].append((a["bbox"], a["category_id"]))
    return [
        (str(folder / "photos" / image["file_name"]), str(folder / "masks" / image["file_name"].replace(".jpg", ".png")), boxes[image["id"]])
        for image in about["images"]
    ]


def photos(folder):
    """Paths and labels in the order of torchvision's ImageFolder."""
    classes = sorted(p for p in pathlib.Path(folder).iterdir() if p.is_dir())
    return [
        (str(path), label)
        for label, c in enumerate(classes)
        for path in sorted(c.rglob("*"))
        if path.suffix.lower() in (".jpg", ".jpeg")
    ]
