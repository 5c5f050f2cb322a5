"""JPEG decoders alone, by the protocol of arXiv 2605.08731: files in memory become arrays of RGB bytes, one after the other in one
thread, or in a DataLoader, whose workers send them to the loop. The photos of a batch differ in size, so it is a list.
"""

import importlib.metadata
import io
import pathlib
import sys
import warnings

import numpy
import torch

import peer


def simplejpeg():
    from simplejpeg import decode_jpeg

    return decode_jpeg


def opencv():
    import cv2

    cv2.setNumThreads(1)
    return lambda file: cv2.imdecode(numpy.frombuffer(file, numpy.uint8), cv2.IMREAD_COLOR_RGB)


def pillow():
    from PIL import Image

    return lambda file: numpy.asarray(Image.open(io.BytesIO(file)).convert("RGB"))


def torchvision():
    """Tensors of shape (3, height, width), whose channels are last in memory."""
    from torchvision.io import ImageReadMode, decode_jpeg

    warnings.filterwarnings("ignore", "The given buffer is not writable")
    return lambda file: decode_jpeg(torch.frombuffer(file, dtype=torch.uint8), mode=ImageReadMode.RGB)


def kornia():
    """The faster one of its two decoders."""
    from kornia_rs.io import decode_image_jpegturbo

    return lambda file: decode_image_jpegturbo(file, "rgb")


class Photos(torch.utils.data.Dataset):
    def __init__(self, o, files, decode):
        self.samples, self.files, self.decode = o.samples, files, decode

    def __len__(self):
        return self.samples

    def __getitem__(self, i):
        return self.decode(self.files[i % len(self.files)])


def make(decoder):
    def made(o, photos):
        torch.set_num_threads(1)
        dataset = Photos(o, [pathlib.Path(path).read_bytes() for path, _ in photos], decoder())
        if o.workers == 0:
            return lambda number: (([dataset[i]],) for i in range(o.samples))
        loader = torch.utils.data.DataLoader(dataset, batch_size=o.batch, num_workers=o.workers, collate_fn=list, persistent_workers=True)
        return lambda number: ((images,) for images in loader)

    return made


if __name__ == "__main__":
    decoder = {"simplejpeg": simplejpeg, "opencv": opencv, "pillow": pillow, "torchvision": torchvision, "kornia": kornia}[sys.argv.pop(1)]
    package = {"opencv": "opencv-python", "kornia": "kornia-rs"}.get(decoder.__name__, decoder.__name__)
    peer.run(make(decoder), {package: importlib.metadata.version(package), "torch": torch.__version__})
