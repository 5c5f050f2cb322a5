"""Makes, once, what only Python's sides can make: in $PEERS_CACHE or the user's cache folder.

A folder appears under its name only when it is complete.
"""

import hashlib
import os
import pathlib
import shutil
import tempfile

import numpy
from PIL import Image

import works

ARRAYS = 256  # samples of npy files, twice: in one array and a file each; 310 MB


def arrays():
    return made(f"npy-{ARRAYS}", write_arrays)


def subsampled(photos):
    """The photos with halved chroma, as most of the web's are."""
    return made("photos-420-" + fingerprint(photos), lambda to: write_subsampled(photos, to))


def packed(name, photos, write):
    """A file of another library's format with the photos, which write(path) makes."""
    return made(f"{name}-{fingerprint(photos)}", lambda to: write(str(to / "photos"))) + "/photos"


def made(name, write):
    root = pathlib.Path(os.environ.get("PEERS_CACHE") or user_cache() / "penstock-peers")
    path = root / name
    if not path.is_dir():
        root.mkdir(parents=True, exist_ok=True)
        unfinished = pathlib.Path(tempfile.mkdtemp(dir=root))
        try:
            write(unfinished)
            unfinished.rename(path)
        except BaseException:
            shutil.rmtree(unfinished, ignore_errors=True)
            raise
    return str(path)


def user_cache():
    return pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache")


def write_arrays(to):
    array = numpy.random.default_rng(3).standard_normal((ARRAYS, 3, 224, 224), numpy.float32)
    numpy.save(to / "array.npy", array)
    (to / "items").mkdir()
    for i, item in enumerate(array):
        numpy.save(to / "items" / f"{i:04d}.npy", item)


def write_subsampled(photos, to):
    for path, _ in works.photos(photos):
        copy = to / pathlib.Path(path).relative_to(photos)
        copy.parent.mkdir(parents=True, exist_ok=True)
        with Image.open(path) as image:
            plain = image if image.mode == "L" else image.convert("RGB")
            plain.save(copy, "JPEG", quality=87, subsampling="4:2:0")


def fingerprint(photos):
    """Tells folders of photos apart: by the names, sizes and times of their files."""
    h = hashlib.sha256()
    for path, _ in works.photos(photos):
        status = os.stat(path)
        h.update(f"{os.path.relpath(path, photos)} {status.st_size} {status.st_mtime_ns}\n".encode())
    return h.hexdigest()[:12]
