"""Batches of penstock, the DataLoader for Go, as PyTorch tensors. Linux only.

    for image, label in penstock.ImageFolder("train", train=True, batch_size=128, shuffle=True):
        ...

A program in Go builds the batches, in memory that this process maps: large fields are not copied.
"""

import os
import weakref

from .program import Error, Program, Ragged, torch


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
        self._command = [program] if isinstance(program, (str, os.PathLike)) else list(program)
        for name, value in flags.items():
            if value is not None:
                self._command.append(f"-{name}={str(value).lower() if isinstance(value, bool) else value}")
        self._copy, self._program, self._loop = copy, None, None
        self._next = {"epoch": 0}  # where the next loop begins
        self._position = None  # after the last batch of the loop that runs

    def __len__(self):
        """Batches in an epoch."""
        return self._started().ask(do="len", epoch=self._next["epoch"])["len"]

    def __iter__(self):
        program, begin = self._started(), self._next
        self._next, self._position, self._loop = {"epoch": begin["epoch"] + 1}, begin, (loop := object())
        try:
            answer = program.ask(self._copy, **{"do": "begin", "from": begin})
            while "batch" in answer:
                self._position = answer["position"]
                yield answer.pop("tensors")
                if self._loop is not loop:
                    raise RuntimeError("another loop over this Loader has begun")
                answer = program.ask(self._copy, do="next")
            self._loop = self._position = None
            if self._next["epoch"] == answer["end"]["epoch"]:
                self._next = answer["end"]
        finally:
            if self._loop is loop:  # ended early
                program.tell(do="stop")

    def set_epoch(self, epoch):
        """Makes epoch the next one. Without it, every loop is over the epoch after the last one."""
        self._position = None
        if epoch != self._next["epoch"]:
            self._next = {"epoch": epoch}

    def state_dict(self):
        """The place after the last batch, to go on from: for json, pickle or torch.save."""
        return dict(self._position or self._next)

    def load_state_dict(self, state):
        self._next, self._position = dict(state), None

    def __getstate__(self):
        return {**self.__dict__, "_next": self.state_dict(), "_position": None, "_program": None, "_loop": None}

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
            self._program = Program(self._command)
            weakref.finalize(self, self._program.close)
        return self._program


class ImageFolder(Loader):
    """(image, label) of the images in a folder, with a folder per class. `penstock-images -h` lists the flags."""

    def __init__(self, root, *, copy=False, **flags):
        super().__init__("penstock-images", copy=copy, root=os.path.abspath(root), **flags)

    @property
    def classes(self):
        return self.info["classes"]
