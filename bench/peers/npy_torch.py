"""PyTorch over NumPy's files: np.load in a Dataset, DataLoader. One array is mapped, as
its rows are then read by those who need them; a file per item is read.
"""

import numpy
import torch

import peer


class Array(torch.utils.data.Dataset):
    def __init__(self, o, paths):
        self.samples = o.samples
        self.array = numpy.load(paths[0], mmap_mode="r")

    def __len__(self):
        return self.samples

    def __getitem__(self, i):
        return (torch.from_numpy(numpy.array(self.array[i % len(self.array)])),)


class Items(torch.utils.data.Dataset):
    def __init__(self, o, paths):
        self.samples = o.samples
        self.paths = paths

    def __len__(self):
        return self.samples

    def __getitem__(self, i):
        return (torch.from_numpy(numpy.load(self.paths[i % len(self.paths)])),)


class Memory(torch.utils.data.Dataset):
    """Items in memory, read by the first process before the workers start."""

    def __init__(self, o, paths):
        self.samples = o.samples
        self.items = [torch.from_numpy(numpy.load(path)) for path in paths]

    def __len__(self):
        return self.samples

    def __getitem__(self, i):
        return (self.items[i % len(self.items)],)


def make(o, paths):
    torch.set_num_threads(1)  # workers have the processors
    dataset = {"npy": Array, "npy-items": Items, "npy-cached": Memory}[o.work](o, paths)
    loader = torch.utils.data.DataLoader(
        dataset, batch_size=o.batch, num_workers=o.workers, persistent_workers=o.workers > 0
    )
    return lambda number: iter(loader)


if __name__ == "__main__":
    peer.run(make, {"torch": torch.__version__, "numpy": numpy.__version__})
