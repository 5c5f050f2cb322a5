"""Batches of penstock, the DataLoader for Go, as PyTorch tensors. Linux only.

    for image, label in penstock.ImageFolder("train", train=True, batch_size=128, shuffle=True):
        ...

A program in Go builds the batches, in memory that this process maps: large fields are not copied.
"""

import collections
import ctypes
import json
import math
import mmap
import os
import shutil
import signal
import socket
import subprocess
import tempfile
import threading
import weakref

try:
    import torch
except ImportError:
    import numpy
    torch = None

Ragged = collections.namedtuple("Ragged", "values offsets")  # sample r is values[offsets[r]:offsets[r + 1]]
SMALL = 1 << 16  # bytes; smaller fields are copied, so that kept labels do not keep their images' memory


class Error(RuntimeError):
    """What the program reports, such as a damaged file. name and index are the sample's, if one failed."""

    def __init__(self, text, name=None, index=None):
        super().__init__(text, name, index)
        self.name, self.index = name, index

    def __str__(self):
        return self.args[0]


class Loader:
    """Loops over the batches of a Go program that calls share.Serve, an epoch at a time.

    Other arguments become the program's flags: batch_size=128 is -batch_size=128. A batch is a named
    tuple of tensors, or of arrays where there is no PyTorch; ragged fields are Ragged. Tensors are valid
    as long as they are used: their memory is reused when the last one over it is gone. Where many batches
    are kept, the later ones are copies in ordinary memory; with copy=True all are.

    The program starts when it is needed and ends with the Loader, with close() or with this process. A
    Loader can be pickled. Every process that uses one, also after a fork, has a program of its own.
    """

    def __init__(self, program, *, copy=False, **flags):
        self._command = [program] if isinstance(program, (str, os.PathLike)) else list(program)
        for name, value in flags.items():
            if value is not None:
                self._command.append(f"-{name}={str(value).lower() if isinstance(value, bool) else value}")
        self._copy, self._next, self._position, self._loop, self._program = copy, {"epoch": 0}, None, None, None

    def __len__(self):
        """Batches in an epoch."""
        return self._started().ask(do="len", epoch=self._next["epoch"])["len"]

    def __iter__(self):
        program, begin = self._started(), self._next
        self._next, self._position, self._loop = {"epoch": begin["epoch"] + 1}, begin, (loop := object())
        try:
            answer = program.ask(**{"do": "begin", "from": begin})
            while "batch" in answer:
                self._position = answer["position"]
                yield program.batch(answer, self._copy)
                if self._loop is not loop:
                    raise RuntimeError("another loop over this Loader has begun")
                answer = program.ask(do="next")
            self._loop = self._position = None
            if self._next["epoch"] == answer["end"]["epoch"]:
                self._next = answer["end"]
        finally:
            if self._loop is loop:  # ended early
                program.tell(do="stop")

    def set_epoch(self, epoch):
        """Makes epoch the next one. Without it every loop is over the next epoch."""
        self._position = None
        if epoch != self._next["epoch"]:
            self._next = {"epoch": epoch}

    def state_dict(self):
        """The place after the last batch, to go on from: for json, pickle or torch.save."""
        return dict(self._position or self._next)

    def load_state_dict(self, state):
        self._next, self._position = dict(state), None

    def __getstate__(self):
        return {**self.__dict__, "_next": self.state_dict(), "_position": None, "_loop": None, "_program": None}

    @property
    def info(self):
        """What the program tells of its data."""
        return self._started().greeting["info"]

    def stats(self):
        """What the program has done, and where its time went, as text."""
        return self._started().ask(do="stats")["stats"]

    def close(self):
        """Ends the program. Tensors stay valid."""
        if self._program:
            self._program.close()

    def _started(self):
        if not self._program or self._program.closed():
            self._program = _Program(self._command)
            weakref.finalize(self, self._program.close)
        return self._program


class ImageFolder(Loader):
    """(image, label) of a folder of images with a folder per class. ImageFolder("-h") lists the flags."""

    def __init__(self, root, *, copy=False, **flags):
        super().__init__("penstock-images", copy=copy, root=root, **flags)

    @property
    def classes(self):
        return self.info["classes"]


class _Program:
    """A program that runs, and the memory that it shares with this process."""

    def __init__(self, command):
        self.command, self.pid, self.text, self.blocks = command, os.getpid(), b"", {}
        self.held, self.lock, self.errors = weakref.WeakSet(), threading.RLock(), tempfile.TemporaryFile()
        path = os.path.dirname(__file__) + os.pathsep + os.environ.get("PATH", os.defpath)
        file = shutil.which(command[0], path=path)
        if not file:
            raise FileNotFoundError(f"{command[0]}: no such program")
        self.socket, theirs = socket.socketpair()
        with theirs:
            self.process = subprocess.Popen(
                [file, *command[1:]], stdin=subprocess.DEVNULL, stderr=self.errors, pass_fds=[theirs.fileno()],
                env={**os.environ, "PENSTOCK_SHARE": str(theirs.fileno())}, start_new_session=True)  # Ctrl-C is ours
        _programs.add(self)
        self.greeting = self.ask()
        names = [f["name"] for f in self.greeting["fields"]]
        self.make = collections.namedtuple("Batch", names, rename=True)._make

    def closed(self):
        return self.socket.fileno() < 0

    def tell(self, **line):
        try:
            self.socket.sendall(json.dumps(line).encode() + b"\n")
        except OSError:
            pass  # it has ended, as the next answer shows

    def ask(self, **line):
        with self.lock:
            if self.closed():
                raise RuntimeError("the Loader was closed in the middle of a loop, or this process is a fork")
            try:
                if line:
                    self.tell(**line)
                answer = self.read()
            except BaseException:  # such as Ctrl-C: an answer is still to come
                self.close()
                raise
        if "error" in answer:
            raise Error(answer["error"], answer.get("name"), answer.get("index"))
        return answer

    def read(self):
        files = []
        while True:
            while b"\n" not in self.text:
                try:
                    data, got, _, _ = socket.recv_fds(self.socket, 1 << 16, 1)
                except ConnectionResetError:
                    data, got = b"", []
                if not data:
                    raise Error(self.ended())
                files += got
                self.text += data
            text, _, self.text = self.text.partition(b"\n")
            line = json.loads(text)
            if "block" not in line:
                return line
            memory = mmap.mmap(files[0], line["size"])
            self.blocks[line["block"]] = memory, ctypes.c_char * line["size"]
            os.close(files.pop(0))

    def batch(self, line, copy):
        """The tensors. They hold their block's region, which holds the ticket that gives the memory back."""
        for block in line.get("gone", ()):
            self.blocks.pop(block, None)
        ticket, regions = _Ticket(self.socket, line["batch"]), {}
        self.held.add(ticket)
        copy = copy or len(self.held) > self.greeting["keep"]
        tensors = []
        for f in line["fields"]:
            if f["block"] and f["block"] not in regions:
                memory, kind = self.blocks[f["block"]]
                regions[f["block"]] = kind.from_buffer(memory)
                regions[f["block"]].ticket = ticket
            x = _tensor(regions.get(f["block"]), f, copy or f["bytes"] < SMALL)
            tensors.append(Ragged(x, f["offsets"]) if "offsets" in f else x)
        return self.make(tensors)

    def ended(self):
        """How the program has ended."""
        self.close()
        code, text = self.process.returncode, self.message
        crash = max(text.rfind("panic: "), text.rfind("fatal error: "))
        begin = crash if crash >= 0 else max(0, len(text) - 4000)
        how = f"was killed by {signal.Signals(-code).name}" if code < 0 else f"ended with status {code}"
        return f"{self.command[0]} {how}: {text[begin:begin + 4000].strip() or 'no message'}"

    def close(self):
        if self.pid == os.getpid() and not self.closed():
            self.socket.shutdown(socket.SHUT_RDWR)  # wakes who waits for an answer
            self.socket.close()
            try:
                self.process.wait(5)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
            with self.errors:
                self.errors.seek(0)
                self.message = self.errors.read().decode(errors="replace")


class _Ticket:
    """Gives a batch's memory back when no tensor is left over it."""

    lost = False

    def __init__(self, socket, batch):
        self.socket, self.batch = socket, batch

    def __del__(self):
        try:
            self.socket.sendall(b'{"do":"%s","batch":%d}\n' % (b"lose" if self.lost else b"free", self.batch))
        except OSError:
            pass  # the program has ended


def _tensor(region, f, copy):
    library, dtype = (torch, getattr(torch, f["dtype"])) if torch else (numpy, numpy.dtype(f["dtype"]))
    if not f["bytes"]:
        return library.empty(f["shape"], dtype=dtype)
    x = library.frombuffer(region, dtype=dtype, count=math.prod(f["shape"]), offset=f["offset"]).reshape(f["shape"])
    return x if not copy else x.clone() if torch else x.copy()


_programs = weakref.WeakSet()


def _fork():  # the other process sees the batches of now, so their memory is not used again
    for ticket in [t for p in list(_programs) for t in list(p.held)]:
        ticket.lost = True


def _forked():
    for program in list(_programs):
        program.socket.close()


os.register_at_fork(before=_fork, after_in_child=_forked)
