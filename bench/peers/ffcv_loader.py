"""FFCV: compiled stages on threads, over one file of its own format, made once.

-mode jpg stores the photos' own JPEG bytes: FFCV's writer would encode them anew, smaller than they are.
-mode raw stores their pixels. Pixels differ from torchvision's: evaluation cuts first and resizes
afterwards, by pixel area and without rounding sizes; the decoder takes a faster, less exact inverse DCT.
"""

import hashlib
import importlib.metadata
import itertools
import os
import pathlib
import sys

import numpy
import torch
from ffcv.fields import IntField, RGBImageField
from ffcv.fields.decoders import CenterCropRGBImageDecoder, IntDecoder, RandomResizedCropRGBImageDecoder
from ffcv.fields.rgb_image import IMAGE_MODES
from ffcv.loader import Loader, OrderOption
from ffcv.transforms import NormalizeImage, RandomHorizontalFlip, Squeeze, ToTensor, ToTorchImage
from ffcv.writer import DatasetWriter
from PIL import Image

import peer

MODE = "jpg"
if "-mode" in sys.argv:
    at = sys.argv.index("-mode")
    MODE = sys.argv[at + 1]
    del sys.argv[at : at + 2]


class Photos:
    """Images and labels: for jpg, an image is (file's bytes, width, height); for raw, it is its pixels."""

    def __init__(self, photos):
        self.photos = photos

    def __len__(self):
        return len(self.photos)

    def __getitem__(self, i):
        path, label = self.photos[i]
        with Image.open(path) as image:
            if MODE == "raw":
                return numpy.asarray(image.convert("RGB")), label
            return (numpy.fromfile(path, dtype="<u1"), *image.size), label


class FileField(RGBImageField):
    """An image field that stores a JPEG file as it is."""

    def encode(self, destination, image, malloc):
        bytes_, destination["width"], destination["height"] = image
        destination["mode"] = IMAGE_MODES["jpg"]
        destination["data_ptr"], storage = malloc(bytes_.nbytes)
        storage[:] = bytes_


FIELDS = {"jpg": FileField, "raw": lambda: RGBImageField(write_mode="raw")}


def size_of(photo):
    """Its bytes in FFCV's file."""
    path, _ = photo
    if MODE == "jpg":
        return os.path.getsize(path)
    with Image.open(path) as image:
        return 3 * image.width * image.height


def made(photos, write):
    """The file of the photos, which is made once, in $XDG_CACHE_HOME/penstock-peers."""
    h = hashlib.sha256(str((os.path.abspath(photos), peer.stored(photos))).encode()).hexdigest()[:12]
    root = pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache") / "penstock-peers"
    path = root / f"ffcv-{MODE}-{h}"
    if not path.exists():
        root.mkdir(parents=True, exist_ok=True)
        write(f"{path}.unfinished")
        os.rename(f"{path}.unfinished", path)
    return str(path)


def make(o, photos):
    torch.set_num_threads(1)  # the loader's threads have the processors

    def write(path):
        largest = max(map(size_of, photos))
        page = max(1 << 21, 1 << largest.bit_length())  # with a photo larger than a page, the writer hangs
        fields = {"image": FIELDS[MODE](), "label": IntField()}
        DatasetWriter(path, fields, page_size=page, num_workers=1).from_indexed_dataset(Photos(photos))

    path = made(o.folder, write)
    o.stored = os.path.getsize(path)
    pathlib.Path(path).read_bytes()  # into the page cache
    batches = -(-o.samples // o.batch)  # of an epoch
    if o.epochs and o.samples % o.batch:
        sys.exit(f"{o.samples} samples in batches of {o.batch}: want whole batches")

    size = (o.size, o.size)
    if o.work == "eval":
        geometry = [CenterCropRGBImageDecoder(size, ratio=o.size / o.resize)]
    else:
        geometry = [RandomResizedCropRGBImageDecoder(size), RandomHorizontalFlip()]
    mean, std = 255 * numpy.array(peer.MEAN), 255 * numpy.array(peer.STD)
    # A loop over Loader allocates the memory of five batches, with room for five times as many whole photos.
    # In epochs as short as these, every batch would be the first one in its memory, and the page faults would
    # take as much time as the work. So all epochs are one loop, as batches of a long epoch are.
    loader = Loader(
        path,
        batch_size=o.batch,
        num_workers=max(1, o.workers),
        order=OrderOption.RANDOM if o.shuffle else OrderOption.SEQUENTIAL,
        indices=[i % len(photos) for _ in range(o.epochs + 1) for i in range(o.samples)],
        drop_last=False,
        custom_fields={"image": RGBImageField},
        pipelines={
            "image": [*geometry, NormalizeImage(mean, std, numpy.float32), ToTensor(), ToTorchImage()],
            "label": [IntDecoder(), ToTensor(), Squeeze()],
        },
    )
    loop = None

    def epoch(number):
        nonlocal loop
        loop = loop or iter(loader)
        return itertools.islice(loop, batches)

    return epoch


if __name__ == "__main__":
    peer.run(make, {"ffcv": importlib.metadata.version("ffcv"), "torch": torch.__version__})
