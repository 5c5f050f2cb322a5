"""PyTorch's DataLoader over all works: with -pil as most people write it, with an image of Pillow's and
torchvision's transforms per sample; without it as fast as its own parts make it, with bytes between the
processes and normalization per batch, into one buffer that is valid until the next batch.
"""

import math
import sys

import numpy
import torch
from torch.nn import functional

import peer
import works

PIL = "-pil" in sys.argv
if PIL:
    sys.argv.remove("-pil")
HALF = (0.5, 0.5, 0.5)
FILL = (123, 117, 104)  # the mean colour, of what zooming out adds
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
    if o.work == "randaugment":
        return Samples(o, found, randaugmented(o)), None
    if o.work == "eval":
        geometry = [transforms.Resize(o.resize), transforms.CenterCrop(o.size)]
    else:
        geometry = [transforms.RandomResizedCrop(o.size), transforms.RandomHorizontalFlip()]
    steps = geometry + [transforms.ToTensor(), transforms.Normalize(peer.MEAN, peer.STD)]
    folder = torchvision.datasets.ImageFolder(o.folder, transforms.Compose(steps))
    if [s[0] for s in folder.samples] != [path for path, _ in found]:
        raise SystemExit(f"{o.folder}: ImageFolder finds other files")
    return Samples(o, range(len(found)), folder.__getitem__), None


class Varied(list):
    """Images of several sizes."""

    def __array__(self, dtype=None, copy=None):
        return numpy.concatenate([image.numpy().ravel() for image in self])


def presets(o, found):
    """Training presets of torchvision's references, and SimCLR's two views, on PIL images or on tensors."""
    import torchvision
    from PIL import Image
    from torchvision import tv_tensors
    from torchvision.io import ImageReadMode, decode_image, decode_jpeg, read_file
    from torchvision.transforms import v2

    versions["torchvision"] = torchvision.__version__
    finish = [*([v2.PILToTensor()] if PIL else []), v2.ToDtype(torch.float, scale=True)]
    normalize = [*finish, v2.Normalize(peer.MEAN, peer.STD)]

    def image(path):
        if PIL:
            return Image.open(path).convert("RGB")
        return tv_tensors.Image(decode_jpeg(read_file(path), mode=ImageReadMode.RGB))

    if o.work == "simclr":
        view = v2.Compose([
            v2.RandomResizedCrop(224, antialias=True), v2.RandomHorizontalFlip(), v2.RandomApply([v2.ColorJitter(0.8, 0.8, 0.8, 0.2)], 0.8),
            v2.RandomGrayscale(0.2), v2.RandomApply([v2.GaussianBlur(23, (0.1, 2.0))], 0.5), *normalize])

        def two(item):
            photo = image(item[0])
            return torch.stack([view(photo), view(photo)]), item[1]

        return Samples(o, found, two), None
    if o.work == "deeplab":
        steps = v2.Compose([v2.RandomResize(260, 1041, antialias=True), v2.RandomCrop(480, pad_if_needed=True, fill={tv_tensors.Mask: 255, "others": 0}),
                            v2.RandomHorizontalFlip(), *normalize])

        def segmented(item):
            mask = v2.functional.pil_to_tensor(Image.open(item[1])) if PIL else decode_image(read_file(item[1]))
            photo, mask = steps(image(item[0]), tv_tensors.Mask(mask[0]))
            return photo, mask.long()

        return Samples(o, found, segmented), None
    geometry = [v2.RandomShortestSize(list(range(480, 801, 32)), max_size=1333, antialias=True)]
    if o.work == "ssd":
        geometry = [v2.RandomPhotometricDistort(), v2.RandomZoomOut(fill={Image.Image: FILL, tv_tensors.Image: FILL, "others": 0}), v2.RandomIoUCrop()]
    steps = v2.Compose([*geometry, v2.RandomHorizontalFlip(), *finish, v2.ConvertBoundingBoxFormat("XYXY"), v2.SanitizeBoundingBoxes()])

    def detected(item):
        path, _, boxes = item
        photo = image(path)
        size = photo.size[::-1] if PIL else photo.shape[-2:]
        target = {"boxes": tv_tensors.BoundingBoxes([b for b, _ in boxes], format="XYWH", canvas_size=size, dtype=torch.float),
                  "labels": torch.tensor([c for _, c in boxes])}
        return steps(photo, target)

    return Samples(o, found, detected), None


def varied(samples):
    return Varied(image for image, _ in samples), [target for _, target in samples]


def randaugmented(o):
    """The preset for classification of torchvision's references, with RandAugment and erasing."""
    from PIL import Image
    from torchvision.io import ImageReadMode, decode_jpeg, read_file
    from torchvision.transforms import v2

    steps = v2.Compose([
        v2.RandomResizedCrop(o.size, antialias=True), v2.RandomHorizontalFlip(),
        v2.RandAugment(2, 9, interpolation=v2.InterpolationMode.BILINEAR), *([v2.PILToTensor()] if PIL else []),
        v2.ToDtype(torch.float, scale=True), v2.Normalize(peer.MEAN, peer.STD), v2.RandomErasing(0.1)])

    def place(item):
        path, label = item
        if PIL:
            return steps(Image.open(path).convert("RGB")), label
        return steps(decode_jpeg(read_file(path), mode=ImageReadMode.RGB)), label

    return place


def pil_cifar(o, found):
    """An image of an array per sample, as torchvision.datasets.CIFAR100 makes it."""
    from PIL import Image
    from torchvision import transforms

    images, labels = found[0].transpose(0, 2, 3, 1).copy(), found[1].tolist()
    steps = transforms.Compose([transforms.ToTensor(), transforms.Normalize(HALF, HALF)])
    return Samples(o, range(len(labels)), lambda i: (steps(Image.fromarray(images[i])), labels[i])), None


def tensor_photos(o, found):
    """Images as (height, width, 3), as the decoder lays them out: rows are copied whole."""
    import torchvision
    from torchvision.io import ImageReadMode, decode_jpeg, read_file
    from torchvision.transforms import v2

    versions["torchvision"] = torchvision.__version__
    if o.work == "randaugment":
        return Samples(o, found, randaugmented(o)), None
    if o.work == "eval":
        geometry = v2.Compose([v2.Resize(o.resize, antialias=True), v2.CenterCrop(o.size)])
    else:
        geometry = v2.Compose([v2.RandomResizedCrop(o.size, antialias=True), v2.RandomHorizontalFlip()])

    def place(item):
        path, label = item
        return geometry(decode_jpeg(read_file(path), mode=ImageReadMode.RGB)).permute(1, 2, 0), label

    normalize = Normalize(o, (3, o.size, o.size), peer.MEAN, peer.STD)
    return Samples(o, found, place), lambda images: normalize(images.permute(0, 3, 1, 2))


def tensor_cifar(o, found):
    images, labels = torch.from_numpy(found[0]), found[1].tolist()
    return Samples(o, range(len(labels)), lambda i: (images[i], labels[i])), Normalize(o, (3, 32, 32), HALF, HALF)


def items(o, found):
    """Files mapped as tensors. numpy.fromfile, which copies once more, is slower."""
    shape = (3, o.size, o.size)
    read = lambda path: torch.from_file(path, size=math.prod(shape), dtype=torch.float32).view(shape)
    return Samples(o, found, lambda item: (read(item[0]), item[1])), None


def arrays(o, found):
    """One array is mapped, files are read, and what is kept is read before the workers start."""
    versions["numpy"] = numpy.__version__
    if o.work == "npy":
        return Samples(o, numpy.load(found[0], mmap_mode="r"), lambda row: (torch.from_numpy(numpy.array(row)),)), None
    if o.work == "npy-cached":
        return Samples(o, [torch.from_numpy(numpy.load(path)) for path in found], lambda item: (item,)), None
    return Samples(o, found, lambda path: (torch.from_numpy(numpy.load(path)),)), None


def volumes(o, found):
    """Whole patients, decoded for every sample or kept as float32, so that they need not be converted; or
    slices of those that are kept, in three views, padded around their middle."""
    import nrrd

    versions["pynrrd"] = nrrd.__version__

    def patient(paths):
        arrays = [nrrd.read(paths[name], index_order="C")[0] for name in works.VOLUMES]
        dtypes = (torch.float32, torch.float32, torch.uint8, torch.uint8)
        return tuple(torch.from_numpy(a)[None].to(dtype) for a, dtype in zip(arrays, dtypes))

    if o.work == "nrrd":
        return Samples(o, found, patient), None
    kept = [patient(paths) for paths in found]
    if o.work == "volumes-cached":
        return Samples(o, kept, lambda volumes: volumes), None
    places = [(v, axis, k) for v in kept for axis in (1, 2, 3) for k in range(v[0].shape[axis])]
    return Samples(o, places, lambda place: tuple(pad(v.select(*place[1:])) for v in place[0])), None


def pad(cut):
    """(1, rows, columns) with zeros around it, up to SIDE."""
    rows, columns = SIDE - cut.shape[1], SIDE - cut.shape[2]
    if rows == columns == 0:
        return cut
    return functional.pad(cut, (columns // 2, columns - columns // 2, rows // 2, rows - rows // 2))


WORKS = {
    "preprocessed": items,
    "cifar100": pil_cifar if PIL else tensor_cifar,
    **dict.fromkeys(works.PHOTOS, pil_photos if PIL else tensor_photos),
    **dict.fromkeys((*works.ANNOTATED, "simclr"), presets),
    **dict.fromkeys(("npy", "npy-items", "npy-cached"), arrays),
    **dict.fromkeys(("nrrd", "volumes-cached", "volumes"), volumes),
}


def make(o, found):
    torch.set_num_threads(1)  # workers have the processors
    dataset, normalize = WORKS[o.work](o, found)
    loader = torch.utils.data.DataLoader(
        dataset, collate_fn=varied if o.work in ("detr", "ssd") else None, batch_size=o.batch, shuffle=o.shuffle, num_workers=o.workers, persistent_workers=o.workers > 0
    )
    if normalize is None:
        return lambda number: iter(loader)
    return lambda number: ((normalize(bytes_), labels) for bytes_, labels in loader)


if __name__ == "__main__":
    peer.run(make, versions)
