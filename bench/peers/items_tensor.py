"""PyTorch over preprocessed items: files mapped as tensors, which the workers' collate
copies into shared memory. numpy.fromfile, which copies once more, is slower.
"""

import math

import torch

import peer


class Items(torch.utils.data.Dataset):
    def __init__(self, o, items):
        self.shape = (3, o.size, o.size)
        self.draws = [items[i % len(items)] for i in range(o.samples)]

    def __len__(self):
        return len(self.draws)

    def __getitem__(self, i):
        path, label = self.draws[i]
        return torch.from_file(path, size=math.prod(self.shape), dtype=torch.float32).view(self.shape), label


def make(o, items):
    torch.set_num_threads(1)  # workers have the processors
    loader = torch.utils.data.DataLoader(
        Items(o, items), batch_size=o.batch, num_workers=o.workers, persistent_workers=o.workers > 0
    )
    return lambda number: iter(loader)


if __name__ == "__main__":
    peer.run(make, {"torch": torch.__version__})
