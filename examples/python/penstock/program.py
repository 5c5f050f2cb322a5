"""A program in Go that runs, and the memory that it shares with this process."""

import collections
import contextlib
import ctypes
import functools
import json
import math
import mmap
import operator
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
SMALL = 1 << 16  # bytes; smaller fields are copied, so that who keeps labels does not keep the images' memory
VERSION = 1  # of the protocol, which package share describes


class Error(RuntimeError):
    """What the program reports, such as a damaged file. name and index are the sample's, if one failed."""

    def __init__(self, text, name=None, index=None):
        super().__init__(text, name, index)
        self.name, self.index = name, index

    def __str__(self):
        return self.args[0]


class Program:
    def __init__(self, command):
        path = os.path.dirname(__file__) + os.pathsep + os.environ.get("PATH", os.defpath)
        file = shutil.which(command[0], path=path)
        if not file:
            raise FileNotFoundError(f"{command[0]}: no such program")
        self.command, self.pid, self.text, self.files, self.blocks = command, os.getpid(), b"", [], {}
        self.held, self.lock, self.stderr = [], threading.RLock(), tempfile.TemporaryFile()
        self.socket, theirs = socket.socketpair()
        with theirs:
            self.process = subprocess.Popen(
                [file, *command[1:]], stdin=subprocess.DEVNULL, stderr=self.stderr, pass_fds=[theirs.fileno()],
                env={**os.environ, "PENSTOCK_SHARE": str(theirs.fileno())}, start_new_session=True)  # Ctrl-C is ours
        _programs.add(self)
        self.greeting = self.ask()
        if self.greeting["version"] != VERSION:
            self.close()
            raise Error(f"{command[0]} speaks version {self.greeting['version']} of the protocol, this package {VERSION}")
        self.make = collections.namedtuple("Batch", [f["name"] for f in self.greeting["fields"]], rename=True)._make

    def closed(self):
        return self.socket.fileno() < 0

    def tell(self, **line):
        with contextlib.suppress(OSError):  # if the program has ended, the next answer shows it
            self.socket.sendall(json.dumps(line).encode() + b"\n")

    def ask(self, copy=False, **question):
        """The answer, with the tensors if it is a batch."""
        with self.lock:
            if self.closed():
                raise RuntimeError("the Loader was closed in the middle of a loop, or this process is a fork")
            try:
                if question:
                    self.tell(**question)
                while "block" in (answer := self.read()):
                    self.map(answer["block"], answer["size"])
                if "batch" in answer:
                    answer["tensors"] = self.tensors(answer, copy)
            except BaseException:  # such as Ctrl-C: nobody will read the answer, or give the batch back
                self.close()
                raise
        if "error" in answer:
            raise Error(answer["error"], answer.get("name"), answer.get("index"))
        return answer

    def read(self):
        """A line of the program. The file of a block comes with its line."""
        while b"\n" not in self.text:
            text, files = b"", []
            with contextlib.suppress(ConnectionResetError):
                text, files, _, _ = socket.recv_fds(self.socket, 1 << 16, 1)
            if not text:
                raise Error(self.ended())
            self.text += text
            self.files += files
        line, _, self.text = self.text.partition(b"\n")
        return json.loads(line)

    def map(self, block, size):
        file = self.files.pop(0)
        self.blocks[block] = mmap.mmap(file, size), ctypes.c_char * size
        os.close(file)

    def tensors(self, line, copy):
        """They hold their block's region, which holds a ticket. When that is gone, the memory is given back."""
        for block in line.get("gone", ()):
            self.blocks.pop(block, None)
        ticket, regions, tensors = _Ticket(), {}, []
        self.held = [hold for hold in self.held if hold()]
        self.held.append(_Hold(ticket, self.socket, line["batch"]))
        copy = copy or len(self.held) > self.greeting["keep"]
        for f in line["fields"]:
            block = f["block"]
            if block and block not in regions:
                memory, kind = self.blocks[block]
                regions[block] = kind.from_buffer(memory)
                regions[block].ticket = ticket
            x = _tensor(regions.get(block), f, copy or f["bytes"] < SMALL)
            tensors.append(Ragged(x, (torch or numpy).asarray(f["offsets"])) if "offsets" in f else x)
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
        if self.pid != os.getpid() or self.closed():
            return
        self.held.clear()
        self.socket.shutdown(socket.SHUT_RDWR)  # wakes who waits for an answer
        self.socket.close()
        while self.files:  # of blocks whose lines were cut
            os.close(self.files.pop())
        try:
            self.process.wait(5)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        with self.stderr:
            self.stderr.seek(0)
            self.message = self.stderr.read().decode(errors="replace")


class _Ticket:
    pass


class _Hold(weakref.ref):
    """Tells the program when a ticket is gone. That runs no Python code, in which a Ctrl-C would get lost."""

    __slots__ = ("send", "socket", "number")

    def __new__(cls, ticket, socket, number):
        return super().__new__(cls, ticket, operator.methodcaller("send"))

    def __init__(self, ticket, socket, number):
        super().__init__(ticket)
        self.socket, self.number = socket, number
        self.do(b"free")

    def do(self, what):
        self.send = functools.partial(self.socket.send, b'{"do":"%s","batch":%d}\n' % (what, self.number))


def _tensor(region, f, copy):
    library, dtype = (torch, getattr(torch, f["dtype"])) if torch else (numpy, f["dtype"].replace("bfloat16", "uint16"))
    if not f["bytes"]:
        return library.empty(f["shape"], dtype=dtype)
    x = library.frombuffer(region, dtype=dtype, count=math.prod(f["shape"]), offset=f["offset"]).reshape(f["shape"])
    return x if not copy else x.clone() if torch else x.copy()


_programs = weakref.WeakSet()


def _before_fork():  # the other process sees the batches that are held now: their memory is not used again
    for hold in [hold for program in list(_programs) for hold in list(program.held)]:
        hold.do(b"lose")


def _in_child():
    for program in list(_programs):
        program.held.clear()
        program.socket.close()


os.register_at_fork(before=_before_fork, after_in_child=_in_child)
