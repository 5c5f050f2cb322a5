"""SPDL: threads in one process, with FFmpeg's JPEG decoder and scaler.

Pixels differ: the scaler works on luma and chroma, before the conversion to RGB.
Normalization is that of pytorch, in the consumer's thread.
"""

import glob
import os
import random
import site
import sys


def find_ffmpeg():
    """Starts the program anew with the FFmpeg that install has put beside the av package."""
    folders = [f for s in site.getsitepackages() for f in glob.glob(os.path.join(s, "av.libs"))]
    known = os.environ.get("LD_LIBRARY_PATH", "")
    if folders and folders[0] not in known.split(":"):
        os.environ["LD_LIBRARY_PATH"] = ":".join(filter(None, [folders[0], known]))
        os.execv(sys.executable, [sys.executable] + sys.argv)


if __name__ == "__main__":
    find_ffmpeg()

import importlib.metadata

import spdl.io
import torch
from spdl.pipeline import PipelineBuilder

import peer
from pytorch import Normalize


def eval_filter(o, width, height):
    short = min(width, height)
    w, h = (o.resize * side // short for side in (width, height))
    left, top = round((w - o.size) / 2), round((h - o.size) / 2)
    return f"scale={w}:{h}:flags=bilinear,crop={o.size}:{o.size}:{left}:{top}:exact=1,format=rgb24"


def train_filter(o, width, height, r):
    w, h, left, top = random_crop(width, height, r)
    flip = "hflip," if r.random() < 0.5 else ""
    crop = f"crop={w}:{h}:{left}:{top}:exact=1"
    return f"{crop},scale={o.size}:{o.size}:flags=bilinear,{flip}format=rgb24"


def random_crop(width, height, r):
    """The box of torchvision's RandomResizedCrop."""
    for _ in range(10):
        area = width * height * r.uniform(0.08, 1)
        ratio = (4 / 3) ** r.uniform(-1, 1)
        w, h = round((area * ratio) ** 0.5), round((area / ratio) ** 0.5)
        if 0 < w <= width and 0 < h <= height:
            return w, h, r.randint(0, width - w), r.randint(0, height - h)
    w, h = min(width, round(height * 4 / 3)), min(height, round(width * 4 / 3))
    return w, h, (width - w) // 2, (height - h) // 2


def make(o, photos):
    torch.set_num_threads(1)  # the pipeline's threads have the processors
    normalize = Normalize(o, (3, o.size, o.size), peer.MEAN, peer.STD)

    def load(draw):
        k, (path, label), number = draw
        with open(path, "rb") as f:
            packets = spdl.io.demux_image(f.read())
        if o.work == "eval":
            filters = eval_filter(o, packets.width, packets.height)
        else:
            filters = train_filter(o, packets.width, packets.height, random.Random(number * o.samples + k))
        return spdl.io.decode_packets(packets, filter_desc=filters), label

    def collate(samples):
        frames, labels = zip(*samples)
        return spdl.io.convert_frames(list(frames)), list(labels)

    def epoch(number):
        draws = [(k, photos[i], number) for k, i in enumerate(peer.draws(o, photos, number))]
        workers = max(1, o.workers)
        pipeline = (
            PipelineBuilder()
            .add_source(draws)
            .pipe(load, concurrency=workers, output_order="input")
            .aggregate(o.batch)
            .pipe(collate)
            .add_sink(2 * workers)
            .build(num_threads=workers, max_failures=0)
        )
        with pipeline.auto_stop():
            for images, labels in pipeline:
                yield normalize(spdl.io.to_torch(images).permute(0, 3, 1, 2)), labels

    return epoch


if __name__ == "__main__":
    ffmpeg = spdl.io.utils.get_ffmpeg_versions()["libavcodec"]
    peer.run(
        make,
        {
            "spdl": importlib.metadata.version("spdl"),
            "libavcodec": ".".join(map(str, ffmpeg)),
            "torch": torch.__version__,
        },
    )
