"""What is measured: sets of cells, a cell being one configuration for all sides that can do it."""

import os
import subprocess
import typing

import data
import sides

SLICES = 304  # of a patient, in three views
PYTORCH = ("PyTorch with PIL", "PyTorch with tensors")
LOOPS = ("NumPy loop", "pynrrd loop")
NETS = ("conv-small", "conv-medium", "resnet-small", "mixer", "vit")


class Cell(typing.NamedTuple):
    study: str
    work: str
    data: str  # what records call it
    folder: str
    batch: int
    workers: int
    samples: int
    size: int = 224
    consumer: float = 0
    speed: float = 0  # samples per second of a simulated device, 0 for none
    shuffle: bool = False
    model: str = ""
    batches: tuple = ()  # of inference, all in one process
    both: bool = False  # penstock without Help, too
    peers: tuple = ()  # these alone

    def flags(self, epochs):
        values = {"study": self.study, "data": self.data, "samples": self.samples, "size": self.size, "model": self.model}
        if self.work not in ("nets", "onnx"):
            values |= {"work": self.work, "workers": self.workers, "epochs": epochs, "consumer": self.consumer, "speed": self.speed}
        if self.speed:
            values |= {"model": f"{self.speed:.0f} samples per s", "simulated": "devices, each of its model's speed"}
        found = [text for key, value in values.items() if value != "" for text in ("-" + key, str(value))]
        found += [text for batch in self.batches or (self.batch,) for text in ("-batch", str(batch))]
        return found + ["-shuffle"] * self.shuffle + [self.folder] * bool(self.folder)

    def commands(self, binaries, wanted):
        names = wanted or [sides.PENSTOCK, sides.GORGONIA, sides.ONNX, *[sides.WITHOUT_HELP] * (self.both and self.workers > 1), *(self.peers or sides.programs(self.work))]
        return sides.commands(self.work, binaries, names, self.workers)

    def __str__(self):
        parts = [self.study, self.data, self.model, f"batch {self.batch}", f"workers {self.workers}"]
        parts += [f"consumer {self.consumer:g} s"] * bool(self.consumer) + [f"device of {self.speed:g}/s"] * bool(self.speed)
        return ", ".join(part for part in parts if part)


class Folders:
    """The folders of data, made once: photos that are given, and what penstock's program makes."""

    def __init__(self, binaries, photos):
        self.program, self.given = os.path.join(binaries, sides.PENSTOCK), photos

    def made(self, kind, n):
        return subprocess.check_output([self.program, "-make", f"{kind}:{n}"], text=True).strip()

    def photos(self):
        return self.given or self.made("photos", 334)


def photos(o, f):
    """The evaluation and the training preset, with photos as they are and as most of the web's."""
    given = f.photos()
    for workers in o.workers or ((1, 2, 4) if o.full else (2,)):
        samples = o.samples or (1024 if o.full else 640)
        yield Cell("throughput", "eval", "photos, evaluation", given, 128, workers, samples)
        yield Cell("throughput", "train", "photos, training", given, 128, workers, samples, shuffle=True)
        if o.full:
            yield Cell("throughput", "eval", "4:2:0 photos, evaluation", data.subsampled(given), 128, workers, samples)


def formats(o, f):
    """Files of NumPy, CIFAR-100 and NRRD, and what is kept in memory. Loops take part with 0 workers."""
    arrays, items, tiny, patients = data.arrays(), f.made("items224", 512), f.made("cifar100", 50000), f.made("volumes", 8)
    for workers in o.workers or ((0, 1, 2, 4) if o.full else (0, 2)):
        peers = LOOPS if workers == 0 and not o.full else ()
        few = 1 if o.full else 2
        yield Cell("throughput", "preprocessed", "float32 files", items, 256, workers, 2048, peers=peers)
        yield Cell("throughput", "npy", "npy, one array", arrays, 32, workers, 4096 // few, peers=peers)
        yield Cell("throughput", "npy-items", "npy, a file each", arrays, 32, workers, 4096 // few, peers=peers)
        yield Cell("throughput", "npy-cached", "npy, in memory", arrays, 32, workers, 4096 // few, peers=peers)
        yield Cell("throughput", "cifar100", "CIFAR-100", tiny, 64, workers, 20000 // few, peers=peers)
        yield Cell("throughput", "nrrd", "NRRD, gzip", patients, 2, workers, 16, peers=peers)
        yield Cell("throughput", "volumes-cached", "volumes, in memory", patients, 2, workers, 256 // few, peers=peers)


def loading(o, f):
    """Study 1. Batches for four periods of as many as there are workers; with a slow consumer fewer."""
    works = {"photos": ("eval", f.photos()), "preprocessed": ("preprocessed", f.made("items224", 512))}
    for name, (work, folder) in works.items():
        for batch in o.batch or ((32, 128, 256, 512, 1024) if o.full else (32,)):
            for workers in o.workers or ((1, 2, 4, 8, 32, 48, 64) if o.full else (1, 2, 4, 8)):
                batches = max(17, min(4 * workers, workers + 32) + 1)
                yield Cell("loading", work, name, folder, batch, workers, batch * batches, both=True, peers=PYTORCH)
                if o.full or name == "photos" and workers == 4:
                    batches = max(12, min(workers + 4, 24))
                    yield Cell("loading", work, name, folder, batch, workers, batch * batches, consumer=2 if o.full else 0.1, both=True, peers=PYTORCH)


def endtoend(o, f):
    """Study 2, with nets on the processor that workers have too. PyTorch takes its faster way of loading."""
    works = {"photos": ("eval", f.photos()), "preprocessed": ("preprocessed", f.made("items64", 512))}
    works = works if o.full else {"photos": works["photos"]}
    for name, (work, folder) in works.items():
        for model in NETS if o.full else ("conv-small", "vit"):
            for batch in o.batch or ((32, 128, 256, 512, 1024) if o.full else (8, 32)):
                for workers in o.workers or ((1, 2, 4, 8, 12, 16, 32, 48, 64) if o.full else (1, 2)):
                    yield Cell("endtoend", work, name, folder, batch, workers, 4096 if o.full else 128, size=64, model=model, peers=PYTORCH[1:])


def simulated(o, f):
    """Study 2 with devices of given speed, which take nothing from the processor."""
    works = {"photos": ("eval", f.photos()), "preprocessed": ("preprocessed", f.made("items224", 512))}
    for name, (work, folder) in works.items():
        for speed in (250, 500, 1000, 2000, 4000, 8000, 16000) if o.full else (500, 1500, 6000):
            for batch in o.batch or ((32, 128, 256, 512, 1024) if o.full else (32, 128)):
                for workers in o.workers or ((1, 2, 4, 8, 12, 16, 32, 48, 64) if o.full else (1, 2, 4)):
                    yield Cell("endtoend", work, name, folder, batch, workers, 16384 if o.full else 512, speed=speed, peers=PYTORCH[1:])


def profile(o, f):
    """Study 3: CIFAR-100 in batches of 64, shuffled, the first batch and an epoch."""
    n = 50000 if o.full else 10000
    folder = f.made("cifar100", 50000)
    for workers in o.workers or (1, 2, 4, 8, 16):
        yield Cell("profile", "cifar100", "CIFAR-100", folder, 64, workers, n, shuffle=True)


def volumes(o, f):
    """Study 4: slices in three views with annotation maps, shuffled."""
    n = 64 if o.full else 4
    folder = f.made("volumes", n)
    for batch in o.batch or ((1, 2, 4, 8) if o.full else (1, 8)):
        for workers in o.workers or ((1, 2, 4, 8) if o.full else (1, 2, 4)):
            yield Cell("volumes", "volumes", "volumes", folder, batch, workers, n * SLICES, shuffle=True)


def inference(o, f):
    """Study 5: nets on the processor, without loading."""
    for model in NETS:
        batches = tuple(o.batch or ((32, 128, 256, 512, 1024) if o.full else (1, 4, 16, 64)))
        yield Cell("inference", "nets", "random", "", batches[0], 0, 128, size=64, model=model, batches=batches)


def onnx(o, f):
    """Study 5 with nets of usual size, in ONNX Runtime and PyTorch."""
    for model in ("efficientnet-lite0", "vit-tiny"):
        batches = tuple(o.batch or ((1, 2, 4, 8, 16, 32, 64, 128) if o.full else (1, 4, 16, 64)))
        yield Cell("inference", "onnx", "random, 224 pixels", "", batches[0], 0, 64, model=model, batches=batches)


SETS = {s.__name__: s for s in (photos, formats, loading, endtoend, simulated, profile, volumes, inference, onnx)}
