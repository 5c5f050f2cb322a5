"""Tests of penstock.DataLoader with PyTorch and torchvision. `go test ./examples/python/tests` runs them where both are.

PENSTOCK_PIPELINES is how many random pipelines are compared; -pipelines of go test sets it.
"""

import functools
import http.server
import io
import json
import os
import pathlib
import pickle
import random
import shutil
import sys
import tarfile
import tempfile
import threading
import types
import unittest
import unittest.mock
import warnings

import numpy
import penstock
import PIL.Image
import torch
import torchvision
from torch.utils.data import ConcatDataset, Subset, random_split
from torch.utils.data import DataLoader as TorchLoader
from torch.utils.data.distributed import DistributedSampler
from torchvision import tv_tensors
from torchvision.datasets import wrap_dataset_for_transforms_v2 as wrapped
from torchvision.transforms import v2
import torchvision.transforms as v1

PIPELINES = int(os.environ.get("PENSTOCK_PIPELINES", "60"))
PHOTOS = pathlib.Path(__file__).resolve().parents[2] / "images" / "photos"
warnings.simplefilter("ignore")
torch.set_num_threads(1)  # small images gain nothing by more


def whole(path):
    return not path.endswith("truncated.jpg")


def folder(transform, **options):
    return torchvision.datasets.ImageFolder(PHOTOS, transform, is_valid_file=whole, **options)


def cifar(images, transform, targets=None):
    """A CIFAR10 of these images, without its files."""
    ds = torchvision.datasets.CIFAR10.__new__(torchvision.datasets.CIFAR10)
    ds.data, ds.targets = images, list(range(len(images))) if targets is None else targets
    ds.transform, ds.target_transform = transform, None
    return ds


def numbered(n):
    """Images of 2×2 pixels whose targets are their indices."""
    return cifar(numpy.arange(12 * n, dtype=numpy.uint8).reshape(n, 2, 2, 3), v1.ToTensor())


def labels(loader):
    return [label.tolist() for _, label in loader]


def flat(batches):
    return sum(batches, [])


class Pipelines:
    """Random legal pipelines of v1 and v2. torchvision draws nothing in those that are fixed."""

    def __init__(self, seed):
        self.r = random.Random(seed)

    def of(self, name, *arguments, **options):
        """An object of a class, of v1 if there is such a class and chance wants it."""
        where = v1 if self.v1 and hasattr(v1, name) else v2
        if where is v1 and "interpolation" in options:
            options["interpolation"] = v1.InterpolationMode(options["interpolation"])
        return getattr(where, name)(*arguments, **options)

    def size(self):
        return self.r.randint(20, 90), self.r.randint(20, 90)

    def side(self):
        return self.r.choice([self.r.randint(20, 90), self.size()])

    def filter(self, *more):
        return self.r.choice(["nearest", "bilinear", "bicubic", *more])

    def fill(self):
        return self.r.choice([0, self.r.randint(1, 255), tuple(self.r.randint(0, 255) for _ in range(3))])

    def fixed(self, depth=0):
        """A step without draws."""
        r, of = self.r, self.of
        sure = r.choice([0.0, 1.0, 1.0])
        angle, factor = r.choice([-90, -37.5, 0, 13, 90, 180]), r.choice([0.0, 0.3, 1.7, 2.4])
        steps = [
            lambda: of("Resize", self.side(), interpolation=self.filter("box", "lanczos", "hamming")),
            lambda: of("Resize", r.randint(20, 60), max_size=r.randint(61, 99), interpolation=self.filter()),
            lambda: of("CenterCrop", self.side()),
            lambda: of("Pad", r.choice([r.randint(0, 9), (1, 2), (1, 2, 3, 4)]), fill=self.fill()),
            lambda: of("Pad", r.randint(0, 9), padding_mode=r.choice(["edge", "reflect", "symmetric"])),
            lambda: of("RandomHorizontalFlip", sure),
            lambda: of("RandomVerticalFlip", sure),
            lambda: of("RandomInvert", sure),
            lambda: of("RandomPosterize", r.randint(1, 8), p=sure),
            lambda: of("RandomSolarize", r.randint(0, 255), p=sure),
            lambda: of("RandomAutocontrast", sure),
            lambda: of("RandomEqualize", sure),
            lambda: of("RandomAdjustSharpness", r.choice([0, 0.5, 1, 2, 3.5]), p=sure),
            lambda: of("RandomGrayscale", sure),
            lambda: of("Grayscale", 3),
            lambda: of("ColorJitter"),
            lambda: of("ColorJitter", **{r.choice(["brightness", "contrast", "saturation"]): (factor, factor)}),
            lambda: of("ColorJitter", hue=(factor / 5, factor / 5)),
            lambda: of("RandomRotation", (angle, angle), interpolation=self.filter(), expand=r.random() < 0.3, fill=self.fill()),
            lambda: of("RandomAffine", (angle, angle), scale=(1.25, 1.25), shear=(5, 5, -3, -3), interpolation=self.filter(), fill=self.fill()),
            lambda: of("RandomPerspective", p=0.0),
            lambda: v2.JPEG(r.randint(5, 95)),
            lambda: v2.Identity(),
            lambda: v2.RGB(),
        ]
        if depth < 2:
            several = lambda: [self.fixed(depth + 1) for _ in range(r.randint(1, 3))]
            steps += [
                lambda: of("Compose", several()),
                lambda: of("RandomApply", several(), p=sure),
                lambda: v2.RandomChoice([self.fixed(depth + 1), self.fixed(depth + 1)], p=[1.0, 0.0]),
            ]
        return r.choice(steps)()

    def tensors(self):
        """A step without draws after ToImage."""
        r = self.r
        sure, filters = r.choice([0.0, 1.0, 1.0]), ["bilinear", "bilinear", "bicubic", "lanczos"]
        steps = [
            lambda: v2.Resize(self.side(), interpolation=r.choice(filters)),
            lambda: v2.Resize(r.randint(20, 60), max_size=r.randint(61, 99), interpolation=r.choice(filters)),
            lambda: v2.Resize([r.randint(20, 90)], interpolation=r.choice(filters)),
            lambda: v2.CenterCrop(self.side()),
            lambda: v2.Pad(r.choice([r.randint(0, 9), (1, 2), (1, 2, 3, 4)]), fill=self.fill()),
            lambda: v2.Pad(r.randint(0, 9), padding_mode=r.choice(["edge", "reflect", "symmetric"])),
            lambda: v2.RandomHorizontalFlip(sure),
            lambda: v2.RandomVerticalFlip(sure),
            lambda: v2.RandomInvert(sure),
            lambda: v2.RandomPosterize(r.randint(1, 8), p=sure),
            lambda: v2.RandomSolarize(r.randint(0, 255), p=sure),
            lambda: v2.RandomEqualize(sure),
            lambda: v2.JPEG(r.randint(5, 95)),
            lambda: v2.RandomApply([v2.Resize(self.size(), interpolation=r.choice(filters)), v2.RandomInvert(sure)], p=sure),
        ]
        return r.choice(steps)()

    def random_tensors(self):
        """A step with draws after ToImage, for images of 32×32 pixels, which keeps their size."""
        r = self.r
        interpolation = r.choice(["bilinear", "bicubic", "lanczos"])
        steps = [
            lambda: v2.RandomResizedCrop(32, scale=(r.uniform(0.1, 0.6), 1.0), interpolation=interpolation),
            lambda: v2.RandomCrop(32, padding=r.randint(1, 6), fill=self.fill()),
            lambda: v2.RandomHorizontalFlip(r.uniform(0.2, 0.8)),
            lambda: v2.Compose([v2.RandomZoomOut(fill=self.fill(), side_range=(1.0, 2.0), p=0.7), v2.RandomCrop(32)]),
            lambda: v2.Compose([v2.RandomShortestSize([34, 40, 52], interpolation=interpolation), v2.RandomCrop(32)]),
            lambda: v2.Compose([v2.RandomResize(33, 60, interpolation=interpolation), v2.CenterCrop(32)]),
            lambda: v2.Compose([v2.ScaleJitter((40, 40), (0.8, 2.0), interpolation=interpolation), v2.CenterCrop(32)]),
            lambda: v2.GaussianBlur(r.choice([3, (3, 5)]), sigma=(0.1, 3.0)),
            lambda: v2.ElasticTransform(20.0, 3.0),
            lambda: v2.RandomEqualize(0.5),
            lambda: v2.JPEG((5, 60)),
        ]
        return r.choice(steps)()

    def random(self):
        """A step with draws, for images of 32×32 pixels, which keeps their size."""
        r, of = self.r, self.of
        steps = [
            lambda: of("RandomResizedCrop", 32, scale=(r.uniform(0.1, 0.6), 1.0), interpolation=self.filter()),
            lambda: of("RandomCrop", 32, padding=r.randint(1, 6), fill=self.fill(), padding_mode=r.choice(["constant", "reflect", "edge"])),
            lambda: of("RandomHorizontalFlip", r.uniform(0.2, 0.8)),
            lambda: of("RandomVerticalFlip", r.uniform(0.2, 0.8)),
            lambda: of("ColorJitter", r.uniform(0.1, 0.8), (0.6, 1.4), r.uniform(0.1, 0.8), r.uniform(0, 0.5)),
            lambda: of("ColorJitter", (0.2, 0.9), (1.2, 1.9), (0.0, 0.4), (-0.1, 0.3)),
            lambda: of("RandomGrayscale", r.uniform(0.2, 0.8)),
            lambda: of("RandomRotation", r.randint(5, 90), interpolation=self.filter(), fill=self.fill()),
            lambda: of("RandomAffine", 20, (0.1, 0.2), (0.8, 1.2), 10, interpolation=self.filter(), fill=self.fill()),
            lambda: of("RandomPerspective", r.uniform(0.1, 0.6), r.uniform(0.3, 0.9), fill=self.fill()),
            lambda: of("GaussianBlur", r.choice([3, (3, 5)]), sigma=(0.1, 3.0)),
            lambda: of("RandomPosterize", 2, p=0.5),
            lambda: of("RandomSolarize", 100, p=0.5),
            lambda: of("RandomEqualize", 0.5),
            lambda: of("RandAugment", r.randint(1, 3), r.randint(1, 20), fill=self.fill()),
            lambda: of("TrivialAugmentWide", interpolation=self.filter()),
            lambda: of("AutoAugment", r.choice(list(v1.AutoAugmentPolicy))),
            lambda: v2.RandomPhotometricDistort(p=0.6),
            lambda: v2.RandomChannelPermutation(),
            lambda: v2.JPEG((5, 60)),
            lambda: v2.Compose([v2.RandomZoomOut(side_range=(1.0, 2.0), p=0.7), v2.RandomCrop(32)]),
            lambda: v2.Compose([v2.RandomShortestSize([34, 40, 52]), v2.RandomCrop(32)]),
            lambda: v2.Compose([v2.RandomResize(33, 60), v2.CenterCrop(32)]),
            lambda: v2.Compose([v2.ScaleJitter((40, 40), (0.8, 2.0)), v2.CenterCrop(32)]),
            lambda: of("RandomApply", [of("RandomInvert", 0.5), of("RandomHorizontalFlip", 0.5)], p=0.6),
            lambda: v2.RandomChoice([v2.RandomInvert(1.0), v2.RandomVerticalFlip(1.0), v2.Identity()], p=[1, 2, 3]),
            lambda: v2.RandomOrder([v2.RandomSolarize(128, p=1.0), v2.RandomPosterize(2, p=1.0), v2.RandomInvert(1.0)]),
        ]
        return r.choice(steps)()

    def end(self, fixed=True):
        """The conversion to a tensor."""
        mean, std = [0.485, 0.456, 0.406], [0.229, 0.224, 0.225]
        floats = [v2.ToImage(), v2.ToDtype(torch.float32, scale=True)]
        ends = [
            [v1.ToTensor()],
            [v1.ToTensor(), v1.Normalize(mean, std)],
            [v1.PILToTensor()],
            [v1.PILToTensor(), v1.ConvertImageDtype(torch.float32)],
            floats,
            [*floats, v2.Normalize(mean, std), v2.ToPureTensor()],
            [v2.PILToTensor(), v2.ToDtype(torch.float32)],
            [v2.ToImage(), v2.RandomHorizontalFlip(1.0), v2.CenterCrop(17), v2.ToDtype(torch.float32, scale=True)],
            [v1.ToTensor(), v1.RandomVerticalFlip(1.0), v1.Normalize([0.5], [0.25]), v1.RandomErasing(0.0)],
            [*floats, v2.Normalize(mean, std), v2.ToDtype(torch.float16)],
        ]
        if not fixed:
            ends += [
                [v1.ToTensor(), v1.Normalize(mean, std), v1.RandomErasing(0.7, value=self.r.choice([0, (1.0, 2.0, 3.0), "random"]))],
                [v2.ToImage(), v2.GaussianNoise(0.05, 0.2), v2.ToDtype(torch.float32, scale=True)],
                [v2.ToImage(), v2.RandomCrop(32, padding=4), v2.ToDtype(torch.float32, scale=True), v2.RandomErasing(0.5, value="random")],
            ]
        return self.r.choice(ends)

    def pipeline(self, fixed):
        """A list of steps. It is new torchvision's, old torchvision's or mixed."""
        self.v1 = self.r.random() < 0.4
        steps = [self.fixed() if fixed else self.random() for _ in range(self.r.randint(1, 4 if fixed else 2))]
        if self.r.random() < 0.4:  # as new torchvision's examples have it
            steps = [*steps[:-1], self.r.choice([v2.ToImage(), v2.PILToTensor()])]
            steps += [self.tensors() if fixed else self.random_tensors() for _ in range(self.r.randint(1, 4 if fixed else 2))]
            if fixed:
                steps.append(self.r.choice([v2.Resize(self.size()), v2.CenterCrop(self.side())]))
            return v2.Compose([*steps, v2.ToDtype(torch.float32, scale=True), v2.Normalize([0.485, 0.456, 0.406], [0.229, 0.224, 0.225])])
        if fixed:
            steps.append(self.r.choice([v2.Resize(self.size()), v2.CenterCrop(self.side()), v1.Resize(self.size(), v1.InterpolationMode.BICUBIC)]))
        return self.r.choice([v1.Compose, v2.Compose])(steps + self.end(fixed))


def ks(a, b):
    """The p-value of a Kolmogorov-Smirnov test of two samples."""
    a, b = numpy.sort(a), numpy.sort(b)
    every = numpy.concatenate([a, b])
    d = numpy.abs(numpy.searchsorted(a, every, side="right") / len(a) - numpy.searchsorted(b, every, side="right") / len(b)).max()
    x = d * numpy.sqrt(len(a) * len(b) / (len(a) + len(b)))
    k = numpy.arange(1, 100)
    return min(1.0, 2 * float(((-1.0) ** (k - 1) * numpy.exp(-2 * (k * x) ** 2)).sum())) if x > 0.2 else 1.0


def statistics(images):
    """Numbers of each image that show its colours and where its parts are."""
    w, h = images.shape[3] // 2, images.shape[2] // 2
    red, green, blue = images.mean((2, 3)).unbind(1)
    numbers = {
        "the mean": images.mean((1, 2, 3)),
        "the deviation": images.std((1, 2, 3)),
        "the left part": images[..., :w].mean((1, 2, 3)) - images[..., -w:].mean((1, 2, 3)),
        "the upper part": images[:, :, :h].mean((1, 2, 3)) - images[:, :, -h:].mean((1, 2, 3)),
        "red": red - green,
        "blue": blue - green,
        "the least value": images.amin((1, 2, 3)),
    }
    return {name: x.numpy().round(3) for name, x in numbers.items()}


class Pixels(unittest.TestCase):
    def same(self, transform, photos=(0, 9, 20)):
        """Asserts that the pixels are the object's, in all bits."""
        ds = folder(transform)
        want = [ds[i] for i in photos]
        image, label = next(iter(penstock.DataLoader(Subset(ds, photos), batch_size=len(photos), num_workers=1)))
        self.assertEqual(label.tolist(), [y for _, y in want])
        for got, (x, _) in zip(image, want):
            self.assertEqual((got.dtype, got.shape), (x.dtype, x.shape), transform)
            self.assertTrue(torch.equal(got, x.as_subclass(torch.Tensor)), f"{transform}: {(got.float() - x.float()).abs().max()} apart")

    def test_fixed_pipelines_have_the_same_bits(self):
        pipelines = Pipelines(1)
        for k in range(PIPELINES * 4 // 5):
            transform = pipelines.pipeline(fixed=True)
            with self.subTest(k=k):
                self.same(transform)

    def test_random_pipelines_have_the_same_distributions(self):
        n, pipelines = 300, Pipelines(2)
        x, y = numpy.meshgrid(numpy.arange(32), numpy.arange(32))
        image = numpy.stack([7 * x + y, 250 - 3 * x - 4 * y, 100 + 60 * numpy.sin(x / 3) * numpy.cos(y / 5)], -1).astype(numpy.uint8)
        image[5:12, 18:29] = (250, 30, 60)
        for k in range(PIPELINES // 5):
            ds = cifar(numpy.stack([image] * n), pipelines.pipeline(fixed=False))
            torch.manual_seed(k)
            random.seed(k)
            want = torch.stack([ds[i][0].as_subclass(torch.Tensor).float() for i in range(n)])
            got = torch.cat([x.float() for x, _ in penstock.DataLoader(ds, batch_size=50, seed=k)])
            self.assertEqual(got.shape, want.shape)
            for (name, a), b in zip(statistics(got).items(), statistics(want).values()):
                self.assertGreater(ks(a, b), 1e-5, f"{name} of pipeline {k}: {ds.transform}")

    def test_weights_transforms_have_the_same_bits(self):
        weights = torchvision.models.ResNet50_Weights.IMAGENET1K_V2, torchvision.models.EfficientNet_B0_Weights.IMAGENET1K_V1
        for each in (*weights, torchvision.models.Swin_V2_B_Weights.IMAGENET1K_V1):
            self.same(each.transforms())

    def test_the_usual_recipes(self):
        mean, std = [0.485, 0.456, 0.406], [0.229, 0.224, 0.225]
        floats = [v2.ToDtype(torch.float32, scale=True), v2.Normalize(mean, std)]
        self.same(v2.Compose([v2.ToImage(), v2.Resize(256, antialias=True), v2.CenterCrop(224), *floats]))
        self.same(v2.Compose([v2.ToImage(), v2.RandomResizedCrop(224, (1.0, 1.0), (1.0, 1.0)), v2.RandomHorizontalFlip(1.0), *floats]), (20,))
        self.same(v2.Compose([v2.Resize((300, 200)), v2.ToImage(), v2.Resize((99, 140)), v2.Resize((150, 100)), *floats]))

    def test_crops_of_five_and_ten(self):
        stack = v1.Lambda(lambda crops: torch.stack([v1.ToTensor()(crop) for crop in crops]))
        bytes_of = lambda crops: torch.stack([v1.functional.pil_to_tensor(crop) for crop in crops])
        for transform in (
            v1.Compose([v1.Resize(60), v1.FiveCrop(50), stack]),
            v1.Compose([v1.Resize(60), v1.TenCrop((50, 40), vertical_flip=True), stack, v1.Normalize([0.5], [0.25])]),
            v2.Compose([v2.Resize((70, 60)), v2.TenCrop(50), bytes_of, v2.ToDtype(torch.float32, scale=True)]),
            v2.Compose([v2.Resize(60), v2.FiveCrop(50), v2.ToImage(), v2.ToDtype(torch.float32, scale=True), v2.Normalize([0.5], [0.25]), v1.Lambda(torch.stack)]),
            v2.Compose([v2.ToImage(), v2.Resize(60), v2.FiveCrop(50), lambda crops: torch.stack(crops), v2.ToDtype(torch.float32, scale=True)]),
        ):
            self.same(transform)
        for wrong in (v1.Lambda(lambda crops: torch.stack([v1.ToTensor()(crop) for crop in crops[::-1]])), v1.Lambda(len), v1.Lambda(lambda crops: 1 / 0)):
            with self.assertRaisesRegex(TypeError, r"transform\[1\]: Lambda.*something else than a tensor of the crops: want .*Lambda\(torch.stack\)"):
                penstock.explain(v1.Compose([v1.FiveCrop(8), wrong]))

    def test_presets_of_segmentation_and_detection_have_the_same_bits(self):
        segmentation = torchvision.models.segmentation.FCN_ResNet50_Weights.DEFAULT.transforms()
        detection = torchvision.models.detection.FasterRCNN_ResNet50_FPN_Weights.DEFAULT.transforms()
        for transform in (segmentation, detection):
            ds = Subset(folder(transform), [0, 9, 20])
            got = next(iter(penstock.DataLoader(ds, batch_size=3, collate_fn=list)))
            for (image, label), (want, y) in zip(got, ds):
                self.assertTrue(torch.equal(image, want) and label == y)

    def test_timms_transforms(self):
        try:
            from timm.data import create_transform
        except ImportError:
            self.skipTest("no timm")
        self.same(create_transform(96, interpolation="bicubic", crop_pct=0.9))
        self.same(create_transform((64, 80), crop_mode="squash"))
        train = create_transform(32, is_training=True, re_prob=0.4, re_mode="pixel")
        penstock.explain(train, file=io.StringIO())
        for wrong in (create_transform(32, is_training=True, auto_augment="rand-m9-mstd0.5"), create_transform(32, is_training=True, re_prob=0.3, re_count=3)):
            with self.assertRaisesRegex(TypeError, "timm|re_count=1"):
                penstock.explain(wrong)

    def test_transformers_processors(self):
        try:
            import transformers
            processor = transformers.ViTImageProcessorPil(size={"height": 64, "width": 48})
        except (ImportError, AttributeError):
            self.skipTest("no transformers with processors of PIL")
        images = folder(None)
        got = next(iter(penstock.DataLoader(folder(processor), batch_size=3)))[0]
        want = processor([images[i][0] for i in range(3)], return_tensors="pt")["pixel_values"]
        self.assertTrue(torch.equal(got, want))

    def test_grey_images_stay_grey(self):
        r = numpy.random.default_rng(3)
        ds = torchvision.datasets.MNIST.__new__(torchvision.datasets.MNIST)
        ds.data, ds.targets = torch.from_numpy(r.integers(0, 256, (5, 28, 28), numpy.uint8)), torch.arange(5)
        ds.target_transform = lambda y: y + 10
        for transform, channels in (
            (v1.Compose([v1.ToTensor(), v1.Normalize((0.1307,), (0.3081,))]), 1),
            (v2.Compose([v2.Resize(40), v2.RandomAutocontrast(1.0), v2.Pad(2, fill=9), v2.ToImage(), v2.ToDtype(torch.float32, scale=True)]), 1),
            (v2.Compose([v2.RandomRotation((30, 30), fill=200), v2.RandomEqualize(1.0), v2.RGB(), v2.ToImage()]), 3),
            (v1.Compose([v1.Grayscale(3), v1.ColorJitter(), v1.ToTensor()]), 3),
        ):
            ds.transform = transform
            image, label = next(iter(penstock.DataLoader(ds, batch_size=5)))
            self.assertEqual((image.shape[1], label.tolist()), (channels, [10, 11, 12, 13, 14]))
            self.assertTrue(torch.equal(image, torch.stack([ds[i][0] for i in range(5)])), transform)


def mosaic(path, k):
    """Writes image k of a data set with boxes, and returns its height and width."""
    r = numpy.random.default_rng(k)
    h, w = int(r.integers(60, 120)), int(r.integers(60, 120))
    PIL.Image.fromarray(r.integers(0, 256, (h // 8 + 1, w // 8 + 1, 3), numpy.uint8)).resize((w, h)).save(path, quality=90)
    return h, w


def random_boxes(r, h, w, whole=False):
    """Some boxes within an image, as x, y, width and height."""
    boxes = []
    for _ in range(int(r.integers(1, 6))):
        x, y = r.uniform(0, w - 12), r.uniform(0, h - 12)
        box = [x, y, r.uniform(8, w - x), r.uniform(8, h - y)]
        boxes.append([int(v) for v in box] if whole else [round(float(v), 2) for v in box])
    return boxes


class Annotated(unittest.TestCase):
    """Data sets with boxes and masks, made here."""

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        root = cls.root = pathlib.Path(cls.folder.name)
        images, annotations = [], []
        (root / "photos").mkdir()
        voc = root / "VOCdevkit" / "VOC2012"
        for each in ("JPEGImages", "Annotations", "ImageSets/Main", "ImageSets/Segmentation", "SegmentationClass"):
            (voc / each).mkdir(parents=True)
        for k in range(8):
            r = numpy.random.default_rng(100 + k)
            h, w = mosaic(root / "photos" / f"{k}.jpg", k)
            images.append({"id": 50 - k, "file_name": f"{k}.jpg", "height": h, "width": w})
            for x, y, bw, bh in random_boxes(r, h, w):
                polygon = [x, y, x + bw, y, x + bw, y + bh / 2, x + bw / 2, y + bh, x, y + bh]
                annotations.append({"id": len(annotations) + 7, "image_id": 50 - k, "category_id": int(r.integers(1, 91)), "bbox": [x, y, bw, bh], "area": bw * bh, "iscrowd": 0, "segmentation": [polygon]})
            shutil.copy(root / "photos" / f"{k}.jpg", voc / "JPEGImages")
            objects = "".join(
                f"<object><name>{r.choice(['dog', 'cat', 'tvmonitor'])}</name><bndbox><xmin>{x + 1}</xmin><ymin>{y + 1}</ymin><xmax>{x + bw}</xmax><ymax>{y + bh}</ymax></bndbox></object>"
                for x, y, bw, bh in random_boxes(r, h, w, True)
            )
            (voc / "Annotations" / f"{k}.xml").write_text(f"<annotation>{objects}</annotation>")
            mask = PIL.Image.fromarray(numpy.kron(r.choice([0, 3, 15, 255], (h // 9 + 1, w // 9 + 1)), numpy.ones((9, 9)))[:h, :w].astype(numpy.uint8), "P")
            mask.putpalette([v for c in range(256) for v in (c, 255 - c, c)])
            mask.save(voc / "SegmentationClass" / f"{k}.png")
        for each in ("Main", "Segmentation"):
            (voc / "ImageSets" / each / "train.txt").write_text("".join(f"{k}\n" for k in range(8)))
        (root / "instances.json").write_text(json.dumps({
            "images": images, "annotations": annotations, "categories": [{"id": c, "name": f"class {c}"} for c in range(1, 91)]
        }))

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def coco(self, transforms, keys=None):
        try:
            import pycocotools.coco
        except ImportError:
            self.skipTest("no pycocotools")
        out, sys.stdout = sys.stdout, io.StringIO()
        try:
            ds = torchvision.datasets.CocoDetection(str(self.root / "photos"), str(self.root / "instances.json"), transforms=transforms)
        finally:
            sys.stdout = out
        return wrapped(ds, target_keys=keys)

    def voc(self, transforms, **options):
        return wrapped(torchvision.datasets.VOCDetection(str(self.root), transforms=transforms, **options))

    def segmentation(self, transforms):
        return wrapped(torchvision.datasets.VOCSegmentation(str(self.root), transforms=transforms))

    def same(self, ds, off=0.0):
        """Asserts that samples are the dataset's, in all bits, but for boxes that may be so many pixels off."""
        got = [sample for batch in penstock.DataLoader(ds, batch_size=3, collate_fn=list) for sample in batch]
        self.assertEqual(len(got), len(ds))
        for (image, target), (want, other) in zip(got, (ds[i] for i in range(len(ds)))):
            self.assertTrue(torch.equal(image, want), ds.transforms)
            self.assertEqual(image.dtype, want.dtype)
            if not isinstance(other, dict):
                target, other = {"mask": target}, {"mask": other}
            self.assertEqual(set(target), set(other))
            for key, value in other.items():
                if not isinstance(value, torch.Tensor):
                    self.assertEqual(target[key], value)
                    continue
                self.assertEqual((type(target[key]), target[key].shape), (type(value), value.shape), key)
                if key == "boxes":
                    self.assertLessEqual((target[key].double() - value.double()).abs().max().item() if len(value) else 0, off, ds.transforms)
                else:
                    self.assertTrue(torch.equal(target[key], value), (key, ds.transforms))
                if isinstance(value, tv_tensors.BoundingBoxes):
                    self.assertEqual((target[key].format, target[key].canvas_size), (value.format, value.canvas_size))

    floats = v2.ToDtype({tv_tensors.Image: torch.float32, "others": None}, scale=True)

    def test_boxes_and_masks_of_coco_move_with_images(self):
        for keys in (None, ("boxes", "labels", "masks"), ["image_id", "boxes", "labels"]):
            for steps in (
                [v2.RandomHorizontalFlip(1.0), v2.Resize((60, 80)), v2.ToImage(), self.floats, v2.ConvertBoundingBoxFormat("XYWH"), v2.SanitizeBoundingBoxes()],
                [v2.ToImage(), v2.Resize(100, max_size=150), v2.Pad(5), v2.CenterCrop(90), v2.ClampBoundingBoxes(), v2.SanitizeBoundingBoxes(min_size=4), v2.ToDtype(torch.float32, scale=True), v2.ToPureTensor()],
                [v2.ToImage(), v2.RandomShortestSize([64], max_size=90), v2.RandomVerticalFlip(1.0), v2.ToDtype({tv_tensors.Image: torch.float32, tv_tensors.Mask: torch.int64, "others": None}, scale=True)],
                [v2.RandomZoomOut(fill={"others": (123, 117, 104), tv_tensors.Mask: 3}, p=0.0), v2.Pad(6, fill={"others": 9, tv_tensors.Mask: 3}), v2.ToImage(), self.floats],
            ):
                self.same(self.coco(v2.Compose(steps), keys))

    def test_boxes_of_voc(self):
        still = [v2.RandomHorizontalFlip(1.0), v2.Pad(3), v2.ToImage(), v2.CenterCrop(60), self.floats, v2.SanitizeBoundingBoxes()]
        self.same(self.voc(v2.Compose(still)))
        self.same(self.voc(v2.Compose([v2.ToImage(), v2.Resize((64, 64)), self.floats])), off=1.0)  # torchvision's are whole numbers
        batch = next(iter(penstock.DataLoader(Subset(self.voc(v2.Compose([v2.Resize((64, 48)), v2.ToImage(), self.floats])), [5, 2]), batch_size=2)))
        self.assertEqual(batch._fields, ("image", "boxes", "labels"))
        self.assertEqual((batch.image.shape, batch.boxes.values.shape[1], len(batch.labels.offsets)), ((2, 3, 64, 48), 4, 3))

    def test_masks_of_voc(self):
        both = v2.ToDtype({tv_tensors.Image: torch.float32, tv_tensors.Mask: torch.int64, "others": None}, scale=True)
        fixed = v2.Compose([v2.RandomHorizontalFlip(1.0), v2.ToImage(), v2.Resize((70, 60)), v2.Pad(4, fill={"others": 7, tv_tensors.Mask: 255}), both, v2.Normalize([0.5], [0.25])])
        for transforms in (
            fixed,
            v2.Compose([v2.Resize(64), v2.ToImage(), both, v2.ToPureTensor()]),
            v2.Compose([v2.RandomVerticalFlip(1.0), v2.ToImage(), v2.RandomShortestSize([50], max_size=70), self.floats]),
        ):
            self.same(self.segmentation(transforms))
        ds = self.segmentation(fixed)
        for got, want in zip(penstock.DataLoader(ds, batch_size=3), TorchLoader(ds, batch_size=3)):
            self.assertTrue(torch.equal(got[0], want[0]) and torch.equal(got.mask, want[1]))
            self.assertEqual(got.mask.dtype, torch.int64)

    def test_random_boxes_have_the_same_distributions(self):
        transforms = v2.Compose([
            v2.RandomPhotometricDistort(), v2.RandomZoomOut(fill={"others": (123.0, 117.0, 104.0), tv_tensors.Mask: 0}), v2.RandomIoUCrop(),
            v2.RandomHorizontalFlip(), v2.ToImage(), v2.Resize((48, 48)), self.floats, v2.SanitizeBoundingBoxes(),
        ])
        ds = self.voc(transforms)
        torch.manual_seed(1)
        want = [ds[i % 8] for i in range(400)]
        loader = penstock.DataLoader(ds, 8, seed=2, collate_fn=list)
        got = [sample for _ in range(50) for batch in loader for sample in batch]
        for name, number in (
            ("boxes", lambda x, y: len(y["boxes"])),
            ("their area", lambda x, y: float(sum((b[2] - b[0]) * (b[3] - b[1]) for b in y["boxes"].tolist()))),
            ("the left edge", lambda x, y: min((b[0] for b in y["boxes"].tolist()), default=-1)),
            ("the mean", lambda x, y: float(x.mean())),
        ):
            a, b = (numpy.round([number(*sample) for sample in samples], 0 if name != "the mean" else 3) for samples in (got, want))
            self.assertGreater(ks(a, b), 1e-5, name)

    def test_mistakes(self):
        image = v2.Compose([v2.Resize((8, 8)), v2.ToImage()])
        unwrapped = torchvision.datasets.VOCSegmentation(str(self.root), transforms=image)
        alone = wrapped(torchvision.datasets.VOCSegmentation(str(self.root), transform=image))
        for ds, message in (
            (unwrapped, "VOCSegmentation: want it in torchvision.datasets.wrap_dataset_for_transforms_v2, so that boxes and masks move"),
            (alone, "transform= and target_transform= change the image or the target alone: want transforms="),
            (self.voc(v2.Compose([v1.Resize((8, 8)), v2.ToImage()])), r"dataset.transforms\[0\]: Resize.*: it takes an image alone, and not its boxes"),
            (self.voc(v2.Compose([v2.SanitizeBoundingBoxes(labels_getter=None), v2.ToImage()])), "want labels_getter='default'"),
            (self.voc(v2.Compose([v2.RandAugment(), v2.Resize((8, 8)), v2.ToImage()])), "RandAugment"),
            (self.segmentation(v2.Compose([v2.Pad(2, fill=1), v2.Pad(2), v2.ToImage()])), "fills masks with 0, and a step before it with 1"),
            (self.segmentation(v2.Compose([v2.Pad(2, fill=(1, 2, 3)), v2.ToImage()])), r"fills masks with \[1, 2, 3\]: want one number, as fill={tv_tensors.Mask: 255"),
            (self.segmentation(v2.Compose([v2.RandomIoUCrop(), v2.ToImage()])), "it is for boxes: want a CocoDetection or a VOCDetection"),
            (wrapped(torchvision.datasets.VOCDetection(str(self.root), transforms=image), target_keys="all"), "target_keys='all': want boxes and labels"),
            (ConcatDataset([self.segmentation(image), numbered(3)]), r"datasets\[1\]: a sample has \['label'\], and one of the dataset before it \['mask'\]"),
        ):
            with self.assertRaisesRegex((TypeError, penstock.Error), message):
                penstock.DataLoader(ds)


class Files(unittest.TestCase):
    """penstock.Shards."""

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.images = [mosaic(os.path.join(self.folder.name, f"{k}.jpg"), k) and pathlib.Path(self.folder.name, f"{k}.jpg").read_bytes() for k in range(12)]
        self.transform = v2.Compose([v2.Resize((20, 30)), v2.ToImage(), v2.ToDtype(torch.float32, scale=True)])
        for shard in range(3):
            with tarfile.open(os.path.join(self.folder.name, f"train-{shard:04}.tar"), "w") as tar:
                for k in range(4 * shard, 4 * shard + 4):
                    for end, data in (("jpg", self.images[k]), ("cls", str(100 + k).encode())):
                        info = tarfile.TarInfo(f"{k:03}.{end}")
                        info.size = len(data)
                        tar.addfile(info, io.BytesIO(data))

    def check(self, ds, want=range(12)):
        images, labels = zip(*penstock.DataLoader(ds, batch_size=5))
        self.assertEqual(torch.cat(labels).tolist(), [100 + k for k in want])
        for image, k in zip(torch.cat(images), want):
            self.assertTrue(torch.equal(image, self.transform(PIL.Image.open(io.BytesIO(self.images[k])).convert("RGB"))))

    def test_tar_files_of_a_folder(self):
        index = os.path.join(self.folder.name, "index")
        for urls in (self.folder.name, os.path.join(self.folder.name, "train-{0000..0002}.tar"), [os.path.join(self.folder.name, f"train-000{k}.tar") for k in range(3)]):
            ds = penstock.Shards(urls, self.transform, index=index)
            self.assertEqual(len(ds), 12)
            self.check(ds)
        os.remove(os.path.join(self.folder.name, "train-0001.tar"))
        self.assertEqual(len(penstock.Shards(self.folder.name, self.transform, index=index)), 12)  # the index is not made anew
        self.check(Subset(ds, [1, -1]), [1, 11])

    def test_orders_of_shards(self):
        ds = penstock.Shards(self.folder.name, self.transform)
        orders = [flat(labels(penstock.DataLoader(ds, 5, shuffle=True, seed=seed))) for seed in (1, 1, 2)]
        self.assertEqual(sorted(orders[0]), [100 + k for k in range(12)])
        self.assertTrue(orders[0] == orders[1] != orders[2])
        self.check(ConcatDataset([ds, Subset(ds, [3])]), [*range(12), 3])
        alone = penstock.Shards(self.folder.name, self.transform, label="")
        (image,) = next(iter(penstock.DataLoader(alone, 3)))
        self.assertEqual(image.shape, (3, 3, 20, 30))
        self.assertEqual(next(iter(penstock.DataLoader(alone, 3, collate_fn=len))), 3)

    def test_addresses(self):
        handler = functools.partial(Ranges, directory=self.folder.name)
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        base = f"http://127.0.0.1:{server.server_port}"
        self.check(penstock.Shards(base + "/train-{0000..0002}.tar", self.transform))
        self.check(penstock.Shards([f"{base}/train-000{k}.tar?key=5" for k in (2, 0)], self.transform), [8, 9, 10, 11, 0, 1, 2, 3])
        self.check(penstock.Shards(base + "/train-{0001..0002}.tar?key=5", self.transform), range(4, 12))

        class Client:
            def generate_presigned_url(self, method, Params, ExpiresIn):
                return f"{base}/{Params['Key']}?bucket={Params['Bucket']}"

        boto3 = types.SimpleNamespace(client=lambda service: Client())
        with unittest.mock.patch.dict(sys.modules, boto3=boto3):
            self.check(penstock.Shards("s3://photos/train-{0000..0002}.tar", self.transform))
            self.check(penstock.Shards(["s3://photos/train-0000.tar", "s3://others/train-0000.tar"], self.transform), [0, 1, 2, 3] * 2)
        with unittest.mock.patch.dict(sys.modules, boto3=None), self.assertRaisesRegex(ImportError, "s3://photos/train.tar: boto3 signs"):
            penstock.Shards("s3://photos/train.tar")

    def test_mds_and_tfrecord(self):
        folder = pathlib.Path(__file__).resolve().parents[3] / "dataset" / "shards" / "testdata"  # the same photos in each
        n = sum(shard["samples"] for shard in json.loads((folder / "mds" / "index.json").read_text())["shards"])
        mds = penstock.Shards(folder / "mds", self.transform)
        records = penstock.Shards(folder / "tfrecord" / "train.tfrecord", self.transform, image="image", label="label")
        self.assertEqual((len(mds), len(records)), (n, n))
        (a, b), (c, d) = (next(iter(penstock.DataLoader(ds, batch_size=n))) for ds in (mds, records))
        self.assertTrue(len(a) == n and torch.equal(a, c) and torch.equal(b, d))

    def test_parquet(self):
        try:
            import pyarrow
            import pyarrow.parquet
        except ImportError:
            self.skipTest("no pyarrow")
        folder = os.path.join(self.folder.name, "parquet")
        os.mkdir(folder)
        for part in range(2):
            rows = range(6 * part, 6 * part + 6)
            table = pyarrow.table({"image": [{"bytes": self.images[k], "path": f"{k}.jpg"} for k in rows], "label": [100 + k for k in rows]})
            pyarrow.parquet.write_table(table, os.path.join(folder, f"train-{part}.parquet"))
        self.check(penstock.Shards(folder, self.transform))

    def test_mistakes(self):
        for urls, kind, message in (
            ([], ValueError, "want paths, or addresses"),
            (["a.tar", "https://h/b.tar"], ValueError, "want paths, or addresses"),
            ("photos.zip", ValueError, "want files with .tar, .tfrecord or .parquet in their names"),
            (["a.tar", "b.parquet"], ValueError, "files of the formats parquet, tar: want one format"),
            (os.path.join(self.folder.name, "none.tar"), penstock.Error, "none.tar"),
            (str(PHOTOS), FileNotFoundError, "want a folder with index.json, or with files that end with .parquet, .tar or .tfrecord"),
            (["https://a.org/1.tar", "https://b.org/2.tar"], ValueError, "want addresses of one server"),
            (["https://a.org/x.tar?part=1", "https://a.org/x.tar?part=2"], ValueError, "two addresses of a.org/x.tar: want names that differ before the ?"),
        ):
            with self.assertRaisesRegex(kind, message):
                penstock.Shards(urls)
        with self.assertRaisesRegex(TypeError, "dataset.transform: the transform gives PIL images"):
            penstock.DataLoader(penstock.Shards(self.folder.name))
        with self.assertRaisesRegex(penstock.Error, "label"):
            list(penstock.DataLoader(penstock.Shards(self.folder.name, self.transform, label="labels.txt")))


class Ranges(http.server.SimpleHTTPRequestHandler):
    """A server of files that knows ranges."""

    def do_GET(self):
        try:
            data = pathlib.Path(self.translate_path(self.path)).read_bytes()
        except OSError:
            return self.send_error(404)
        first, last, wanted = 0, len(data) - 1, self.headers.get("Range")
        if wanted:
            first, _, end = wanted.removeprefix("bytes=").partition("-")
            first, last = int(first), min(int(end or last), last)
        self.send_response(206 if wanted else 200)
        self.send_header("ETag", f'"{len(data)}"')
        self.send_header("Content-Length", str(last - first + 1))
        if wanted:
            self.send_header("Content-Range", f"bytes {first}-{last}/{len(data)}")
        self.end_headers()
        self.wfile.write(data[first : last + 1])

    def log_message(self, *_):
        pass


class Datasets(unittest.TestCase):
    def test_subsets_and_concatenations(self):
        a, b = folder(v1.Compose([v1.Resize((8, 8)), v1.ToTensor()])), folder(v1.Compose([v1.CenterCrop(8), v1.ToTensor()]))
        first, second = random_split(a, [10, len(a) - 10], torch.Generator().manual_seed(1))
        for ds in (first, second, ConcatDataset([second, b]), Subset(ConcatDataset([a, b]), [3, -1, 30, 40, 2]), Subset(Subset(b, [5, 6, 7]), (2, 0))):
            want = list(TorchLoader(ds, batch_size=4))
            got = list(penstock.DataLoader(ds, batch_size=4))
            self.assertEqual(len(got), len(want))
            for g, w in zip(got, want):
                self.assertTrue(torch.equal(g.image, w[0]) and torch.equal(g.label, w[1]))

    def test_damaged_files_are_named_or_skipped(self):
        ds = torchvision.datasets.ImageFolder(PHOTOS, v1.Compose([v1.CenterCrop(8), v1.ToTensor()]))
        with self.assertRaisesRegex(penstock.Error, "truncated.jpg"):
            labels(penstock.DataLoader(ds))
        self.assertEqual(len(flat(labels(penstock.DataLoader(ds, on_error="skip")))), len(ds) - 1)

    def test_no_images_are_no_batches(self):
        self.assertEqual(list(penstock.DataLoader(numbered(0), timeout=float("inf"))), [])

    def test_attributes_are_dataloaders(self):
        ds = numbered(10)
        loader = penstock.DataLoader(ds, 4, drop_last=True, pin_memory=True, persistent_workers=True, worker_init_fn=print, num_workers=2)
        self.assertEqual((len(loader), loader.batch_size, loader.dataset is ds, loader.drop_last), (2, 4, True, True))
        self.assertEqual(loader.info["samples"], 10)


    def test_collate_fn_gets_the_datasets_samples(self):
        ds = numbered(5)
        got = list(penstock.DataLoader(ds, 2, collate_fn=lambda samples: samples))
        self.assertEqual([[y for _, y in batch] for batch in got], [[0, 1], [2, 3], [4]])
        self.assertTrue(all(torch.equal(x, ds[y][0]) for batch in got for x, y in batch))
        mixup = v2.MixUp(num_classes=5)
        images, targets = next(iter(penstock.DataLoader(ds, 5, collate_fn=lambda samples: mixup(*torch.utils.data.default_collate(samples)))))
        self.assertEqual((images.shape, targets.shape), ((5, 3, 2, 2), (5, 5)))
        photos = folder(v1.ToTensor())
        images, targets = next(iter(penstock.DataLoader(photos, 3, collate_fn=lambda samples: tuple(zip(*samples)))))
        self.assertTrue(all(torch.equal(x, photos[i][0]) and y == photos[i][1] for i, (x, y) in enumerate(zip(images, targets))))
        self.assertEqual(len(pickle.loads(pickle.dumps(penstock.DataLoader(photos, 3, collate_fn=list)))), len(penstock.DataLoader(photos, 3, collate_fn=list)))


class Orders(unittest.TestCase):
    def test_shuffle_follows_the_seed(self):
        ds = numbered(20)
        seeded = lambda seed: penstock.DataLoader(ds, 6, shuffle=True, generator=torch.Generator().manual_seed(seed))
        one, again, other = seeded(1), seeded(1), seeded(2)
        first = labels(one)
        self.assertEqual(sorted(flat(first)), list(range(20)))
        self.assertEqual(labels(again), first)
        self.assertNotEqual(labels(other), first)
        self.assertNotEqual(labels(one), first)
        one.set_epoch(0)
        self.assertEqual(labels(one), first)
        torch.manual_seed(9)
        self.assertEqual(labels(penstock.DataLoader(ds, 6, True)), labels(penstock.DataLoader(ds, 6, True, seed=9)))

    def test_distributed_samplers_have_torchs_orders(self):
        ds = numbered(23)
        for shuffle in (True, False):
            for drop in (True, False):
                for rank in range(3):
                    sampler = DistributedSampler(ds, 3, rank, shuffle=shuffle, seed=7, drop_last=drop)
                    loader = penstock.DataLoader(ds, 4, sampler=sampler)
                    for epoch in (0, 1, 5):
                        sampler.set_epoch(epoch)
                        self.assertEqual(flat(labels(loader)), list(sampler), (shuffle, drop, rank, epoch))
                    self.assertEqual(flat(labels(penstock.DataLoader(ds, 4, sampler=sampler))), list(sampler))

    def test_samplers(self):
        ds = numbered(12)
        data = torch.utils.data
        self.assertEqual(flat(labels(penstock.DataLoader(ds, 5, sampler=data.SequentialSampler(ds)))), list(range(12)))
        for sampler in (data.RandomSampler(ds), data.SubsetRandomSampler(range(12))):
            order = flat(labels(penstock.DataLoader(ds, 5, sampler=sampler)))
            self.assertEqual(sorted(order), list(range(12)))
            self.assertNotEqual(order, list(range(12)))
        self.assertEqual(sorted(flat(labels(penstock.DataLoader(ds, 5, sampler=data.SubsetRandomSampler([2, 7, 9]))))), [2, 7, 9])
        many = flat(labels(penstock.DataLoader(ds, 50, sampler=data.RandomSampler(ds, replacement=True, num_samples=4000))))
        self.assertGreater(min(many.count(i) for i in range(12)), 250)
        weights = torch.arange(12.0)
        many = flat(labels(penstock.DataLoader(ds, 50, sampler=data.WeightedRandomSampler(weights, 6600))))
        for i in range(12):
            self.assertLess(abs(many.count(i) - 100 * i), 1 + 50 * i**0.5)
        once = flat(labels(penstock.DataLoader(ds, 5, sampler=data.WeightedRandomSampler(weights, 8, replacement=False))))
        self.assertEqual((len(set(once)), 0 in once), (8, False))
        order = [3, 1, 1, 0, 11]
        for sampler in (order, tuple(order), torch.tensor(order), numpy.array(order)):
            self.assertEqual(labels(penstock.DataLoader(ds, 2, sampler=sampler)), [[3, 1], [1, 0], [11]])
        self.assertEqual(labels(penstock.DataLoader(ds, 2, sampler=order, drop_last=True)), [[3, 1], [1, 0]])
        batches = [[0, 5, 2], [1], [11, 10]]
        self.assertEqual(labels(penstock.DataLoader(ds, batch_sampler=batches)), batches)
        cut = data.BatchSampler(data.SequentialSampler(ds), 5, drop_last=True)
        self.assertEqual(labels(penstock.DataLoader(ds, batch_sampler=cut)), [[0, 1, 2, 3, 4], [5, 6, 7, 8, 9]])

    def test_lengths_are_torchs(self):
        ds = numbered(23)
        data = torch.utils.data
        seeded = torch.Generator().manual_seed(5)
        for make in (
            lambda: {"batch_size": 4},
            lambda: {"batch_size": 4, "drop_last": True, "shuffle": True},
            lambda: {"batch_size": 4, "sampler": data.RandomSampler(ds, replacement=True, num_samples=9)},
            lambda: {"batch_size": 4, "drop_last": True, "sampler": data.WeightedRandomSampler(torch.ones(23), 50, generator=seeded)},
            lambda: {"batch_size": 4, "sampler": data.WeightedRandomSampler([1.0] * 23, 7, replacement=False)},
            lambda: {"batch_size": 4, "drop_last": True, "sampler": DistributedSampler(ds, 3, 1)},
            lambda: {"batch_size": 4, "sampler": DistributedSampler(ds, 3, 2, drop_last=True)},
            lambda: {"batch_size": 4, "drop_last": True, "sampler": data.SubsetRandomSampler([1, 5, 3, 8, 9])},
            lambda: {"batch_sampler": data.BatchSampler(data.RandomSampler(ds), 5, drop_last=False)},
            lambda: {"batch_sampler": data.BatchSampler(DistributedSampler(ds, 2, 0), 5, drop_last=True)},
            lambda: {"batch_sampler": [[1, 2], [3], [4, 4, 4]]},
        ):
            ours, theirs = penstock.DataLoader(ds, **make()), TorchLoader(ds, **make())
            self.assertEqual(len(ours), len(theirs), make())
            self.assertEqual([len(y) for _, y in ours], [len(y) for _, y in theirs], make())
            self.assertEqual(len(ours), len(theirs), make())

    def test_lists_of_batches_are_the_same_in_every_epoch(self):
        batches = [[3, 3, 0], [1], [5, 2]]
        loader = penstock.DataLoader(numbered(6), batch_sampler=batches, num_workers=2)
        for _ in range(3):
            self.assertEqual(labels(loader), batches)

    def test_seeds_of_samplers_generators(self):
        ds = numbered(30)
        data = torch.utils.data
        for make in (
            lambda g: data.RandomSampler(ds, generator=g),
            lambda g: data.RandomSampler(ds, replacement=True, num_samples=30, generator=g),
            lambda g: data.SubsetRandomSampler(range(30), generator=g),
            lambda g: data.WeightedRandomSampler(torch.ones(30), 30, generator=g),
            lambda g: data.WeightedRandomSampler(torch.ones(30), 20, replacement=False, generator=g),
        ):
            one, again, other = (flat(labels(penstock.DataLoader(ds, 7, sampler=make(torch.Generator().manual_seed(seed))))) for seed in (4, 4, 5))
            self.assertTrue(one == again != other, make(None))

    def test_states_and_pickles_go_on(self):
        loader = penstock.DataLoader(numbered(20), 6, shuffle=True, seed=3)
        every = labels(loader)
        loader.set_epoch(0)
        loop = iter(loader)
        next(loop)
        other = penstock.DataLoader(numbered(20), 6, shuffle=True, seed=3, num_workers=2)
        other.load_state_dict(loader.state_dict())
        self.assertEqual(labels(other), every[1:])
        self.assertEqual(labels(pickle.loads(pickle.dumps(loader))), every[1:])


class Mistakes(unittest.TestCase):
    def test_what_cannot_be_translated_is_named_before_the_first_batch(self):
        tensor = v1.ToTensor()
        for transform, message in (
            (v1.Lambda(abs), r"dataset.transform: Lambda\(\) \(torchvision.transforms.transforms.Lambda\): a function cannot be translated: apply it to the batches"),
            (v2.Compose([v2.Resize(8), v2.Lambda(abs), tensor]), r"dataset.transform\[1\]: .*v2._misc.Lambda.*: a function cannot"),
            (lambda image: image, r"dataset.transform: <function .*<lambda>.*: a function cannot be translated"),
            (None, "the transform gives PIL images, which are no batch: put ToTensor"),
            (v2.Resize(8), "the transform gives PIL images"),
            (v2.Compose([v2.ToImage(), v2.ColorJitter(0.5)]), r"transform\[1\]: .*computes with tensors, whose pixels are not those of PIL images: put it before"),
            (v2.Compose([v2.ToImage(), v1.Resize(8)]), r"transform\[1\]: .*resizes tensors in float32: take that of torchvision.transforms.v2"),
            (v2.Compose([v2.ToImage(), v2.Resize(8, antialias=False)]), "antialias=False: want True"),
            (v2.Compose([v2.ToImage(), v2.Resize(8, v2.InterpolationMode.NEAREST)]), "of tensors want interpolation BILINEAR, BICUBIC or LANCZOS"),
            (v2.Compose([v2.ToImage(), v2.ToDtype(torch.float32, scale=True), v2.Resize(8)]), "computes with floats, .*put it before the conversion to float32"),
            (v1.Compose([tensor, v1.ColorJitter(0.5)]), "computes with floats, whose values are others"),
            (v1.Compose([tensor, v1.Normalize([0.5], [0.5]), v1.RandomCrop(4, padding=2)]), "after Normalize.. it pads with 0"),
            (v1.Compose([v1.RandomErasing(), tensor]), "it is for tensors: put ToTensor"),
            (v2.Compose([v2.Normalize([0.5], [0.5]), tensor]), "it is for tensors"),
            (v2.Compose([v2.ToImage(), v2.Normalize([0.5], [0.5])]), "want float32 before it"),
            (v1.Compose([v1.FiveCrop(4), tensor]), r"torchvision gives it a tuple of crops: want torchvision.transforms.Lambda\(torch.stack\)"),
            (v2.Compose([v2.FiveCrop(4), v2.ToImage()]), "the transform gives a tuple of crops: put torchvision.transforms.Lambda"),
            (v2.Compose([v2.FiveCrop(4), v2.RandomInvert(), v2.ToImage()]), "want it before FiveCrop"),
            (types.SimpleNamespace(transforms=v1.Compose([tensor])), r"if all that it does are its transforms, give those: SimpleNamespace\(…\).transforms"),
            (v2.Compose([v2.RandomApply([tensor])]), "want only steps in it that change the image"),
            (v2.Compose([v2.ElasticTransform([3.0, 4.0]), tensor]), "want one number for both axes"),
            (v2.Compose([v2.AugMix(mixture_width=5), tensor]), "AugMix.mixture_width: want 3, which is all that there is, not 5"),
            (v2.Compose([v2.Pad(2, fill=0.5), tensor]), "Pad.*whole numbers from 0 to 255"),
            (tensor, "the size varies from image to image"),
            (torchvision.models.detection.FasterRCNN_ResNet50_FPN_Weights.COCO_V1.transforms(), "the size varies from image to image"),
            (torchvision.models.video.R3D_18_Weights.DEFAULT.transforms(), "for segmentation and for detection are translated"),
            (v2.Compose([v2.SanitizeBoundingBoxes(), tensor]), "it is for boxes: want a CocoDetection"),
        ):
            with self.assertRaisesRegex((TypeError, penstock.Error), message):
                penstock.DataLoader(folder(transform))
            if message != "the size varies from image to image":
                with self.assertRaisesRegex((TypeError, penstock.Error), message.replace("dataset.", "")):
                    penstock.explain(transform)

    def test_datasets_samplers_and_arguments_that_are_not_known(self):
        ds = numbered(6)

        class Mine(torchvision.datasets.CIFAR10):
            def __getitem__(self, i):
                return 0, 0

        mine = Mine.__new__(Mine)
        mine.data, mine.targets = ds.data, ds.targets
        for dataset, options, kind, message in (
            (mine, {}, TypeError, "dataset: .*Mine: datasets that work are torchvision's ImageFolder"),
            (ConcatDataset([ds, mine]), {}, TypeError, r"dataset.datasets\[1\]: .*Mine"),
            (object(), {}, TypeError, "dataset: builtins.object: datasets that work"),
            (folder(v1.ToTensor(), loader=open), {}, TypeError, "want torchvision's default loader"),
            (ds, {"collate_fn": 3}, TypeError, "collate_fn=3: want a function of a list of samples"),
            (ds, {"sampler": iter([1])}, TypeError, "sampler: .*: samplers that work"),
            (ds, {"sampler": [1, 6]}, ValueError, "sampler: index 6: want 0 to 5"),
            (ds, {"sampler": [1], "shuffle": True}, ValueError, "want no shuffle beside it"),
            (ds, {"batch_sampler": [[1], ["a"]]}, TypeError, r"batch_sampler\[1\]: want indices"),
            (ds, {"batch_sampler": [[1]], "batch_size": 2}, ValueError, "batch_sampler: want no batch_size"),
            (ds, {"batch_size": None}, ValueError, "batch_size=None: want a number"),
            (ds, {"batch_size": 0}, ValueError, "batch_size=0: want 1 or more"),
            (ds, {"num_workers": -1}, ValueError, "num_workers=-1: want 0 or more"),
            (ds, {"drop_last": "no"}, TypeError, "drop_last='no': want True or False"),
            (ds, {"sampler": DistributedSampler(range(9), 2, 0)}, ValueError, "it is for 9 samples: want 6"),
            (ds, {"sampler": torch.utils.data.WeightedRandomSampler([1.0, 2.0], 2)}, ValueError, "2 weights: want 6"),
            (ds, {"bach_size": 3}, TypeError, "bach_size"),
        ):
            with self.assertRaisesRegex(kind, message):
                penstock.DataLoader(dataset, **options)

    def test_explain_prints_the_plan(self):
        out = io.StringIO()
        penstock.explain(v2.Compose([v2.Resize(40), v2.CenterCrop(32), v2.ToImage(), v2.ToDtype(torch.float32, scale=True)]), file=out)
        self.assertRegex(out.getvalue(), r"(?s)image float32 \(3, 32, 32\).*resample .*Resize\(40.*\), CenterCrop\(\[32 32.*store .*ToDtype")


if __name__ == "__main__":
    unittest.main()
