"""PyTorch as fast as its own parts make it: decode_jpeg to uint8 tensors, torchvision's
v2 transforms on them, bytes between the processes, and normalisation per batch, into
one buffer that every batch reuses.
"""

import torch
import torchvision
from torchvision.io import ImageReadMode, decode_jpeg, read_file
from torchvision.transforms import v2

import peer


class Pictures(torch.utils.data.Dataset):
    """Pictures as uint8 (height, width, 3), as the decoder lays them out: rows are copied whole."""

    def __init__(self, o, photos):
        self.draws = [photos[i % len(photos)] for i in range(o.samples)]
        if o.work == "eval":
            self.geometry = v2.Compose([v2.Resize(o.resize, antialias=True), v2.CenterCrop(o.size)])
        else:
            self.geometry = v2.Compose([v2.RandomResizedCrop(o.size, antialias=True), v2.RandomHorizontalFlip()])

    def __len__(self):
        return len(self.draws)

    def __getitem__(self, i):
        path, label = self.draws[i]
        picture = self.geometry(decode_jpeg(read_file(path), mode=ImageReadMode.RGB))
        return picture.permute(1, 2, 0), label


def make(o, photos):
    torch.set_num_threads(1)  # workers have the processors
    loader = torch.utils.data.DataLoader(
        Pictures(o, photos),
        batch_size=o.batch,
        shuffle=o.shuffle,
        num_workers=o.workers,
        persistent_workers=o.workers > 0,
    )
    normalise = Normalise(o.batch, o.size)

    def epoch(number):
        for bytes_, labels in loader:
            yield normalise(bytes_), labels

    return epoch


class Normalise:
    """(x/255 - mean) / std as one multiplication and one addition. The result is valid until the next call."""

    def __init__(self, batch, size):
        std = torch.tensor(peer.STD).view(1, 3, 1, 1)
        self.factor = 1 / (255 * std)
        self.offset = -torch.tensor(peer.MEAN).view(1, 3, 1, 1) / std
        self.out = torch.empty(batch, 3, size, size)

    def __call__(self, pictures):
        out = self.out[: len(pictures)]
        return out.copy_(pictures.permute(0, 3, 1, 2)).mul_(self.factor).add_(self.offset)


if __name__ == "__main__":
    peer.run(make, {"torch": torch.__version__, "torchvision": torchvision.__version__})
