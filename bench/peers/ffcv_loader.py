"""FFCV: compiled stages on threads, over one file of its own format.

The file is made beforehand, in a temporary folder, of the photos' own JPEG bytes:
FFCV's writer would encode them anew, smaller than they are. Pixels differ:
evaluation cuts first and resizes afterwards, by pixel area and without rounding
sizes; the decoder takes a faster, less exact inverse DCT.
"""

import importlib.metadata
import os
import tempfile

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


class Files:
    """Images as (file's bytes, width, height), and labels."""

    def __init__(self, photos):
        self.photos = photos

    def __len__(self):
        return len(self.photos)

    def __getitem__(self, i):
        path, label = self.photos[i]
        with open(path, "rb") as f:
            bytes_ = numpy.frombuffer(f.read(), dtype="<u1")
        with Image.open(path) as image:
            return (bytes_, *image.size), label


class FileField(RGBImageField):
    """An image field that stores a JPEG file as it is."""

    def encode(self, destination, image, malloc):
        bytes_, destination["width"], destination["height"] = image
        destination["mode"] = IMAGE_MODES["jpg"]
        destination["data_ptr"], storage = malloc(bytes_.nbytes)
        storage[:] = bytes_


def make(o, photos):
    torch.set_num_threads(1)  # the loader's threads have the processors
    folder = tempfile.TemporaryDirectory()
    path = os.path.join(folder.name, "photos.beton")
    DatasetWriter(path, {"image": FileField(), "label": IntField()}, num_workers=1).from_indexed_dataset(Files(photos))

    size = (o.size, o.size)
    if o.work == "eval":
        geometry = [CenterCropRGBImageDecoder(size, ratio=o.size / o.resize)]
    else:
        geometry = [RandomResizedCropRGBImageDecoder(size), RandomHorizontalFlip()]
    mean, std = 255 * numpy.array(peer.MEAN), 255 * numpy.array(peer.STD)
    loader = Loader(
        path,
        batch_size=o.batch,
        num_workers=max(1, o.workers),
        order=OrderOption.RANDOM if o.shuffle else OrderOption.SEQUENTIAL,
        indices=[i % len(photos) for i in range(o.samples)],
        drop_last=False,
        custom_fields={"image": RGBImageField},
        pipelines={
            "image": [*geometry, NormalizeImage(mean, std, numpy.float32), ToTensor(), ToTorchImage(channels_last=False)],
            "label": [IntDecoder(), ToTensor(), Squeeze()],
        },
    )

    def epoch(number, _folder=folder):  # which holds the file as long as it is read
        return iter(loader)

    return epoch


if __name__ == "__main__":
    peer.run(make, {"ffcv": importlib.metadata.version("ffcv"), "torch": torch.__version__})
