"""What bench/gpu measures, in PyTorch, on a machine with a CUDA device: copies to it from
pageable and from page-locked memory, and loops over DataLoader with and without pin_memory.

    python pinned_torch.py [-results FILE.jsonl] [-rounds 3] [-parts copy,loop] …

It needs torch of a CUDA build, numpy, and ../gpu/spin.ptx. Flags, data, the kernel and the
records are those of bench/gpu; where FILE.jsonl has records already, the machine is that of the
first, so that the two are compared. A side's first epoch, which starts workers, does not count.
With -device cpu it runs without a device, to see that it works: then every record says so.

It has not run on a device yet.
"""

import argparse
import contextlib
import ctypes
import datetime
import json
import os
import pathlib
import platform
import statistics
import time

import torch

SPIN = pathlib.Path(__file__).resolve().parent.parent / "gpu" / "spin.ptx"


def field(path, name):
    """A value of a file of /proc."""
    for line in pathlib.Path(path).read_text().splitlines():
        key, _, value = line.partition(":")
        if key.strip() == name:
            return value.strip()
    return "0 of unknown"


class Cuda:
    """The first device, and bench/gpu's kernel of a given time on it."""

    name, simulated = "cuda", None

    def __init__(self):
        if not torch.cuda.is_available():
            raise SystemExit("pinned_torch: torch finds no CUDA device, or is built without CUDA")
        torch.zeros(1, device="cuda")  # makes the context current
        self.driver = ctypes.CDLL("libcuda.so.1")
        module, self.function = ctypes.c_void_p(), ctypes.c_void_p()
        self.call("cuModuleLoadData", ctypes.byref(module), SPIN.read_bytes() + b"\0")
        self.call("cuModuleGetFunction", ctypes.byref(self.function), module, b"spin")
        self.aside = torch.cuda.Stream()

    def call(self, name, *arguments):
        if code := getattr(self.driver, name)(*arguments):
            raise SystemExit(f"pinned_torch: {name}: CUDA error {code}")

    def spin(self, seconds):
        """Starts the kernel on the current stream."""
        time_ns = ctypes.c_uint64(round(seconds * 1e9))
        parameters = (ctypes.c_void_p * 1)(ctypes.addressof(time_ns))  # copied by the launch
        stream = ctypes.c_void_p(torch.cuda.current_stream().cuda_stream)
        self.call("cuLaunchKernel", self.function, *[ctypes.c_uint(1)] * 6, ctypes.c_uint(0), stream, parameters, None)

    def second_stream(self):
        """Work on a stream of its own."""
        return torch.cuda.stream(self.aside)

    def mark(self):
        event = torch.cuda.Event(enable_timing=True)
        event.record()
        return event

    def between(self, begun, ended):
        return begun.elapsed_time(ended) / 1000

    def wait(self):
        torch.cuda.synchronize()

    def gpu(self):
        return torch.cuda.get_device_name(0)


class Processor:
    """Stands in for a device."""

    name, simulated = "cpu", "no device: copies in the host's memory, and a wait for a kernel"

    def spin(self, seconds):
        time.sleep(seconds)

    def second_stream(self):
        return contextlib.nullcontext()

    def mark(self):
        return time.perf_counter()

    def between(self, begun, ended):
        return ended - begun

    def wait(self):
        pass

    def gpu(self):
        return None


class Images(torch.utils.data.Dataset):
    """Made-up images, float32 (3, side, side), each copied from memory."""

    def __init__(self, n, side):
        self.n = n
        self.template = (torch.arange(3 * side * side) % 255 / 255 - 0.5).view(3, side, side)

    def __len__(self):
        return self.n

    def __getitem__(self, i):
        return self.template.clone()


def copies(device, o):
    """Copies of one size from both kinds of memory, in turns."""
    for size in o.sizes:
        to = torch.empty(size, dtype=torch.uint8, device=device.name)
        sides = {
            "PyTorch, pageable": torch.ones(size, dtype=torch.uint8),
            "PyTorch, page-locked": torch.ones(size, dtype=torch.uint8, pin_memory=device.name == "cuda"),
        }
        rates = {side: [] for side in sides}
        for number in range(o.rounds):
            for side, source in sides.items():
                waits = []
                for _ in range(o.copies + 1):
                    begun = time.perf_counter()
                    to.copy_(source, non_blocking=True)
                    device.wait()
                    waits.append(time.perf_counter() - begun)
                waits = waits[1:]  # the first does not count
                took = sum(waits)
                rates[side].append(size * len(waits) / took / 1e9)
                config = {"batch": 1, "workers": 0, "data": f"copies of {size} bytes"}
                measured = {"samples": len(waits), "seconds": took, "waits_seconds": waits, "transfer_seconds": took}
                yield "loading", side, number, config, measured
        before, after = (statistics.median(r) for r in rates.values())
        print(f"{size:14} bytes: pageable {before:7.2f} GB/s, page-locked {after:7.2f} GB/s, ratio {after / before:.2f}")


def inline(device, batches, o):
    """Every batch is copied in the loop body, which waits for the copy and then for the kernel. Both
    are timed by the device's events, as in bench/gpu."""
    m = {"waits_seconds": [], "samples": 0, "transfer_seconds": 0.0, "compute_seconds": 0.0}
    begun = asked = time.perf_counter()
    for images in batches:
        arrived = time.perf_counter()
        m["waits_seconds"].append(arrived - asked)
        first = device.mark()
        images.to(device.name, non_blocking=True)
        there = device.mark()
        device.wait()
        begin = device.mark()
        device.spin(len(images) * o.compute / 1e6)
        last = device.mark()
        device.wait()
        asked = time.perf_counter()
        m["transfer_seconds"] += device.between(first, there)
        m["compute_seconds"] += device.between(begin, last)
        m["samples"] += len(images)
    return m | {"seconds": asked - begun, "loading_end_seconds": arrived - begun}


def ahead(device, batches, o):
    """The next batch is fetched and copied on another stream while the kernel runs. Computing is
    what the device's events say; the rest of a turn is the wait for the batch after it."""
    m = {"waits_seconds": [], "samples": 0, "transfer_seconds": 0.0, "compute_seconds": 0.0}
    source = iter(batches)

    def fetch():
        host = next(source, None)
        if host is None:
            return None
        with device.second_stream():
            first = device.mark()
            there = host.to(device.name, non_blocking=True)
            return host, there, first, device.mark()

    begun = time.perf_counter()
    item = fetch()
    device.wait()
    wait = end = time.perf_counter() - begun
    while item:
        host, _, first, last = item
        m["waits_seconds"].append(wait)
        m["transfer_seconds"] += device.between(first, last)
        turn = time.perf_counter()
        first = device.mark()
        device.spin(len(host) * o.compute / 1e6)
        last = device.mark()
        item = fetch()
        if item:
            end = time.perf_counter() - begun
        device.wait()  # for the kernel and for the copy: what is in item is there, what was before is free
        took = device.between(first, last)
        m["compute_seconds"] += took
        m["samples"] += len(host)
        wait = max(0.0, time.perf_counter() - turn - took)
    return m | {"seconds": time.perf_counter() - begun, "loading_end_seconds": end}


WAYS = {
    "PyTorch, copies from pageable memory": (False, inline),
    "PyTorch, copies from page-locked memory": (True, inline),
    "PyTorch, page-locked, copies on a second stream": (True, ahead),
}


def loops(device, o):
    model = f"kernel of {o.compute}µs per image" if o.compute < 1000 else f"kernel of {o.compute / 1000:g}ms per image"
    for batch in o.batch:
        for workers in o.workers:
            idle = {side: [] for side in WAYS}
            rates = {side: [] for side in WAYS}
            for number in range(o.rounds):
                for side, (pin, way) in WAYS.items():
                    loader = torch.utils.data.DataLoader(
                        Images(batch * o.batches, o.side),
                        batch_size=batch,
                        num_workers=workers,
                        persistent_workers=workers > 0,
                        pin_memory=pin and device.name == "cuda",
                    )
                    for _ in loader:  # starts workers
                        pass
                    m = way(device, loader, o)
                    m["first_batch_seconds"] = m["waits_seconds"][0]
                    m["waiting_seconds"] = sum(m["waits_seconds"])
                    m["end_to_end_seconds"] = m["seconds"]
                    idle[side].append(100 * (1 - m["compute_seconds"] / m["seconds"]))
                    rates[side].append(m["samples"] / m["seconds"])
                    config = {"batch": batch, "workers": workers, "data": f"made-up {o.side}", "model": model}
                    yield "endtoend", side, number, config, m
            for side in WAYS:
                rate, share = statistics.median(rates[side]), statistics.median(idle[side])
                print(f"{side:40} batch {batch:5}, workers {workers:3}: {rate:8.0f} images/s, idle {share:5.1f} %")


PARTS = {"copy": copies, "loop": loops}


def described(device, o):
    """The machine, as bench/result names it."""
    if o.results and o.results.exists() and (lines := o.results.read_text().splitlines()):
        return json.loads(lines[0])["machine"]
    found = {
        "cpu": " ".join(field("/proc/cpuinfo", "model name").split()),
        "processors": len(os.sched_getaffinity(0)),
        "memory_bytes": int(field("/proc/meminfo", "MemTotal").split()[0]) * 1024,
        "os": "linux",
        "kernel": platform.release().split("-")[0],
        "arch": {"x86_64": "amd64", "aarch64": "arm64"}.get(platform.machine(), platform.machine()),
        "gpu": device.gpu(),
    }
    return {key: value for key, value in found.items() if value}


def numbers(text):
    found = [int(part) for part in text.split(",")]
    if min(found) < 1:
        raise argparse.ArgumentTypeError(f"{text}: want numbers above 0")
    return found


def options():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("-results", type=pathlib.Path, metavar="FILE.jsonl", help="file to append records to")
    p.add_argument("-device", choices=("cuda", "cpu"), default="cuda")
    p.add_argument("-parts", default="copy,loop")
    p.add_argument("-rounds", type=int, default=3)
    p.add_argument("-copies", type=int, default=20, help="per size and round")
    p.add_argument("-batches", type=int, default=40, help="per loop")
    p.add_argument("-sizes", type=numbers, default=[4096, 65536, 1048576, 8388608, 76800000, 268435456])
    p.add_argument("-batch", type=numbers, default=[32, 128, 512])
    p.add_argument("-workers", type=numbers, default=[1, 4, 8])
    p.add_argument("-side", type=int, default=224)
    p.add_argument("-compute", type=int, default=100, help="what the kernel takes per image, in µs")
    o = p.parse_args()
    o.parts = o.parts.split(",")
    if not set(o.parts) <= PARTS.keys() or min(o.rounds, o.copies, o.batches, o.side) < 1 or o.compute < 0:
        p.error("-parts: want copy and loop; -rounds, -copies, -batches, -side: 1 or more; -compute: 0 or more")
    return o


def main():
    o = options()
    device = Cuda() if o.device == "cuda" else Processor()
    here = described(device, o)
    versions = {"python": platform.python_version(), "torch": torch.__version__}
    if torch.version.cuda:
        versions["cuda"] = torch.version.cuda
    extra = {"device": device.name} | ({"simulated": device.simulated} if device.simulated else {})
    for part in o.parts:
        for study, side, number, config, measured in PARTS[part](device, o):
            record = {
                "study": study,
                "side": side,
                "date": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ"),
                "round": number,
                "config": config | extra,
                "machine": here,
                "versions": versions,
                "measured": measured,
            }
            if o.results:
                with o.results.open("a") as f:
                    f.write(json.dumps(record) + "\n")


if __name__ == "__main__":
    main()
