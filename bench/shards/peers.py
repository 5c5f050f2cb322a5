"""The sides of bench/shards in Python. `peers.py pack WEB` writes the tar shards' photos as MDS,
`peers.py SIDE URL SCRATCH WORKERS EPOCHS SHARDS` measures a side and prints a line of JSON per epoch."""

import importlib.machinery
import io
import json
import os
import resource
import sys
import time
from unittest.mock import MagicMock


class Absent:
    """Packages that MosaicML's streaming imports for other storage and for text."""

    names = ("transformers", "boto3", "botocore", "azure", "oci", "paramiko", "google", "huggingface_hub", "torchtext", "matplotlib", "pandas")

    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in self.names:
            return importlib.machinery.ModuleSpec(name, self, is_package=True)

    def create_module(self, spec):
        return MagicMock(name=spec.name, __path__=[], __spec__=spec)

    def exec_module(self, module):
        pass


sys.meta_path.append(Absent())

import torch
import webdataset
from PIL import Image
from torchvision import transforms

prepare = transforms.Compose([transforms.Resize(256), transforms.CenterCrop(224), transforms.ToTensor(),
                              transforms.Normalize([0.485, 0.456, 0.406], [0.229, 0.224, 0.225])])


def pixels(data):
    return prepare(Image.open(io.BytesIO(data)).convert("RGB"))


def pack(web):
    from streaming import MDSWriter
    names = sorted(os.path.join(web, n) for n in os.listdir(web) if n.endswith(".tar"))
    with MDSWriter(columns={"image": "bytes", "label": "int"}, out=os.path.join(web, "mds"), size_limit=16 << 20) as w:
        for sample in webdataset.WebDataset(names, shardshuffle=False, empty_check=False):
            w.write({"image": sample["jpg"], "label": int(sample["cls"])})


def web_loader(url, scratch, workers, shards):
    urls = f"{url}/train-{{0000..{shards - 1:04}}}.tar"
    cache = os.path.join(scratch, "cache")
    os.makedirs(cache)
    ds = webdataset.WebDataset(urls, shardshuffle=shards, cache_dir=cache).shuffle(256).to_tuple("jpg", "cls").map_tuple(pixels, lambda c: int(c)).batched(32)
    return torch.utils.data.DataLoader(ds, batch_size=None, num_workers=workers, persistent_workers=workers > 0)


def cpu():
    """User and system time of this process and of all processes that are its children, live ones too."""
    total = sum(resource.getrusage(resource.RUSAGE_SELF)[:2]) + sum(resource.getrusage(resource.RUSAGE_CHILDREN)[:2])
    tick = os.sysconf("SC_CLK_TCK")
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            fields = open(f"/proc/{pid}/stat").read().rpartition(")")[2].split()
        except OSError:
            continue
        if int(fields[1]) == os.getpid():
            total += sum(int(f) for f in fields[11:15]) / tick
    return total


def measure(make, url, scratch, workers, epochs, shards):
    torch.set_num_threads(1)
    loader = make(url, scratch, workers, shards)
    for epoch in range(epochs):
        begin, before, images = time.time(), cpu(), 0
        for x, y in loader:
            images += len(x)
        print(json.dumps({"Epoch": epoch, "Images": images, "Seconds": time.time() - begin, "CPU": cpu() - before}), flush=True)


if __name__ == "__main__":
    if sys.argv[1] == "pack":
        pack(sys.argv[2])
    else:
        make = {"webdataset": web_loader}[sys.argv[1]]
        measure(make, sys.argv[2], sys.argv[3], *map(int, sys.argv[4:7]))
