"""PyTorch over CIFAR's pictures as fast as its own parts make it: a tensor of bytes per
sample, bytes between the processes, and normalisation per batch, into one buffer that
every batch reuses.
"""

import torch

import peer


class Pictures(torch.utils.data.Dataset):
    def __init__(self, o, pictures, labels):
        self.samples = o.samples
        self.pictures = torch.from_numpy(pictures)
        self.labels = labels.tolist()

    def __len__(self):
        return self.samples

    def __getitem__(self, i):
        i %= len(self.labels)
        return self.pictures[i], self.labels[i]


def make(o, inputs):
    torch.set_num_threads(1)  # workers have the processors
    pictures = Pictures(o, *inputs)
    loader = torch.utils.data.DataLoader(
        pictures, batch_size=o.batch, shuffle=o.shuffle, num_workers=o.workers, persistent_workers=o.workers > 0
    )
    out = torch.empty(o.batch, *pictures.pictures.shape[1:])

    def epoch(number):
        for bytes_, labels in loader:
            # (x/255 - 1/2) / (1/2), in a buffer that is valid until the next batch
            yield out[: len(bytes_)].copy_(bytes_).mul_(2 / 255).sub_(1), labels

    return epoch


if __name__ == "__main__":
    peer.run(make, {"torch": torch.__version__})
