"""penstock's batches as PyTorch tensors: what penstock's own side loads, in a loop in Python."""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "examples" / "python"))

import penstock
import torch

import peer


def make(o, photos):
    torch.set_num_threads(1)  # the program has the processors
    loader = penstock.Loader([o.program, "-serve", o.text])

    def epoch(number):
        loader.set_epoch(number)
        return iter(loader)

    return epoch


if __name__ == "__main__":
    peer.run(make, {"torch": torch.__version__})
