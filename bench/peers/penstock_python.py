"""penstock's batches as PyTorch tensors: what penstock's own side loads, in a loop in Python."""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "examples" / "python"))

import penstock
import torch

import peer


def make(o, photos):
    torch.set_num_threads(1)  # the program has the processors
    flags = {"work": o.work, "size": o.size, "samples": o.samples, "shuffle": o.shuffle, "workers": o.workers, "batch": o.batch}
    loader = penstock.Loader([o.program, "-serve", o.folder], **flags)

    def epoch(number):
        loader.set_epoch(number)
        return iter(loader)

    return epoch


if __name__ == "__main__":
    peer.run(make, {"torch": torch.__version__})
