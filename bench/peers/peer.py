"""What all sides in Python share: the cell that they measure, the clock, and the lines that bench/studies reads.

A side is a program that calls run(make, versions). make(o, inputs) prepares everything that is not to be measured, of
what inputs has read, and returns epoch(number), an iterator over batches: tuples whose first field has a row per
sample. Epoch 0 begins with the making of workers.
"""

import argparse
import json
import os
import pathlib
import random
import sys
import time
import types

import numpy

import processes

MEAN = (0.485, 0.456, 0.406)
STD = (0.229, 0.224, 0.225)
FRAMES, STRIDE = 16, 2  # of a clip
VOLUMES = ("ct", "pet", "truth", "prediction")  # of a patient: two scans and two masks


def cell():
    """The cell of the command line: the JSON of bench.Cell, with some of its config's values under short names."""
    p = argparse.ArgumentParser(description="Measures a cell of bench/studies, which starts this program.")
    p.add_argument("-program", help="that of studies, which gives batches to the side in Python")
    p.add_argument("cell", type=json.loads)
    given = p.parse_args()
    o = types.SimpleNamespace(**given.cell, program=given.program, text=json.dumps(given.cell))
    o.batch, o.workers, o.model = o.config["batch"], o.config["workers"], o.config.get("model")
    o.consumer = o.config.get("consumer_seconds", 0)
    o.net = o.study == "endtoend" and not o.speed
    o.resize = (o.size * 256 + 112) // 224  # as transform.Eval has it
    return o


def inputs(o):
    """What a work reads, all of it in the page cache: photos and items are lists of (path, label), CIFAR's images and
    labels a pair of arrays, patients dicts of paths, videos a list of paths, and tokens a folder."""
    folder = pathlib.Path(o.folder)
    if o.cold:
        return folder
    for path in folder.rglob("*"):
        if path.is_file():
            path.read_bytes()
    if o.work in ("rows", "documents"):
        return folder
    if o.work.startswith("clips"):
        return [str(path) for path in sorted(folder.iterdir())]
    if o.work == "cifar100":
        data = numpy.fromfile(folder / "train.bin", numpy.uint8).reshape(-1, 2 + 3 * 32 * 32)
        return data[:, 2:].reshape(-1, 3, 32, 32).copy(), data[:, 1].astype(numpy.int64)
    if o.work == "volumes":
        return [{name: str(p / (name + ".nrrd")) for name in VOLUMES} for p in sorted(folder.iterdir()) if p.is_dir()]
    if o.work in ("items", "preprocessed"):
        return [(str(path), i % 10) for i, path in enumerate(sorted(folder.glob("*.raw")))]
    classes = sorted(p for p in folder.iterdir() if p.is_dir())  # the order of torchvision's ImageFolder
    return [(str(path), label) for label, c in enumerate(classes) for path in sorted(c.rglob("*")) if path.suffix.lower() in (".jpg", ".jpeg")]


def stored(folder):
    return sum(path.stat().st_size for path in pathlib.Path(folder).rglob("*") if path.is_file())


def draws(o, photos, number):
    """The photos of an epoch: all of them in turn, in random order for training."""
    order = [i % len(photos) for i in range(o.samples)]
    if o.shuffle:
        random.Random(number).shuffle(order)
    return order


def run(make, versions):
    """Measures the side. versions are what it is made of, name to version."""
    o = cell()
    found = inputs(o)
    if not found:
        sys.exit(f"{o.folder}: no files of {o.work}")
    o.stored = stored(o.folder)  # unless make reads another file
    if o.cold:
        begun = time.perf_counter()
        first, *_ = next(iter(make(o, found)(0)))
        took = time.perf_counter() - begun
        print(json.dumps({"epoch": 0, "versions": versions, "measured": {"samples": len(first), "seconds": took, "first_batch_seconds": took}}), flush=True)
        return
    epoch = make(o, found)
    consumer = Consumer(o)
    for number in range(o.epochs + 1):
        line = profiled(epoch, number, o) if o.study == "profile" else measured(epoch, number, o, consumer)
        line |= {"epoch": number, "versions": versions, "in_flight": 2 * o.workers}
        print(json.dumps({key: value for key, value in line.items() if value is not None}), flush=True)


class Consumer:
    """Takes as long as the consumer of a batch, or a device as bench.Simulate, or a net on the processor."""

    def __init__(self, o):
        self.o, self.net = o, None
        if o.net:
            import nets  # after the side has set PyTorch's threads for its workers

            nets.torch.set_num_threads(os.cpu_count())
            self.net = nets.built(o.model, o.size, o.batch)

    def take(self, first):
        """Says what transfer and work took, in seconds."""
        begun = there = time.perf_counter()
        if self.net:
            self.net(first)
        elif self.o.speed:
            time.sleep(first.nbytes / 6e9)
            there = time.perf_counter()
            time.sleep(0.001 + len(first) / self.o.speed)
        elif self.o.consumer:
            time.sleep(self.o.consumer)
        return there - begun, time.perf_counter() - there


def measured(epoch, number, o, consumer):
    watch = processes.Usage(0.05 if o.study == "volumes" else None)
    mean = None
    middle = -(-o.samples // o.batch) // 2
    waits, samples, transfer, compute = [], 0, 0.0, 0.0
    begun = asked = time.perf_counter()
    for k, (first, *_) in enumerate(epoch(number)):
        now = time.perf_counter()
        waits.append(now - asked)
        samples += len(first)
        end = now - begun
        if number == 0 and k == middle:
            values = numpy.concatenate([numpy.ravel(row) for row in first]) if isinstance(first, list) else numpy.asarray(first)
            mean = float(values.mean(dtype=numpy.float64))
            watch.look(processes.memory_bytes)
        parts = consumer.take(first)
        transfer += parts[0]
        compute += parts[1]
        asked = time.perf_counter()
    took = time.perf_counter() - begun
    cpu, looks = watch.stop()
    if samples != o.samples:
        sys.exit(f"{samples} samples: want {o.samples}")
    m = {
        "samples": samples,
        "seconds": took,
        "first_batch_seconds": waits[0],
        "waits_seconds": waits if o.study == "loading" else [],
        "waiting_seconds": sum(waits),
        "loading_end_seconds": end,
        "transfer_seconds": transfer,
        "compute_seconds": compute,
        "end_to_end_seconds": took if o.study == "endtoend" else 0,
        "cpu_seconds": cpu,
        "usage": looks,
        "data_bytes": o.stored if o.study == "throughput" else 0,
    }
    return {"measured": {key: value for key, value in m.items() if value}, "mean": mean, "parameters": consumer.net and consumer.net.parameters}


def profiled(epoch, number, o):
    """An epoch under PyTorch's profiler, which sees the consumer's process; of number 0, the first batch. Its times are in
    microseconds, and of its lines the 15 with the most self time are kept."""
    import torch
    from torch.profiler import ProfilerActivity, profile

    watch = processes.Usage(None)
    samples, target = 0, None
    with profile(activities=[ProfilerActivity.CPU]) as profiler:
        begun = time.perf_counter()
        batches = iter(epoch(number))
        for first, *_ in batches:
            if target is None:
                arrived = time.perf_counter() - begun
                target = torch.zeros(o.batch, *first.shape[1:])
            target[: len(first)].copy_(first)
            samples += len(first)
            if number == 0:
                break
        took = time.perf_counter() - begun
    cpu, _ = watch.stop()
    lines = sorted(profiler.key_averages(), key=lambda e: -e.self_cpu_time_total)[:15]
    m = {
        "samples": samples,
        "seconds": took,
        "first_batch_seconds": arrived,
        "cpu_seconds": cpu,
        "stages": [{"name": e.key, "self_seconds": e.self_cpu_time_total / 1e6, "total_seconds": e.cpu_time_total / 1e6, "calls": e.count} for e in lines],
    }
    del batches  # ends the workers of a loop that was left
    return {"measured": m, "span": "epoch" if number else "first batch"}
