"""Batches of penstock, the DataLoader for Go, as PyTorch tensors. Linux only.

    for image, label in penstock.ImageFolder("train", train=True, batch_size=128, shuffle=True):
        ...

A program in Go builds the batches, in memory that this process maps: large fields are not copied.
"""

import collections
import json
import operator
import os
import socket
import subprocess
import weakref

import numpy

try:
    import torch
except ImportError:
    torch = None

__version__ = "0.1.0.dev0"
__all__ = ["Error", "ImageFolder", "Loader", "Ragged"]


def __dir__():
    return [*__all__, "__version__"]


# Sample r of a ragged field is values[offsets[r]:offsets[r + 1]].
Ragged = collections.namedtuple("Ragged", "values offsets")


class Error(RuntimeError):
    """What the program reports, such as a damaged file. name and index are the sample's, if one failed."""

    def __init__(self, text, name=None, index=None):
        super().__init__(text)
        self.name, self.index = name, index


class Loader:
    """Loops over the batches of a Go program that calls share.Serve, an epoch at a time.

    Other arguments become the program's flags: batch_size=128 is -batch_size=128. A batch is a named
    tuple of tensors, or of NumPy arrays where there is no PyTorch; ragged fields are Ragged. NumPy has no
    bfloat16: its bits are uint16.

    Tensors are valid as long as they are used: a batch's memory is used again when the last tensor over
    it is gone. While many batches are kept, further ones are copied into ordinary memory; with copy=True
    all are.

    The program starts when it is needed, and ends with the Loader, with close() or with this process. A
    Loader can be pickled. Every process that uses it, also after a fork, has a program of its own. One
    thread at a time may use it; tensors may go to any thread.
    """

    def __init__(self, program, *, copy=False, **flags):
        self._socket = None
        command = [program] if isinstance(program, (str, os.PathLike)) else program
        flags = [f"-{name}={flags[name]}" for name in flags if flags[name] is not None]
        self._command, self._copy = [*command, *flags], copy
        # where the next loop begins, and where the last one was left
        self._next, self._position = {"epoch": 0}, None

    def __len__(self):
        """Batches in an epoch."""
        return self._ask(do="len", epoch=self._next["epoch"])["len"]

    def __iter__(self):
        begin = self._next
        self._next, self._position = {"epoch": begin["epoch"] + 1}, begin
        question = {"do": "begin", "from": begin}
        while "batch" in (answer := self._ask(**question)):
            question = {"do": "next", "after": answer["batch"]}
            self._position = answer["position"]
            yield self._tensors(answer)
        self._position = answer["end"]

    def set_epoch(self, epoch):
        """Makes epoch the next one. Without it, every loop is over the epoch after the last one."""
        same = epoch == self._next["epoch"]
        self.load_state_dict(self._next if same else {"epoch": epoch})

    def state_dict(self):
        """The place after the last batch, to go on from: for json, pickle or torch.save."""
        return dict(self._position or self._next)

    def load_state_dict(self, state):
        self._next, self._position = dict(state), None

    def __getstate__(self):
        fresh = Loader(self._command, copy=self._copy)
        return {**vars(fresh), "_next": self.state_dict()}

    @property
    def info(self):
        """What the program tells of its data."""
        return self._ask(do="hello", version=2)["info"]

    def stats(self):
        """What the program has done, and where its time went, as text."""
        return self._ask(do="stats")["stats"]

    def close(self):
        """Ends the program, and returns how it has ended. Tensors stay valid."""
        if not self._running():
            return None
        self._socket.close()
        # seconds; a program in which a sample hangs takes 5
        status = self._process.wait(10)
        with self._stderr as file:
            file.seek(0)
            message = file.read()[-8000:].strip() or "no message"
        return f"{self._command[0]} ended with status {status}: {message}"

    __del__ = close

    def _running(self):
        return self._socket and self._socket.fileno() >= 0

    def _start(self):
        """Starts the program, which ends when our end of the sockets is closed."""
        self._stderr = open(os.memfd_create("stderr"), "r+", errors="replace")
        ours, theirs = socket.socketpair()
        with theirs:
            # in a session of its own: Ctrl-C is ours
            self._process = subprocess.Popen(
                self._command, stdin=theirs, stderr=self._stderr, start_new_session=True
            )
        self._socket, self._lines = ours, open(ours.fileno(), "rb", closefd=False)
        _sockets.add(ours)
        self._blocks, self._held = {}, []
        names = self._ask(do="hello", version=2)["names"]
        self._batch = collections.namedtuple("Batch", names, rename=True)

    def _ask(self, **question):
        """Sends a question, with the memory that is still used, and returns the answer."""
        if not self._running():
            self._start()
        self._held = [(block, ref) for block, ref in self._held if ref() is not None]
        held = [block for block, _ in self._held]
        question = json.dumps({**question, "held": held, "forks": len(_forks)})
        try:
            self._socket.sendall(question.encode())
            answer = json.loads(self._lines.readline())
        except (OSError, json.JSONDecodeError):
            raise Error(self.close()) from None
        except BaseException:  # such as Ctrl-C: nobody will read the answer
            self.close()
            raise
        if "error" in answer:
            raise Error(answer["error"], answer.get("name"), answer.get("index"))
        return answer

    def _tensors(self, batch):
        """The batch, whose tensors hold regions: memory without a region is free to be used again."""
        for block in batch["gone"]:
            self._blocks.pop(block, None)
        tensors = []
        for f in batch["fields"]:
            region = self._region(f["block"], f["file"]) if f["bytes"] else None
            dtype = f["dtype"].replace("bfloat16", "uint16")
            x = numpy.ndarray(f["shape"], dtype, region, f["offset"])
            x = x.copy() if self._copy or f["copy"] else x
            x = torch.from_numpy(x).view(getattr(torch, f["dtype"])) if torch else x
            offsets = (torch or numpy).asarray(f.get("offsets", []))
            tensors.append(Ragged(x, offsets) if "offsets" in f else x)
        return self._batch(*tensors)

    def _region(self, block, file):
        if block not in self._blocks:
            self._blocks[block] = numpy.memmap(file, mode="r+")
        region = self._blocks[block].view(numpy.ndarray)
        # no callback of the reference: a Ctrl-C would get lost in it
        self._held.append((block, weakref.ref(region)))
        return region


def ImageFolder(
    root,
    *,
    train=False,
    size=224,
    dtype="float32",
    batch_size=1,
    num_workers=None,
    prefetch_factor=0,
    timeout=0,
    shuffle=False,
    torch_order=False,
    seed=0,
    drop_last=False,
    rank=0,
    num_replicas=1,
    uneven="pad",
    on_error="stop",
    max_errors=-1,
    copy=False,
    **unknown,
):
    """A Loader of (image, label): the images in a folder, with a folder per class.

    train: RandomResizedCrop and RandomHorizontalFlip, in place of Resize and CenterCrop
    size: pixels of a side of the result
    dtype: "float32", "float16" or "bfloat16", normalised with ImageNet's numbers, or "uint8"
    num_workers: goroutines that assemble batches; None: one per processor
    prefetch_factor: batches per worker ahead of the loop; 0: 2, or less where that takes over 2 GiB
    timeout: seconds to wait for a batch; 0: for ever
    torch_order: shuffle as DataLoader(shuffle=True) does after torch.manual_seed(seed)
    rank, num_replicas: of this process, and of all, in distributed training
    uneven: "pad", "drop" or "keep", if images do not divide evenly among processes
    on_error: "stop" at or "skip" damaged images; max_errors: how many, -1: any number
    copy: tensors in memory of their own
    """
    for name in unknown:
        instead = _INSTEAD.get(name, "help(penstock.ImageFolder) lists the arguments")
        raise TypeError(f"ImageFolder() has no argument {name!r}: {instead}")
    for name, value, choices in (
        ("dtype", dtype, ("float32", "float16", "bfloat16", "uint8")),
        ("uneven", uneven, ("pad", "drop", "keep")),
        ("on_error", on_error, ("stop", "skip")),
    ):
        if value not in choices:
            raise ValueError(f"{name}={value!r}: want {', '.join(choices[:-1])} or {choices[-1]}")
    flags = {"train": train, "shuffle": shuffle, "torch_order": torch_order, "drop_last": drop_last}
    for name, value in flags.items():
        if value not in (True, False):
            raise TypeError(f"{name}={value!r}: want True or False")
        flags[name] = bool(value)
    numbers = {"size": (size, 1), "batch_size": (batch_size, 1), "prefetch_factor": (prefetch_factor, 0), "seed": (seed, 0)}
    numbers |= {"rank": (rank, 0), "num_replicas": (num_replicas, 1), "max_errors": (max_errors, -1)}
    if num_workers is not None:
        numbers["num_workers"] = (num_workers, 1)
    for name, (value, least) in numbers.items():
        try:
            flags[name] = operator.index(value)
        except TypeError:
            raise TypeError(f"{name}={value!r}: want an integer") from None
        if flags[name] < least:
            raise ValueError(f"{name}={value!r}: want {least} or more")
    if rank >= num_replicas:
        raise ValueError(f"rank={rank}: want less than num_replicas={num_replicas}")
    root = os.path.abspath(root)
    if not os.path.isdir(root):
        raise FileNotFoundError(f"root={root!r}: want a folder of images")
    program = os.path.join(os.path.dirname(__file__), "penstock-images")
    flags |= {"dtype": dtype, "timeout": float(timeout), "uneven": uneven, "on_error": on_error}
    return Loader(program, root=root, copy=copy, **flags)


# What torchvision and DataLoader have, and where it is here.
_INSTEAD = {
    "transform": "images get the steps of train=, size= and dtype=; other steps are a program in Go, for Loader",
    "target_transform": "map the labels in the loop",
    "sampler": "the orders are shuffle=, torch_order=, rank= and num_replicas=; other samplers are a program in Go, for Loader",
    "batch_sampler": "the orders are shuffle=, torch_order=, rank= and num_replicas=; others are a program in Go, for Loader",
    "collate_fn": "batches are tensors already",
    "pin_memory": "call image.pin_memory() in the loop",
}


# The other process of a fork sees what is held then. It must not use this one's programs.
_sockets, _forks = weakref.WeakSet(), []
os.register_at_fork(before=lambda: _forks.append(os.getpid()))
os.register_at_fork(after_in_child=lambda: [each.close() for each in list(_sockets)])
