"""What all Python sides share: the arguments, the clock, and the records, as bench/result describes
them, an epoch each. The runner adds what all sides have in common: machine, date, round, side.

A side is a program that calls run(make). make(options, inputs) prepares everything that is not to be
measured, of what works.inputs has read, and returns epoch(number), an iterator over batches: tuples
whose first field has a row per sample. Epoch 0 begins with the making of workers. Its record comes
with the mean of the first field of its middle batch, which must be the same for all sides.
"""

import argparse
import json
import os
import random
import sys
import time

import numpy

import processes
import works

MEAN = (0.485, 0.456, 0.406)
STD = (0.229, 0.224, 0.225)


def options():
    p = argparse.ArgumentParser()
    p.add_argument("folder", nargs="?", help="what the work reads, see works.py")
    p.add_argument("-work", choices=works.ALL, default="eval")
    p.add_argument("-size", type=int, default=224, help="pixels of a side of an image")
    p.add_argument("-samples", type=int, default=1024, help="of an epoch, which goes over the data again and again")
    p.add_argument("-epochs", type=int, default=1, help="measured ones, after a first one in which workers start")
    p.add_argument("-study", default="throughput", help="the study of the records")
    p.add_argument("-shuffle", action="store_true", help="in random order")
    p.add_argument("-speed", type=float, default=0, help="samples per second of a simulated device")
    p.add_argument("-workers", type=int, default=2)
    p.add_argument("-batch", type=int, action="append", help="samples of a batch; for inference any number of times")
    p.add_argument("-data", help="what records call the data")
    p.add_argument("-model", help="the net that endtoend and inference run, or with -speed a name")
    p.add_argument("-simulated", help="what of the records is simulated")
    p.add_argument("-consumer", type=float, default=0, help="seconds that the consumer takes for a batch")
    p.add_argument("-program", help="penstock's own side, for the one in Python")
    p.add_argument("-pixels", action="store_true", help="write the evaluation tensors of all photos to standard output")
    o = p.parse_args()
    o.batches, o.batch = o.batch or [128], (o.batch or [128])[0]
    o.resize = (o.size * 256 + 112) // 224  # as transform.Eval has it
    return o


def run(make, versions):
    """Measures the side. versions are what it is made of, name to version."""
    o = options()
    inputs = works.inputs(o)
    if o.pixels:
        o.work, o.samples, o.epochs = "eval", len(inputs), 0
        write_pixels(make(o, inputs)(0), o.samples)
        return
    consumer = Consumer(o)
    o.stored = works.stored(o) if o.work in works.PHOTOS else 0  # unless make reads another file
    epoch = make(o, inputs)
    consumer.prepare()
    for number in range(o.epochs + 1):
        line = profiled(epoch, number, o) if o.study == "profile" else measured(epoch, number, o, consumer)
        line["record"] |= {"study": o.study, "epoch": number, "config": config(o, number), "versions": versions}
        print(json.dumps(line), flush=True)


def config(o, number):
    profile = o.study == "profile"
    net = o.study == "endtoend" and not o.speed
    found = {
        "batch": o.batch,
        "consumer_seconds": o.consumer,
        "data": o.data or o.work,
        "model": o.model,
        "device": "cpu" if profile or net else None,
        "simulated": o.simulated,
        "span": ("epoch" if number else "first batch") if profile else None,
    }
    return {key: value for key, value in found.items() if value} | {"workers": o.workers}


class Consumer:
    """Takes as long as the consumer of a batch, or a device as bench.SimulatedDevice, or a net on the processor."""

    def __init__(self, o):
        self.o, self.net, self.parameters = o, None, None

    def prepare(self):
        """Builds the net after the side, which has set PyTorch's threads for its workers."""
        if self.o.study == "endtoend" and not self.o.speed:
            import nets

            nets.torch.set_num_threads(os.cpu_count())
            self.net = nets.built(self.o.model, self.o.size, self.o.batch)
            self.parameters = self.net.parameters

    def take(self, first):
        """Says what transfer and work took, in seconds."""
        begun = there = time.perf_counter()
        if self.net:
            self.net(first)
        elif self.o.speed:
            time.sleep((first.nbytes + 8 * len(first)) / 6e9)  # with labels
            there = time.perf_counter()
            time.sleep(0.001 + len(first) / self.o.speed)
        elif self.o.consumer:
            time.sleep(self.o.consumer)
        return there - begun, time.perf_counter() - there


def measured(epoch, number, o, consumer):
    watch = processes.Usage(always=o.study == "volumes" and number > 0)
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
            mean = float(numpy.asarray(first).mean(dtype=numpy.float64))
            watch.look()
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
        "transfer_seconds": transfer if o.speed else 0,
        "compute_seconds": compute,
        "end_to_end_seconds": took if o.study == "endtoend" else 0,
        "cpu_seconds": cpu,
        "usage": looks,
        "data_bytes": o.stored,
    }
    record = {"measured": {key: value for key, value in m.items() if value}}
    return {"record": record, "mean": mean, "parameters": consumer.parameters}


def profiled(epoch, number, o):
    """An epoch under PyTorch's profiler, which sees the consumer's process; of number 0, the first batch."""
    import torch
    from torch.profiler import ProfilerActivity, profile

    watch = processes.Usage(always=False)
    samples = 0
    device = None
    with profile(activities=[ProfilerActivity.CPU]) as profiler:
        begun = time.perf_counter()
        batches = iter(epoch(number))
        for first, *_ in batches:
            if device is None:
                arrived = time.perf_counter() - begun
                device = torch.zeros(o.batch, *first.shape[1:])
            device[: len(first)].copy_(first)
            samples += len(first)
            if number == 0:
                break
        took = time.perf_counter() - begun
    cpu, _ = watch.stop()
    m = {
        "samples": samples,
        "seconds": took,
        "first_batch_seconds": arrived,
        "cpu_seconds": cpu,
        "stages": stages(profiler.key_averages()),
    }
    del batches  # ends the workers of a loop that was left
    return {"record": {"measured": m}}


def stages(averages):
    """The profiler's 15 lines of most self time. Its times are in microseconds."""
    lines = sorted(averages, key=lambda e: -e.self_cpu_time_total)[:15]
    return [
        {"name": e.key, "self_seconds": e.self_cpu_time_total / 1e6, "total_seconds": e.cpu_time_total / 1e6, "calls": e.count}
        for e in lines
    ]


def draws(o, photos, number):
    """The photos of an epoch: all of them in turn, in random order for training."""
    order = [i % len(photos) for i in range(o.samples)]
    if o.shuffle:
        random.Random(number).shuffle(order)
    return order


def write_pixels(batches, n):
    for images, *_ in batches:
        a = numpy.asarray(images)[:n]
        n -= len(a)
        sys.stdout.buffer.write(numpy.ascontiguousarray(a, dtype="<f4").tobytes())
