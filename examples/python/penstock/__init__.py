"""Batches of penstock, the DataLoader for Go, as PyTorch tensors. Linux only.

    for image, label in penstock.ImageFolder("train", train=True, batch_size=128, shuffle=True):
        ...

A program in Go builds the batches, in memory that this process maps: large fields are not copied.
"""

from __future__ import annotations

import collections
import contextlib
import difflib
import functools
import inspect
import json
import operator
import os
import socket
import subprocess
import sys
import weakref
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Literal, NamedTuple, TypeVar

if sys.platform != "linux":
    raise ImportError("penstock runs on Linux only: keep torch.utils.data.DataLoader on this system")

import numpy

try:
    import torch
except ImportError:
    torch = None

__version__ = "0.1.0.dev0"
__all__ = ["DataLoader", "Error", "ImageFolder", "Loader", "Ragged", "Shards", "explain"]


def __dir__() -> list[str]:
    return [*__all__, "__version__"]


class Ragged(NamedTuple):
    """A ragged field of a batch: sample r is values[offsets[r]:offsets[r + 1]]."""

    values: Any
    offsets: Any


class Error(RuntimeError):
    """What the program reports, such as a damaged file. name and index are the sample's, if one failed."""

    def __init__(self, text: str | None, name: str | None = None, index: int | None = None) -> None:
        super().__init__(text)
        self.name, self.index = name, index


class Loader:
    """Loops over the batches of a Go program that calls share.Serve, an epoch at a time.

    Other arguments become the program's flags: batch_size=128 is -batch_size=128. A batch is a named tuple of tensors, or of NumPy arrays
    where there is no PyTorch; ragged fields are Ragged. NumPy has no bfloat16: its bits are uint16.

    Tensors are valid as long as they are used: a batch's memory is used again when the last tensor over it is gone. While many batches are
    kept, further ones are copied into ordinary memory; with copy=True all are. pin_memory=True copies all into page-locked memory, where
    torch finds an accelerator, as torch's DataLoader does.

    The program starts now, so that wrong flags are an Error here, and ends with the Loader, with close() or with this process. A loop starts
    it anew if it has ended. A Loader can be pickled. Every process that uses it, also after a fork, has a program of its own. One thread at
    a time may use it; tensors may go to any thread.
    """

    _socket = _config = None

    def __init__(
        self, program: str | os.PathLike[str] | Sequence[str], *, copy: bool = False, pin_memory: bool = False, **flags: Any
    ) -> None:
        command = [program] if isinstance(program, (str, os.PathLike)) else program
        given = [f"-{name}={flags[name]}" for name in flags if flags[name] is not None]
        self._command, self._copy, self.pin_memory = [*map(os.fspath, command), *given], copy, pin_memory
        # where the next loop begins, and where the last one was left
        self._next, self._position = {"epoch": 0}, None
        self._start()  # which says what is wrong with the flags

    def __len__(self) -> int:
        """Batches in an epoch."""
        return self._ask(do="len", epoch=self._next["epoch"])["len"]

    def __iter__(self) -> Iterator[Any]:
        begin = self._next
        self._next, self._position = {"epoch": begin["epoch"] + 1}, begin
        question = {"do": "begin", "from": begin}
        while "batch" in (answer := self._ask(**question)):
            question = {"do": "next", "after": answer["batch"]}
            self._position = answer["position"]
            yield self._tensors(answer)
        self._position = answer["end"]

    def set_epoch(self, epoch: int) -> None:
        """Makes epoch the next one. Without it, every loop is over the epoch after the last one."""
        epoch = _arguments(numbers={"epoch": (epoch, 0)})["epoch"]
        same = epoch == self._next["epoch"]
        self.load_state_dict(self._next if same else {"epoch": epoch})

    def state_dict(self) -> dict[str, Any]:
        """The place after the last batch, to go on from: for json, pickle or torch.save."""
        return dict(self._position or self._next)

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Lets the next loop begin at a place that state_dict() has returned."""
        if not isinstance(state, Mapping) or "epoch" not in state:
            got = f"the keys {sorted(map(str, state))}" if isinstance(state, Mapping) else repr(state)
            raise ValueError(f"load_state_dict: want what state_dict() of a loader has returned, and not {got}")
        self._next, self._position = dict(state), None

    def __getstate__(self) -> dict[str, Any]:
        kept = {name: value for name, value in vars(self).items() if name not in _OF_A_PROCESS}
        return {**kept, "_next": self.state_dict(), "_position": None}

    @property
    def info(self) -> dict[str, Any]:
        """What the program tells of its data."""
        return self._ask(do="hello", version=2)["info"]

    def stats(self) -> str:
        """What the program has done, and where its time went, as text."""
        return self._ask(do="stats")["stats"]

    def close(self) -> str | None:
        """Ends the program, and returns how it has ended. Tensors stay valid."""
        if not self._running():
            return None
        self._socket.close()
        # seconds; a program in which a sample hangs takes 5
        status = self._process.wait(10)
        with self._stderr as file:
            file.seek(0)
            message = file.read()[-8000:].strip() or "no message"
        return f"{os.path.basename(self._command[0])} ended with status {status}: {message}"

    __del__ = close

    def _running(self):
        return self._socket and self._socket.fileno() >= 0

    def _start(self):
        """Starts the program, which ends when our end of the sockets is closed."""
        self._stderr = open(os.memfd_create("stderr"), "r+", errors="replace")
        ours, theirs = socket.socketpair()
        with theirs, _config_files(self._config) as (flags, fds):
            command = [*self._command, *flags]
            try:  # in a session of its own: Ctrl-C is ours
                self._process = subprocess.Popen(command, stdin=theirs, stderr=self._stderr, start_new_session=True, pass_fds=fds)
            except OSError as e:
                ours.close()
                self._stderr.close()
                want = "install penstock's wheel for this processor" if command[0] == _program() else "want what go build has made, such as ./program"
                raise type(e)(e.errno, f"{os.strerror(e.errno)}: {want}", command[0]) from None
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
            ended = self.close()
            raise Error(f"{ended}{_ENDED.get(self._process.returncode, '')}") from None
        except BaseException:  # such as Ctrl-C: nobody will read the answer
            self.close()
            raise
        if "error" in answer:
            text = answer["error"]
            if "index" in answer and self._command[0] == _program():
                text += ": repair it, or leave such samples out by on_error='skip'"
            elif text.startswith("loader: From: "):
                text += ": want the data, the order and the seed of the loader whose state_dict() it was"
            raise Error(text, answer.get("name"), answer.get("index"))
        return answer

    def _tensors(self, batch):
        """The batch, whose tensors hold regions: memory without a region is free to be used again."""
        for block in batch["gone"]:
            self._blocks.pop(block, None)
        tensors, pin = [], self.pin_memory and torch and getattr(torch, "accelerator", torch.cuda).is_available()
        for f in batch["fields"]:
            region = self._region(f["block"], f["file"]) if f["bytes"] else None
            dtype = f["dtype"].replace("bfloat16", "uint16")
            x = numpy.ndarray(f["shape"], dtype, region, f["offset"])
            x = x.copy() if self._copy or f["copy"] else x
            x = torch.from_numpy(x).view(getattr(torch, f["dtype"])) if torch else x
            offsets = (torch or numpy).asarray(f.get("offsets", []))
            if pin:
                x, offsets = x.pin_memory(), offsets.pin_memory()
            tensors.append(Ragged(x, offsets) if "offsets" in f else x)
        return self._batch(*tensors)

    def _region(self, block, file):
        if block not in self._blocks:
            self._blocks[block] = numpy.memmap(file, mode="r+")
        region = self._blocks[block].view(numpy.ndarray)
        # no callback of the reference: a Ctrl-C would get lost in it
        self._held.append((block, weakref.ref(region)))
        return region


# What the status of a program that has ended may mean.
_ENDED = {0: ": want a program that calls share.Serve", -9: ": it was killed: if memory ran out, want a smaller batch_size or prefetch_factor"}

# What of a Loader belongs to its program, and so to this process.
_OF_A_PROCESS = ("_process", "_stderr", "_socket", "_lines", "_blocks", "_held", "_batch")

Call = TypeVar("Call", bound=Callable[..., Any])


def _named(call: Call) -> Call:
    """A call that answers an argument which it does not have with what would be right."""
    known = list(inspect.signature(call).parameters)
    title = call.__qualname__.replace(".__init__", "")

    @functools.wraps(call)
    def checked(*arguments, **named):
        for name in named:
            if name not in known:
                close = [f"did you mean {each!r}?" for each in difflib.get_close_matches(name, known, 1)]
                instead = _INSTEAD.get(name) or (close or [f"help(penstock.{title}) lists the arguments"])[0]
                raise TypeError(f"{title}() has no argument {name!r}: {instead}")
        return call(*arguments, **named)

    return checked  # type: ignore[return-value]


@_named
def ImageFolder(
    root: str | os.PathLike[str],
    *,
    train: bool = False,
    size: int = 224,
    dtype: Literal["float32", "float16", "bfloat16", "uint8"] = "float32",
    batch_size: int = 1,
    num_workers: int | None = None,
    prefetch_factor: int = 0,
    timeout: float = 0,
    shuffle: bool = False,
    torch_order: bool = False,
    seed: int = 0,
    drop_last: bool = False,
    rank: int = 0,
    num_replicas: int = 1,
    uneven: Literal["pad", "drop", "keep"] = "pad",
    on_error: Literal["stop", "skip"] = "stop",
    max_errors: int = -1,
    pin_memory: bool = False,
    copy: bool = False,
) -> Loader:
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
    pin_memory: copy into page-locked memory, where torch finds an accelerator
    copy: tensors in memory of their own
    """
    numbers = {"size": (size, 1), "batch_size": (batch_size, 1), "prefetch_factor": (prefetch_factor, 0), "seed": (seed, 0)}
    numbers |= {"rank": (rank, 0), "num_replicas": (num_replicas, 1), "max_errors": (max_errors, -1), "timeout": (timeout, 0.0)}
    if num_workers is not None:
        numbers["num_workers"] = (num_workers, 1)
    flags = _arguments(
        choices={"dtype": dtype, "uneven": uneven, "on_error": on_error},
        flags={"train": train, "shuffle": shuffle, "torch_order": torch_order, "drop_last": drop_last},
        numbers=numbers,
    )
    if rank >= num_replicas:
        raise ValueError(f"rank={rank}: want less than num_replicas={num_replicas}")
    root = os.path.abspath(root)
    if not os.path.isdir(root):
        raise FileNotFoundError(f"root={root!r}: want a folder of images")
    return Loader(_program(), root=root, copy=copy, pin_memory=pin_memory, **flags)


_CHOICES = {"dtype": ("float32", "float16", "bfloat16", "uint8"), "uneven": ("pad", "drop", "keep"), "on_error": ("stop", "skip")}


def _arguments(choices={}, flags={}, numbers={}):
    """The program's flags, from arguments that are checked. numbers have their least values, which are floats where fractions are allowed."""
    for name, value in choices.items():
        *others, last = _CHOICES[name]
        if value not in _CHOICES[name]:
            raise ValueError(f"{name}={value!r}: want {', '.join(others)} or {last}")
    for name, value in flags.items():
        if value not in (True, False):
            raise TypeError(f"{name}={value!r}: want True or False")
    checked = {**choices, **{name: bool(value) for name, value in flags.items()}}
    for name, (value, least) in numbers.items():
        kind, want = (float, "a number") if isinstance(least, float) else (operator.index, "an integer")
        try:
            checked[name] = kind(value)
        except (TypeError, ValueError):
            raise TypeError(f"{name}={value!r}: want {want}") from None
        if not checked[name] >= least:
            raise ValueError(f"{name}={value!r}: want {least} or more")
    return checked


def _program():
    return os.path.join(os.path.dirname(__file__), "penstock-images")


@contextlib.contextmanager
def _config_files(config):
    """The flag that names a file with the configuration, and the descriptors that a program needs for it. config has its arrays beside it, or is None."""
    fds = []

    def add(data):
        fds.append(os.memfd_create("config"))
        with open(fds[-1], "wb", closefd=False) as file:
            file.write(data)
        return f"/proc/self/fd/{fds[-1]}"

    try:
        flags = []
        if config is not None:
            config, arrays = config
            names = [add(each.reshape(-1).view(numpy.uint8)) for each in arrays]
            parts = [{**part, "array": names[part["array"]]} if "array" in part else part for part in config["parts"]]
            flags = ["-config=" + add(json.dumps({**config, "parts": parts}).encode())]
        yield flags, fds
    finally:
        for fd in fds:
            os.close(fd)


# What torchvision and DataLoader have, and where it is here.
_INSTEAD = {
    "transform": "want it in the dataset: penstock.DataLoader(torchvision.datasets.ImageFolder(root, transform))",
    "target_transform": "map the labels in the loop",
    "sampler": "the orders are shuffle=, torch_order=, rank= and num_replicas=; penstock.DataLoader takes torch's samplers",
    "batch_sampler": "the orders are shuffle=, torch_order=, rank= and num_replicas=; penstock.DataLoader takes lists of batches",
    "collate_fn": "batches are tensors already",
    "rank": "pass sampler=DistributedSampler(dataset, num_replicas, rank)",
    "num_replicas": "pass sampler=DistributedSampler(dataset, num_replicas, rank)",
    "epoch": "call set_epoch(epoch) of the loader",
    **dict.fromkeys(("root", "train", "size", "dtype"), "dataset says it: torchvision.datasets.ImageFolder(root, transform)"),
}


# The other process of a fork sees what is held then. It must not use this one's programs.
_sockets, _forks = weakref.WeakSet(), []
os.register_at_fork(before=lambda: _forks.append(os.getpid()))
os.register_at_fork(after_in_child=lambda: [each.close() for each in list(_sockets)])

from ._data import DataLoader, Shards, explain  # which need what is above
