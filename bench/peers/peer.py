"""What all Python sides share: the arguments and the clock.

A side is a program that calls run(make). make(options, inputs) prepares
everything that is not to be measured, of what works.inputs has read, and returns
epoch(number), an iterator over batches: pairs of images, float32
(batch, 3, size, size), and labels, int64 (batch).
"""

import argparse
import json
import pathlib
import random
import sys
import time

import numpy

import processes
import records
import works

MEAN = (0.485, 0.456, 0.406)
STD = (0.229, 0.224, 0.225)
SIZE = 224
RESIZE = 256


def run(make, versions):
    """Measures the side, or writes its tensors where -pixels is given.

    versions are what the side is made of, name to version.
    """
    o = options()
    inputs = works.inputs(o)
    if o.study:
        records.write(make, o, inputs, versions)
        return
    if o.pixels:
        o.samples = len(inputs)
    epoch = make(o, inputs)
    if o.pixels:
        write_pixels(epoch(0), o.samples)
        return
    for number in range(o.epochs + 1):
        line = measure(epoch(number), o) if number else warm_up(epoch(number), o)
        line.update(epoch=number, work=o.work, workers=o.workers, batch=o.batch, versions=versions)
        print(json.dumps(line), flush=True)


def options():
    p = argparse.ArgumentParser()
    p.add_argument("folder", nargs="?", default=default_folder(), help="what the work reads, see works.py")
    p.add_argument("-work", choices=works.ALL, default="eval")
    p.add_argument("-workers", type=int, default=2)
    p.add_argument("-batch", type=int, help="by default what the work has")
    p.add_argument("-epochs", type=int, default=3, help="measured ones, after a first one that warms up")
    p.add_argument("-samples", type=int, help="of an epoch, by default what the work has")
    p.add_argument("-pixels", action="store_true", help="write the evaluation tensors of all photos to standard output")
    records.options(p)
    o = p.parse_args()
    if o.pixels:
        o.work = "eval"
    work = works.ALL[o.work]
    o.batch, o.samples = o.batch or work.batch, o.samples or work.samples
    if work.photos and o.samples % o.batch and not o.pixels and not o.study:
        p.error("-samples must be a multiple of -batch")
    return o


def default_folder():
    return str(pathlib.Path(__file__).resolve().parents[3] / "shared" / "photos")


def draws(o, photos, number):
    """The photos of an epoch: all of them in turn, in random order for training."""
    order = [i % len(photos) for i in range(o.samples)]
    if o.work == "train":
        random.Random(number).shuffle(order)
    return order


def warm_up(batches, o):
    """The epoch that starts workers. Looks at a batch, which the others do not."""
    begun = time.perf_counter()
    line = {}
    middle = -(-o.samples // o.batch) // 2
    for k, (images, labels) in enumerate(batches):
        if k == 0:
            line["first_ms"] = 1000 * (time.perf_counter() - begun)
        if k == middle:
            line["memory_mb"] = processes.memory_bytes() / 1e6
            a = numpy.asarray(images)
            size = works.WORKS[o.work].size
            want = (o.batch, 3, size, size)
            if a.shape != want or a.dtype != numpy.float32 or len(labels) != o.batch:
                sys.exit(f"batch of {a.dtype} {a.shape}, {len(labels)} labels: want float32 {want}")
            line["mean"] = float(a.mean(dtype=numpy.float64))
    return line


def measure(batches, o):
    cpu = processes.cpu_seconds()
    begun = time.perf_counter()
    first = 0.0
    n = 0
    for _, labels in batches:
        if n == 0:
            first = time.perf_counter() - begun
        n += len(labels)
    took = time.perf_counter() - begun
    cpu = processes.cpu_seconds() - cpu
    if n != o.samples:
        sys.exit(f"{n} samples: want {o.samples}")
    return {"images_per_second": n / took, "first_ms": 1000 * first, "cpu_ms_per_image": 1000 * cpu / n}


def write_pixels(batches, n):
    for images, _ in batches:
        a = numpy.asarray(images)[:n]
        n -= len(a)
        sys.stdout.buffer.write(numpy.ascontiguousarray(a, dtype="<f4").tobytes())
