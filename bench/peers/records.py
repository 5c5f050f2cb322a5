"""Measures a side for a study and prints records, as bench/result describes them, an
epoch each. The runner adds what all sides have in common: machine, date, round, side.

Epoch 0 begins with the making of workers. A record comes with the mean of the first
field of its middle batch, which must be the same for all sides.
"""

import json
import sys
import time

import numpy

import usage
import works


def options(p):
    p.add_argument("-study", help="print records of this study instead of lines")
    p.add_argument("-data", help="what a record calls the data")
    p.add_argument("-model", help="what a record calls the model")
    p.add_argument("-simulated", help="what of a record is simulated")
    p.add_argument("-consumer", type=float, default=0, help="seconds that the consumer takes for a batch")
    p.add_argument("-speed", type=float, default=0, help="samples per second of the consumer")
    p.add_argument("-shuffle", action="store_true", help="in random order")


def write(make, o, inputs, versions):
    epoch = make(o, inputs)
    for number in range(o.epochs + 1):
        if o.study == "profile":
            told = profiled(epoch, number, o)
        else:
            told = measured(epoch, number, o)
        told["record"] |= {"study": o.study, "epoch": number, "config": config(o, number), "versions": versions}
        print(json.dumps(told), flush=True)


def config(o, number):
    found = {
        "batch": o.batch,
        "workers": o.workers,
        "consumer_seconds": o.consumer,
        "data": o.data or o.work,
        "model": o.model,
        "device": "cpu" if o.study == "profile" else None,
        "simulated": o.simulated,
        "span": span(number) if o.study == "profile" else None,
    }
    return {key: value for key, value in found.items() if value} | {"workers": o.workers}


def span(number):
    return "epoch" if number else "first batch"


def measured(epoch, number, o):
    """Loops over an epoch. Its batches are tuples whose first field has a row per sample."""
    watch = usage.Usage(always=o.study == "volumes" and number > 0)
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
        parts = consume(first, o)
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
        "waits_seconds": waits,
        "waiting_seconds": sum(waits),
        "loading_end_seconds": end,
        "compute_seconds": compute,
        "cpu_seconds": cpu,
        "usage": looks,
    }
    if o.study == "endtoend":
        m |= {"end_to_end_seconds": took, "transfer_seconds": transfer}
    return {"record": {"measured": {key: value for key, value in m.items() if value}}, "mean": mean}


def consume(first, o):
    """Takes as long as the consumer of a batch, or a device as that of bench's BenchmarkSimulated: a
    millisecond for the batch, and 6 GB/s to get there. Says what each part took."""
    begun = there = time.perf_counter()
    if o.speed:
        time.sleep((first.nbytes + 8 * len(first)) / 6e9)  # with labels
        there = time.perf_counter()
        time.sleep(0.001 + len(first) / o.speed)
    elif o.consumer:
        time.sleep(o.consumer)
    return there - begun, time.perf_counter() - there


def profiled(epoch, number, o):
    """An epoch under PyTorch's profiler, which sees the consumer's process; of number 0, the first batch."""
    from torch.profiler import ProfilerActivity, profile

    import torch

    watch = usage.Usage(always=False)
    samples = 0
    size = works.ALL[o.work].size
    device = torch.zeros(o.batch, 3, size, size)
    with profile(activities=[ProfilerActivity.CPU]) as profiler:
        begun = time.perf_counter()
        batches = iter(epoch(number))
        for first, *_ in batches:
            if not samples:
                arrived = time.perf_counter() - begun
            device[: len(first)].copy_(first)
            samples += len(first)
            if number == 0:
                break
        took = time.perf_counter() - begun
    cpu, _ = watch.stop()
    averages = profiler.key_averages()
    m = {
        "samples": samples,
        "seconds": took,
        "first_batch_seconds": arrived,
        "cpu_seconds": cpu,
        "stages": stages(averages),
    }
    del batches  # ends the workers of a loop that was left
    return {"record": {"measured": m}, "table": averages.table(sort_by="self_cpu_time_total", row_limit=15)}


def stages(averages):
    """The profiler's 15 lines of most self time. Its times are in microseconds."""
    lines = sorted(averages, key=lambda e: -e.self_cpu_time_total)[:15]
    return [
        {
            "name": e.key,
            "self_seconds": e.self_cpu_time_total / 1e6,
            "total_seconds": e.cpu_time_total / 1e6,
            "calls": e.count,
            "self_device_seconds": e.self_device_time_total / 1e6,
            "total_device_seconds": e.device_time_total / 1e6,
        }
        for e in lines
    ]
