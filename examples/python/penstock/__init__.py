"""Batches of penstock, the DataLoader for Go, as PyTorch tensors. Linux only.

    for image, label in penstock.ImageFolder("train", train=True, batch_size=128, shuffle=True):
        ...

A program in Go builds the batches, in memory that this process maps: large fields are not copied.
"""

import collections
import contextlib
import ctypes
import json
import mmap
import os
import signal
import socket
import subprocess
import tempfile
import threading
import weakref

import numpy

try:
    import torch
except ImportError:
    torch = None

Ragged = collections.namedtuple("Ragged", "values offsets")  # sample r is values[offsets[r]:offsets[r + 1]]


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
    Loader can be pickled. Every process that uses it, also after a fork, has a program of its own.
    """

    def __init__(self, program, *, copy=False, **flags):
        command = [program] if isinstance(program, (str, os.PathLike)) else list(program)
        self._command = command + [f"-{name}={value}" for name, value in flags.items() if value is not None]
        self._copy, self._program = copy, None
        self._next, self._position = {"epoch": 0}, None  # where the next loop begins, and where the last one was left

    def __len__(self):
        """Batches in an epoch."""
        return self._started().ask(do="len", epoch=self._next["epoch"])["len"]

    def __iter__(self):
        program, begin, last = self._started(), self._next, 0
        self._next, self._position = {"epoch": begin["epoch"] + 1}, begin
        try:
            answer = program.ask(self._copy, **{"do": "begin", "from": begin})
            while "batch" in answer:
                last, self._position = answer["batch"], answer["position"]
                yield answer.pop("tensors")
                answer = program.ask(self._copy, do="next", after=last)
            self._position = None
            if self._next["epoch"] == answer["end"]["epoch"]:
                self._next = answer["end"]
        finally:
            program.tell(do="stop", after=last)

    def set_epoch(self, epoch):
        """Makes epoch the next one. Without it, every loop is over the epoch after the last one."""
        self._next, self._position = self._next if epoch == self._next["epoch"] else {"epoch": epoch}, None

    def state_dict(self):
        """The place after the last batch, to go on from: for json, pickle or torch.save."""
        return dict(self._position or self._next)

    def load_state_dict(self, state):
        self._next, self._position = dict(state), None

    def __getstate__(self):
        return {**self.__dict__, "_next": self.state_dict(), "_position": None, "_program": None}

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
    """(image, label) of the images in a folder, with a folder per class. `penstock-images -h` lists the flags."""

    def __init__(self, root, **arguments):
        super().__init__("penstock-images", root=os.path.abspath(root), **arguments)

    @property
    def classes(self):
        return self.info["classes"]


class _Program:
    """A program that runs, and the memory that it shares. Package share in Go describes the protocol."""

    def __init__(self, command):
        self.name, self.pid, self.lock, self.stderr = command[0], os.getpid(), threading.Lock(), tempfile.TemporaryFile()
        self.blocks, self.held, self.given_back = {}, {}, []
        self.socket, theirs = socket.socketpair()
        self.lines = open(self.socket.fileno(), "rb", closefd=False)
        with theirs:
            path = os.path.dirname(__file__) + os.pathsep + os.environ.get("PATH", os.defpath)
            environment = {**os.environ, "PATH": path, "PENSTOCK_SHARE": str(theirs.fileno())}
            self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stderr=self.stderr, env=environment,
                                            pass_fds=[theirs.fileno()], start_new_session=True)  # Ctrl-C is ours
        _programs.add(self)
        self.greeting = self.ask(do="hello", version=1)
        self.batch = collections.namedtuple("Batch", [f["name"] for f in self.greeting["fields"]], rename=True)._make

    def closed(self):
        return self.pid != os.getpid() or self.socket.fileno() < 0

    def tell(self, **line):
        with contextlib.suppress(OSError):  # if the program has ended, the next answer shows it
            self.closed() or self.socket.sendall(json.dumps(line).encode() + b"\n")

    def ask(self, copy=False, **question):
        """The answer, with the tensors if it is a batch."""
        with self.lock:
            if self.closed():
                raise RuntimeError("the Loader was closed in the middle of a loop, or this process is a fork")
            try:
                self.tell(**question, free=[self.held.pop(id(self.given_back.pop()))[1] for _ in list(self.given_back)])
                answer = json.loads(self.lines.readline())
                if "batch" in answer:
                    answer["tensors"] = self.tensors(answer, copy)
            except (ConnectionError, json.JSONDecodeError):
                raise Error(self.close()) from None
            except BaseException:  # such as Ctrl-C: nobody will read the answer, or give the batch back
                self.close()
                raise
        if "error" in answer:
            raise Error(answer["error"], answer.get("name"), answer.get("index"))
        return answer

    def tensors(self, batch, copy):
        """They hold their block's region. When that is gone, the next question gives the memory back."""
        regions, tensors = {}, []
        for block in batch["gone"]:
            self.blocks.pop(block, None)
        for m in batch["memory"]:
            if m["block"] not in self.blocks:
                with open(m["file"], "r+b") as file:
                    self.blocks[m["block"]] = mmap.mmap(file.fileno(), 0)
            memory = self.blocks[m["block"]]
            regions[m["block"]] = region = (ctypes.c_char * len(memory)).from_buffer(memory)
            ref = weakref.ref(region, self.given_back.append)  # no Python code, in which a Ctrl-C would get lost
            self.held[id(ref)] = ref, m["hold"]
        for f in batch["fields"]:
            x = numpy.ndarray(f["shape"], f["dtype"].replace("bfloat16", "uint16"), regions.get(f["block"]), f["offset"])
            x = x.copy() if copy or f["copy"] else x
            x = torch.from_numpy(x).view(getattr(torch, f["dtype"])) if torch else x
            tensors.append(Ragged(x, (torch or numpy).asarray(f["offsets"])) if "offsets" in f else x)
        return self.batch(tensors)

    def close(self):
        """Returns how the program has ended."""
        if self.closed():
            return
        self.socket.shutdown(socket.SHUT_RDWR)  # wakes who waits for an answer
        self.socket.close()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.process.wait(5)
        self.process.kill()  # does nothing if it has ended
        status = self.process.wait()
        end = f"was killed by {signal.Signals(-status).name}" if status < 0 else f"ended with status {status}"
        with self.stderr as file:
            file.seek(0)
            return f"{self.name} {end}: {file.read()[-8000:].decode(errors='replace').strip() or 'no message'}"


# The other process sees the batches that are held at a fork: the program does not use their memory again.
_programs = weakref.WeakSet()
os.register_at_fork(before=lambda: [program.tell(do="fork") for program in list(_programs)])
