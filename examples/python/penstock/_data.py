"""DataLoader, which takes the datasets and samplers of torch and torchvision."""

from __future__ import annotations

import json
import math
import os
import re
import subprocess
import sys
import urllib.parse
import warnings
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Literal, TextIO

import numpy

from . import Error, Loader, Ragged, _arguments, _config_files, _named, _program
from ._steps import class_of, translated, translated_with

_DATASETS = (
    "datasets that work are torchvision's ImageFolder, CIFAR10, CIFAR100, MNIST, FashionMNIST, KMNIST and EMNIST, CocoDetection, VOCDetection and "
    "VOCSegmentation in wrap_dataset_for_transforms_v2, penstock.Shards, and Subset, ConcatDataset and random_split of these; for another one keep "
    "torch.utils.data.DataLoader, or write its loop in Go, for penstock.Loader"
)
_SAMPLERS = (
    "samplers that work are torch's SequentialSampler, RandomSampler, SubsetRandomSampler, WeightedRandomSampler and DistributedSampler, and lists of "
    "indices: sampler=list(sampler) has the same order in every epoch"
)


class DataLoader(Loader):
    """torch.utils.data.DataLoader for torchvision's datasets of images, with the work done in Go.

    Arguments are those of torch's DataLoader. The dataset's transform is translated, and what cannot be is a TypeError here. A batch is a
    named tuple: (image, label), or (image, mask), or for boxes (image, image_id, boxes, labels), in which what varies in size is Ragged.

    collate_fn: called in this process with a list of samples, which are those of the dataset; images of any size can be in it
    num_workers: goroutines that assemble batches; 0: one per processor
    prefetch_factor: batches per worker ahead of the loop; None: 2, or less where that takes over 2 GiB
    generator: its seed (initial_seed) is that of the order and of random steps; seed: a number in place of it
    timeout: seconds to wait for a batch; 0: for ever
    on_error: "stop" at or "skip" damaged images; max_errors: how many, -1: any number
    pin_memory: copy into page-locked memory, where torch finds an accelerator
    copy: tensors in memory of their own

    The dataset is read here: later changes to it, and to its transform, need another DataLoader.

    Every loop has an order and random steps of its own, those of the epoch after the last one, or of set_epoch. After set_epoch of a
    DistributedSampler the loop has its epoch.

    persistent_workers, worker_init_fn, multiprocessing_context, pin_memory_device and in_order mean nothing here: there are no worker
    processes, and batches always come in order.
    """

    @_named
    def __init__(
        self,
        dataset: Any,
        batch_size: int = 1,
        shuffle: bool | None = None,
        sampler: Any = None,
        batch_sampler: Any = None,
        num_workers: int = 0,
        collate_fn: Callable[..., Any] | None = None,
        pin_memory: bool = False,
        drop_last: bool = False,
        timeout: float = 0,
        worker_init_fn: Callable[[int], None] | None = None,
        multiprocessing_context: Any = None,
        generator: Any = None,
        *,
        prefetch_factor: int | None = None,
        persistent_workers: bool = False,
        pin_memory_device: str = "",
        in_order: bool = True,
        seed: int | None = None,
        on_error: Literal["stop", "skip"] = "stop",
        max_errors: int = -1,
        copy: bool = False,
    ) -> None:
        usual = (None, _torch("torch.utils.data", "default_collate"), _torch("torch.utils.data.dataloader", "default_collate"))
        collate_fn = None if collate_fn in usual else collate_fn
        if collate_fn is not None and not callable(collate_fn):
            raise TypeError(f"collate_fn={collate_fn!r}: want a function of a list of samples, or None")
        if batch_sampler is not None and (batch_size != 1 or shuffle or sampler is not None or drop_last):
            raise ValueError("batch_sampler: want no batch_size, shuffle, sampler and drop_last beside it")
        if sampler is not None and shuffle:
            raise ValueError("sampler: want no shuffle beside it")
        if batch_size is None and batch_sampler is None:
            raise ValueError("batch_size=None: want a number: batches are made here, not by the dataset")
        if type(batch_sampler) is _torch("torch.utils.data", "BatchSampler"):
            batch_size, drop_last, sampler, batch_sampler = batch_sampler.batch_size, batch_sampler.drop_last, batch_sampler.sampler, None
        if generator is not None and not hasattr(generator, "initial_seed"):
            raise TypeError(f"generator={generator!r}: want a torch.Generator, or a number as seed=")
        if not hasattr(dataset, "__len__"):
            raise TypeError(f"dataset: {class_of(dataset)}: {_DATASETS}")
        n = len(dataset)
        order = _Order(n, shuffle, sampler, generator)
        flags = _arguments(
            choices={"on_error": on_error, "uneven": order.uneven},
            flags={"shuffle": order.shuffled, "drop_last": drop_last},
            numbers={
                "batch_size": (batch_size, 1),
                "num_workers": (num_workers, 0),
                "prefetch_factor": (0 if prefetch_factor is None else prefetch_factor, 0),
                "seed": (order.seed % 2**64 if seed is None else seed, 0),
                "rank": (order.rank, 0),
                "num_replicas": (order.world, 1),
                "max_errors": (max_errors, -1),
                "timeout": (timeout, 0.0),
            },
        )
        if not flags["num_workers"]:
            del flags["num_workers"]
        found = _Found()
        config = {"parts": found.parts(dataset, order.only, "dataset"), **order.config}
        self._target = found.target
        if order.shuffled and type(dataset) is Shards and order.only is None:
            config["order"] = "grouped"
        config["varying"] = collate_fn is not None or "boxes" in self._target["fields"]
        if batch_sampler is not None:
            config["batches"] = _batches(batch_sampler, n)
        elif order.listed is not None:
            batches = [order.listed[k : k + batch_size] for k in range(0, len(order.listed), batch_size)]
            config["batches"] = [batch for batch in batches if not drop_last or len(batch) == batch_size]
        self._config = config, found.arrays
        super().__init__(_program(), copy=copy, pin_memory=pin_memory, **flags)
        self.dataset, self.batch_size, self.sampler, self._batches = dataset, batch_size, sampler, batch_sampler
        self.num_workers, self.drop_last, self.collate_fn = num_workers, drop_last, collate_fn
        self._sampler_epoch = 0 if hasattr(sampler, "epoch") else None  # with set_epoch before this, the first loop has that epoch

    @property
    def batch_sampler(self) -> Any:  # accelerate's skip_first_batches would make a DataLoader of torch with one, or with None
        raise AttributeError(
            "batch_sampler: the batches are made in Go: go on in an epoch with load_state_dict(), and with transformers' Trainer set ignore_data_skip=True"
        )

    def __setattr__(self, name: str, value: Any) -> None:
        if name in ("dataset", "batch_size", "sampler", "batch_sampler", "num_workers", "drop_last", "collate_fn") and hasattr(self, "_sampler_epoch"):
            raise ValueError(f"{name} cannot be changed: make another DataLoader with {name}={value!r}")
        super().__setattr__(name, value)

    def __iter__(self) -> Iterator[Any]:
        world = _world() if self.sampler is None and self._batches is None else 1
        if world > 1:
            warnings.warn(
                f"each of the {world} processes of torch.distributed has all samples of this DataLoader: "
                "pass sampler=DistributedSampler(dataset), or SequentialSampler(dataset) if that is meant",
                stacklevel=2,
            )
        epoch = getattr(self.sampler, "epoch", None)
        if epoch != self._sampler_epoch:  # its set_epoch was called
            self._sampler_epoch = epoch
            self.set_epoch(epoch)
        yield from super().__iter__()

    def _tensors(self, batch):
        batch = super()._tensors(batch)
        if self.collate_fn is not None:
            return self.collate_fn(_samples(batch, self._target))
        if "mask" in batch._fields and hasattr(batch.mask, "shape"):  # torchvision's masks have a channel
            batch = batch._replace(mask=batch.mask[:, None])
        return batch


# Formats of files with many samples, and their usual columns of images and labels.
_FORMATS = {
    "tar": (("jpg", "jpeg", "png", "webp"), "cls"),
    "mds": (("image",), "label"),
    "parquet": (("image",), "label"),
    "tfrecord": (("image/encoded",), "image/class/label"),
}


class Shards:
    """Images in files of many samples each, as a dataset for DataLoader: tar files of WebDataset, MDS, TFRecord and Parquet.

    urls: one or a list of paths and patterns of them, folders, or addresses of https://, http:// and s3://. {0000..0146} stands for all
        numbers. Names end with .tar, .tfrecord, .parquet or, for MDS, index.json. boto3 signs addresses of s3://
    transform: as that of torchvision's datasets
    image, label: columns, such as "jpg" and "cls" in tar files; label="": none. Labels are whole numbers
    index: a file that says where samples are. If it is not there, all shards are read once, and it is written

    With shuffle=True, blocks of samples come in a random order, and those of eight blocks are mixed.
    """

    @_named
    def __init__(
        self,
        urls: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
        transform: Any = None,
        *,
        image: str | Sequence[str] | None = None,
        label: str | None = None,
        index: str | os.PathLike[str] | None = None,
    ) -> None:
        self.transform = transform
        source = _source([os.fspath(url) for url in ([urls] if isinstance(urls, (str, os.PathLike)) else urls)])
        images, labels = _FORMATS[source["format"]]
        source["image"] = list(images) if image is None else [image] if isinstance(image, str) else list(image)
        source["label"] = labels if label is None else label
        known = None
        if index is not None and os.path.exists(index):
            with open(index, "rb") as file:
                known = file.read()
        part = {"shards": source, "array": 0} if known else {"shards": source}
        with _config_files(({"parts": [part]}, [numpy.frombuffer(known, numpy.uint8)] if known else [])) as (flags, fds):
            done = subprocess.run([_program(), "-scan", *flags], pass_fds=fds, capture_output=True)
        if done.returncode:
            raise Error(done.stderr.decode(errors="replace").strip())
        samples, _, found = done.stdout.partition(b"\n")
        if index is not None and not known:
            with open(f"{index}.{os.getpid()}", "wb") as file:
                file.write(found)
            os.replace(file.name, index)
        self._source, self._samples, self._index = source, int(samples), numpy.frombuffer(found, numpy.uint8)

    def __len__(self) -> int:
        return self._samples


def _source(urls):
    """Where files of many samples are: a folder or an address, and names in it, or an address of each name."""
    addresses, signed = [url for url in urls if "://" in url], None
    if not urls or addresses and len(addresses) != len(urls):
        raise ValueError(f"urls={urls!r}: want paths, or addresses")
    if not addresses:
        urls = [_of_folder(os.path.abspath(url)) for url in urls]
    elif any("?" in url or url.startswith("s3://") for url in urls):
        urls, signed = [each for url in urls for each in _expanded(url)], {}
    else:
        urls = [url + "index.json" if url.endswith("/") else url for url in urls]
    formats = {_format_of(url) for url in urls}
    if len(formats) > 1:
        raise ValueError(f"urls: files of the formats {', '.join(sorted(formats))}: want one format")
    source = {"format": formats.pop()}
    if signed is not None:
        if source["format"] == "mds":
            raise ValueError("urls: the files that an index.json names have addresses of their own: want MDS in a folder, or at an address that needs no signature")
        for url in urls:
            parts = urllib.parse.urlsplit(url)
            name = f"{parts.hostname}{parts.path}"
            if name in signed:
                raise ValueError(f"urls: two addresses of {name}: want names that differ before the ?")
            signed[name] = _signed(url)
        return {**source, "base": "", "names": list(signed), "urls": signed}
    fixed = [re.split(r"[{*?\[]", url)[0].rpartition("/")[0] for url in urls]
    base = os.path.commonprefix([folder + "/" for folder in fixed]).rpartition("/")[0]
    if base.count("/") < 2 and addresses:
        raise ValueError(f"urls={urls!r}: want addresses of one server")
    return {**source, "base": base or "/", "names": [url[len(base) + 1 :] for url in urls]}


def _of_folder(path):
    """The files of a folder, or the path itself if it is none."""
    if not os.path.isdir(path):
        return path
    names = os.listdir(path)
    if "index.json" in names:
        return os.path.join(path, "index.json")
    for end in (".parquet", ".tar", ".tfrecord"):
        if any(name.endswith(end) for name in names):
            return os.path.join(path, "*" + end)
    raise FileNotFoundError(f"urls={path!r}: want a folder with index.json, or with files that end with .parquet, .tar or .tfrecord")


def _format_of(url):
    name = url.partition("?")[0].rpartition("/")[2]
    for end, of in ((".tar", "tar"), ("index.json", "mds"), (".parquet", "parquet"), (".tfrecord", "tfrecord")):
        if end in name:
            return of
    raise ValueError(f"urls={url!r}: want files with .tar, .tfrecord or .parquet in their names, or an index.json")


def _expanded(url):
    """The addresses that {0..3} and {a,b} in one stand for."""
    found = re.search(r"\{([^{}]*)\}", url)
    if not found:
        return [url]
    span = re.fullmatch(r"(\d+)\.\.(\d+)", found[1])
    texts = [str(k).zfill(len(span[1])) for k in range(int(span[1]), int(span[2]) + 1)] if span else found[1].split(",")
    return [each for text in texts for each in _expanded(url[: found.start()] + text + url[found.end() :])]


def _signed(url):
    """An address that anybody can read: that of an object of S3 is signed with the program's credentials, for as long as they allow."""
    if not url.startswith("s3://"):
        return url
    try:
        import boto3
    except ImportError:
        raise ImportError(f"{url}: boto3 signs its address: install boto3, or give addresses of https://") from None
    bucket, _, key = url[len("s3://") :].partition("/")
    if any(c in key for c in "*?["):
        raise ValueError(f"{url}: want {{0000..0146}} or a list of addresses, and no patterns")
    return boto3.client("s3").generate_presigned_url("get_object", Params={"Bucket": bucket, "Key": key}, ExpiresIn=7 * 24 * 3600)


@_named
def explain(transform: Any, *, grey: bool = False, file: TextIO | None = None) -> None:
    """Prints the plan of a transform: what is done to an image, and what the batch has. grey: of images with one channel, as MNIST's.

    A transform that cannot be translated is a TypeError that names what cannot.
    """
    part = translated(transform, grey)
    with _config_files(({"parts": [part]}, [])) as (flags, fds):
        done = subprocess.run([_program(), "-explain", *flags], pass_fds=fds, capture_output=True, text=True)
    if done.returncode:
        raise Error(done.stderr.strip())
    print(done.stdout.rstrip(), file=file)


def _world():
    """The processes of torch.distributed, 1 if it is not begun."""
    distributed = sys.modules.get("torch.distributed")
    return distributed.get_world_size() if distributed and distributed.is_available() and distributed.is_initialized() else 1


def _torch(module, name):
    """A class of a module, or None if the program has not imported it: then no object is one."""
    return getattr(sys.modules.get(module), name, None)


def _reads(dataset, module, name, *methods):
    """Whether the dataset is one of a class, or of one that is made of it and reads samples in the same way."""
    known = _torch(module, name)
    return known is not None and isinstance(dataset, known) and all(
        getattr(type(dataset), method) is getattr(known, method) for method in ("__getitem__", *methods)
    )


class _Found:
    """What a dataset is made of: parts with steps of their own, arrays, and what a sample has beside its image."""

    def __init__(self):
        self.arrays, self.target = [], None

    def parts(self, dataset, indices, place):
        """The dataset, or its samples at these indices."""
        if _reads(dataset, "torch.utils.data", "Subset"):
            inner = list(map(int, dataset.indices))
            return self.parts(dataset.dataset, inner if indices is None else [inner[i] for i in indices], f"{place}.dataset")
        if _reads(dataset, "torch.utils.data", "ConcatDataset"):
            if indices is None:
                return [part for k, each in enumerate(dataset.datasets) for part in self.parts(each, None, f"{place}.datasets[{k}]")]
            return self.chosen(dataset, indices, place)
        if type(dataset) is Shards:
            return self.shards(dataset, indices, place)
        n = len(dataset)
        rows = range(n) if indices is None else _rows(indices, n, place)
        wrapped = _reads(dataset, "torchvision.tv_tensors._dataset_wrapper", "VisionDatasetTVTensorWrapper")
        part, target = self.wrapped(dataset, rows, place) if wrapped else (None, None)
        if part is None:
            part, target = self.labelled(dataset._dataset if wrapped else dataset, dataset, rows, place)
        return self.add(part, target, place)

    def add(self, part, target, place):
        if self.target not in (None, target):
            raise TypeError(f"{place}: a sample has {target['fields']}, and one of the dataset before it {self.target['fields']}: want the same of all")
        self.target = target
        return [part]

    def shards(self, dataset, indices, place):
        """Files of many samples each."""
        try:
            steps = translated(dataset.transform)
        except TypeError as e:
            raise TypeError(f"{place}.{e}") from None
        part = {"shards": dataset._source, "array": self.array(dataset._index), **steps}
        if indices is not None:
            part["rows"] = _rows(indices, len(dataset), place)
        return self.add(part, {"fields": ["label"] if dataset._source["label"] else []}, place)

    def chosen(self, dataset, indices, place):
        """Samples of a ConcatDataset: one part per run of indices of the same dataset."""
        ends, runs = dataset.cumulative_sizes, []
        for i in _rows(indices, len(dataset), place):
            k = int(numpy.searchsorted(ends, i, side="right"))
            if not runs or runs[-1][0] != k:
                runs.append((k, []))
            runs[-1][1].append(i - (ends[k - 1] if k else 0))
        if len(runs) > 1000:
            raise TypeError(f"{place}: a Subset that changes between the datasets of a ConcatDataset {len(runs)} times: want Subsets in a ConcatDataset")
        return [part for k, inner in runs for part in self.parts(dataset.datasets[k], inner, f"{place}.datasets[{k}]")]

    def labelled(self, dataset, outer, rows, place):
        """Images with whole numbers as targets. The transforms are those of outer, which may wrap the dataset."""
        if _reads(dataset, "torchvision.datasets.folder", "DatasetFolder"):
            folder = sys.modules["torchvision.datasets.folder"]
            if dataset.loader not in (folder.default_loader, folder.pil_loader) or folder.default_loader is dataset.loader and _backend() != "PIL":
                raise TypeError(f"{place}: loader={dataset.loader!r}: want torchvision's default loader, with PIL")
            samples = [dataset.samples[i] for i in rows]
            part, labels, grey = {"paths": [os.path.abspath(path) for path, _ in samples]}, [y for _, y in samples], False
        elif _reads(dataset, "torchvision.datasets.cifar", "CIFAR10") or _reads(dataset, "torchvision.datasets.mnist", "MNIST"):
            data = numpy.ascontiguousarray(dataset.data)
            if data.dtype != numpy.uint8 or data.ndim not in (3, 4) or len(data) != len(dataset.targets):
                raise TypeError(f"{place}: its data is {data.dtype} {data.shape}: want uint8 images, and as many targets")
            targets = numpy.asarray(dataset.targets)
            part, labels = {"array": self.array(data), "shape": data.shape[1:], "rows": list(rows)}, [int(targets[i]) for i in rows]
            grey = data.ndim == 3
        else:
            known = ("coco", "CocoDetection"), ("voc", "VOCDetection"), ("voc", "VOCSegmentation")
            if dataset is outer and any(_reads(dataset, f"torchvision.datasets.{module}", name) for module, name in known):
                raise TypeError(
                    f"{place}: {class_of(dataset)}: want it in torchvision.datasets.wrap_dataset_for_transforms_v2, so that boxes and masks move with "
                    "their images"
                )
            raise TypeError(f"{place}: {class_of(dataset)}: {_DATASETS}")
        change = outer.target_transform
        if change is not None:
            labels = [change(y) for y in labels]
        if not all(isinstance(y, (int, numpy.integer)) for y in labels):
            raise TypeError(f"{place}: the target_transform does not give whole numbers: map the labels in the loop")
        try:
            steps = translated(outer.transform, grey)
        except TypeError as e:
            raise TypeError(f"{place}.{e}") from None
        return {**part, "labels": [int(y) for y in labels], **steps}, {"fields": ["label"]}

    def array(self, data):
        """The number of an array that the program gets beside the configuration."""
        self.arrays.append(data)
        return len(self.arrays) - 1

    def wrapped(self, dataset, rows, place):
        """A data set in wrap_dataset_for_transforms_v2: the part, and what a sample has, or None if it has no boxes and no mask."""
        inner, keys = dataset._dataset, dataset._target_keys
        if _reads(inner, "torchvision.datasets.coco", "CocoDetection", "_load_image", "_load_target"):
            read, known, usual = self.coco, ("image_id", "boxes", "labels", "masks"), ("image_id", "boxes", "labels")
        elif _reads(inner, "torchvision.datasets.voc", "VOCDetection"):
            read, known, usual = self.voc, ("boxes", "labels"), ("boxes", "labels")
        elif _reads(inner, "torchvision.datasets.voc", "VOCSegmentation"):
            read, known, usual = self.segmented, ("mask",), ("mask",)
        else:
            return None, None
        fields = [key for key in known if key in (usual if keys is None else keys)]
        needed = {"boxes", "labels"} & set(known)
        if keys is not None and (keys == "all" or not needed <= set(keys) <= set(known)):
            raise TypeError(f"{place}: target_keys={keys!r}: want boxes and labels, and no others than {', '.join(known)}")
        if dataset.transform is not None or dataset.target_transform is not None:
            raise TypeError(f"{place}: transform= and target_transform= change the image or the target alone: want transforms=, which changes both")
        try:
            steps, pure, form = translated_with(dataset.transforms, *(key for key in fields if key in ("boxes", "masks", "mask")))
        except TypeError as e:
            raise TypeError(f"{place}.{e}") from None
        return {**read(inner, rows, fields, place), **steps}, {"fields": fields, "pure": pure, "format": form}

    def coco(self, dataset, rows, fields, _):
        """Its images and annotations, as a file of COCO's format."""
        ids = sorted(set(dataset.ids))
        images, annotations, categories = [], [], set()
        for i in ids:
            image = dataset.coco.imgs[i]
            name = os.path.abspath(os.path.join(dataset.root, image["file_name"]))[1:]
            images.append({"id": i, "file_name": name, "height": image.get("height", 0), "width": image.get("width", 0)})
            for a in dataset.coco.loadAnns(dataset.coco.getAnnIds(i)):
                categories.add(a["category_id"])
                keys = ("id", "category_id", "bbox", "segmentation") if "masks" in fields else ("id", "category_id", "bbox")
                annotations.append({"image_id": i, **{key: a[key] for key in keys}})
        text = {"images": images, "annotations": annotations, "categories": [{"id": c, "name": str(c)} for c in sorted(categories)]}
        where = {i: k for k, i in enumerate(ids)}
        file = numpy.frombuffer(json.dumps(text).encode(), numpy.uint8)
        return {"coco": True, "array": self.array(file), "fields": fields, "rows": [where[dataset.ids[i]] for i in rows]}

    def voc(self, dataset, rows, fields, place):
        """Its folder, in which its lists of files have to be those of the set."""
        root = os.path.dirname(os.path.dirname(os.path.abspath(dataset.images[0])))
        with open(os.path.join(root, "ImageSets", "Main", dataset.image_set + ".txt")) as file:
            names = [line.strip() for line in file]
        want = [(os.path.join(root, "JPEGImages", name + ".jpg"), os.path.join(root, "Annotations", name + ".xml")) for name in names]
        have = [(os.path.abspath(a), os.path.abspath(b)) for a, b in zip(dataset.images, dataset.targets)]
        where = {files: k for k, files in enumerate(want)}
        if not set(have) <= set(where):
            raise TypeError(f"{place}: its images and targets are not files of the set {dataset.image_set!r} in {root}")
        return {"voc": root, "set": dataset.image_set, "fields": fields, "rows": [where[have[i]] for i in rows]}

    def segmented(self, dataset, rows, *_):
        """Its files of images and masks."""
        return {name: [os.path.abspath(files[i]) for i in rows] for name, files in (("paths", dataset.images), ("masks", dataset.targets))}


def _samples(batch, target):
    """The samples of a batch as the dataset gives them: an image, and what belongs to it."""
    from torchvision import tv_tensors

    def part(field, r):
        value = getattr(batch, field)
        return value.values[value.offsets[r] : value.offsets[r + 1]] if isinstance(value, Ragged) else value[r]

    samples = []
    for r in range(len(batch[0].offsets) - 1 if isinstance(batch[0], Ragged) else len(batch[0])):
        image = part("image", r)
        if "size" in batch._fields:
            image = image.reshape(-1, *batch.size[r].tolist())
        size = tuple(image.shape[-2:])
        of = {field: part(field, r) for field in target["fields"]}
        for field in {"label", "image_id"} & set(of):
            of[field] = int(of[field])
        for field in {"mask", "masks"} & set(of):
            of[field] = of[field].reshape(-1, *size)
            if not target["pure"]:
                of[field] = tv_tensors.Mask(of[field])
        if "boxes" in of and not target["pure"]:
            of["boxes"] = tv_tensors.BoundingBoxes(of["boxes"], format=target["format"], canvas_size=size)
        samples.append((image, of if "boxes" in of else next(iter(of.values()))) if of else image)
    return samples


def _backend():
    return sys.modules["torchvision"].get_image_backend()


def _rows(indices, n, place):
    """Indices of n samples, of which those below 0 count from the end."""
    for i in indices:
        if not -n <= i < n:
            raise IndexError(f"{place}: index {i}: want {-n} to {n - 1}")
    return [i % n for i in indices]


class _Order:
    """What shuffle and sampler say: the configuration, and the flags."""

    def __init__(self, n, shuffle, sampler, generator):
        self.config, self.only, self.listed = {}, None, None
        self.shuffled, self.rank, self.world, self.uneven = bool(shuffle), 0, 1, "pad"
        generator = getattr(sampler, "generator", None) or generator
        torch = sys.modules.get("torch")
        self.seed = generator.initial_seed() if generator is not None else torch.initial_seed() if torch else 0
        kinds = ("SequentialSampler", "RandomSampler", "SubsetRandomSampler", "WeightedRandomSampler")
        own = next((k for k in kinds if type(sampler) is _torch("torch.utils.data", k)), None)
        distributed = type(sampler) is _torch("torch.utils.data.distributed", "DistributedSampler")
        if distributed or own in ("SequentialSampler", "RandomSampler"):
            of = len(sampler.dataset if distributed else sampler.data_source)
            if of != n:
                raise ValueError(f"sampler: it is for {of} samples: want {n}")
        if sampler is None or own == "SequentialSampler":
            pass
        elif own == "RandomSampler" and sampler.replacement:
            self.config = {"order": "random", "draws": sampler.num_samples}
        elif own == "RandomSampler":
            if sampler.num_samples != n:
                raise ValueError(f"sampler: num_samples={sampler.num_samples} without replacement: want {n}, or replacement=True")
            self.shuffled = True
        elif own == "SubsetRandomSampler":
            self.only, self.shuffled = [int(i) for i in sampler.indices], True
        elif own == "WeightedRandomSampler":
            if len(sampler.weights) != n:
                raise ValueError(f"sampler: {len(sampler.weights)} weights: want {n}, one per sample")
            order, weights = "weighted" if sampler.replacement else "weighted once", sampler.weights.tolist()
            for i, weight in enumerate(weights):
                if not math.isfinite(weight):
                    raise ValueError(f"sampler: the weight of sample {i} is {weight}: want a finite number")
            self.config = {"order": order, "draws": sampler.num_samples, "weights": weights}
        elif distributed:
            self.config = {"order": "distributed"} if sampler.shuffle else {}
            self.seed, self.rank, self.world = sampler.seed, sampler.rank, sampler.num_replicas
            self.uneven = "drop" if sampler.drop_last else "pad"
        elif isinstance(sampler, (list, tuple, range)) or hasattr(sampler, "tolist"):
            self.listed = _indices(sampler.tolist() if hasattr(sampler, "tolist") else sampler, n, "sampler")
        else:
            raise TypeError(f"sampler: {class_of(sampler)}: {_SAMPLERS}")


def _indices(some, n, name):
    try:
        some = [int(i) for i in some]
    except (TypeError, ValueError):
        raise TypeError(f"{name}: want indices") from None
    for i in some:
        if not 0 <= i < n:
            raise ValueError(f"{name}: index {i}: want 0 to {n - 1}")
    return some


def _batches(batches, n):
    if not isinstance(batches, (list, tuple)) or not batches:
        raise TypeError("batch_sampler: want a list of lists of indices, such as list(batch_sampler), which is the same in every epoch")
    return [_indices(batch, n, f"batch_sampler[{k}]") for k, batch in enumerate(batches)]
