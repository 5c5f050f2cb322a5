"""PyTorch's DataLoader over all works: with -pil as most people write it, with an image of Pillow's and torchvision's
transforms per sample; without it as fast as its own parts make it, with bytes between the processes and normalization
per batch, into one buffer that is valid until the next batch.
"""

import math
import sys

import torch
from torch.nn import functional

import peer

PIL = "-pil" in sys.argv
if PIL:
    sys.argv.remove("-pil")
HALF = (0.5, 0.5, 0.5)
SIDE = 128  # of a slice, in voxels
versions = {"torch": torch.__version__}


class Samples(torch.utils.data.Dataset):
    """place(item) of items, all of them in turn, again and again."""

    def __init__(self, o, items, place):
        self.samples, self.items, self.place = o.samples, items, place

    def __len__(self):
        return self.samples

    def __getitem__(self, i):
        return self.place(self.items[i % len(self.items)])


class Normalize:
    """(x/255 - mean) / std of bytes as one multiplication and one addition."""

    def __init__(self, o, shape, mean, std):
        self.factor = 1 / (255 * torch.tensor(std).view(1, 3, 1, 1))
        self.offset = -torch.tensor(mean).view(1, 3, 1, 1) / torch.tensor(std).view(1, 3, 1, 1)
        self.out = torch.empty(o.batch, *shape)

    def __call__(self, images):
        return self.out[: len(images)].copy_(images).mul_(self.factor).add_(self.offset)


def pil_photos(o, found):
    import PIL as pillow
    import torchvision
    from torchvision import transforms

    versions.update(torchvision=torchvision.__version__, pillow=pillow.__version__)
    geometry = [transforms.Resize(o.resize), transforms.CenterCrop(o.size)]
    if o.work == "train":
        geometry = [transforms.RandomResizedCrop(o.size), transforms.RandomHorizontalFlip()]
    finish = [transforms.ToTensor(), transforms.Normalize(peer.MEAN, peer.STD)]
    if o.work == "bytes":
        finish = [transforms.PILToTensor()]
    folder = torchvision.datasets.ImageFolder(o.folder, transforms.Compose(geometry + finish))
    if [s[0] for s in folder.samples] != [path for path, _ in found]:
        raise SystemExit(f"{o.folder}: ImageFolder finds other files")
    return Samples(o, range(len(found)), folder.__getitem__), None


def tensor_photos(o, found):
    """Images as (height, width, 3), as the decoder lays them out: rows are copied whole."""
    import torchvision
    from torchvision.io import ImageReadMode, decode_jpeg, read_file
    from torchvision.transforms import v2

    versions["torchvision"] = torchvision.__version__
    geometry = v2.Compose([v2.Resize(o.resize, antialias=True), v2.CenterCrop(o.size)])
    if o.work == "train":
        geometry = v2.Compose([v2.RandomResizedCrop(o.size, antialias=True), v2.RandomHorizontalFlip()])

    def place(item):
        path, label = item
        return geometry(decode_jpeg(read_file(path), mode=ImageReadMode.RGB)).permute(1, 2, 0), label

    samples = Samples(o, found, place)
    if o.work == "bytes":
        return samples, lambda images: images.permute(0, 3, 1, 2)
    normalize = Normalize(o, (3, o.size, o.size), peer.MEAN, peer.STD)
    return samples, lambda images: normalize(images.permute(0, 3, 1, 2))


def pil_cifar(o, found):
    """An image of an array per sample, as torchvision.datasets.CIFAR100 makes it."""
    from PIL import Image
    from torchvision import transforms

    images, labels = found[0].transpose(0, 2, 3, 1).copy(), found[1].tolist()
    steps = transforms.Compose([transforms.ToTensor(), transforms.Normalize(HALF, HALF)])
    return Samples(o, range(len(labels)), lambda i: (steps(Image.fromarray(images[i])), labels[i])), None


def tensor_cifar(o, found):
    images, labels = torch.from_numpy(found[0]), found[1].tolist()
    return Samples(o, range(len(labels)), lambda i: (images[i], labels[i])), Normalize(o, (3, 32, 32), HALF, HALF)


def items(o, found):
    """Files mapped as tensors. numpy.fromfile, which copies once more, is slower."""
    shape, dtype = (3, o.size, o.size), torch.uint8 if o.work == "items" else torch.float32
    read = lambda path: torch.from_file(path, size=math.prod(shape), dtype=dtype).view(shape)
    return Samples(o, found, lambda item: (read(item[0]), item[1])), None


def volumes(o, found):
    """Slices of volumes in three views, padded around their middle. The volumes are decoded before the clock starts, as
    float32, so that they need not be converted."""
    import nrrd

    versions["pynrrd"] = nrrd.__version__
    dtypes = (torch.float32, torch.float32, torch.uint8, torch.uint8)
    kept = [[torch.from_numpy(nrrd.read(paths[name], index_order="C")[0])[None].to(d) for name, d in zip(peer.VOLUMES, dtypes)] for paths in found]
    places = [(v, axis, k) for v in kept for axis in (1, 2, 3) for k in range(v[0].shape[axis])]
    return Samples(o, places, lambda place: tuple(pad(v.select(*place[1:])) for v in place[0])), None


def pad(cut):
    """(1, rows, columns) with zeros around it, up to SIDE."""
    rows, columns = SIDE - cut.shape[1], SIDE - cut.shape[2]
    if rows == columns == 0:
        return cut
    return functional.pad(cut, (columns // 2, columns - columns // 2, rows // 2, rows - rows // 2))


WORKS = {
    "items": items,
    "preprocessed": items,
    "cifar100": pil_cifar if PIL else tensor_cifar,
    "volumes": volumes,
    **dict.fromkeys(("bytes", "eval", "train"), pil_photos if PIL else tensor_photos),
}


def make(o, found):
    torch.set_num_threads(1)  # workers have the processors
    dataset, finish = WORKS[o.work](o, found)
    loader = torch.utils.data.DataLoader(dataset, batch_size=o.batch, shuffle=o.shuffle, num_workers=o.workers, persistent_workers=o.workers > 0)
    if finish is None:
        return lambda number: iter(loader)
    return lambda number: ((finish(images), labels) for images, labels in loader)


if __name__ == "__main__":
    peer.run(make, versions)
