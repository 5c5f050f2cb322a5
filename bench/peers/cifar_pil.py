"""PyTorch over CIFAR's pictures as most people write it: a PIL picture per sample, as
torchvision's CIFAR10 makes it, torchvision's transforms, DataLoader.
"""

import PIL
import torch
import torchvision
from PIL import Image
from torchvision import transforms

import peer


class Pictures(torch.utils.data.Dataset):
    """As torchvision.datasets.CIFAR10, which keeps pictures as (n, height, width, 3)."""

    def __init__(self, o, pictures, labels):
        self.samples = o.samples
        self.data = pictures.transpose(0, 2, 3, 1).copy()
        self.targets = labels.tolist()
        half = (0.5, 0.5, 0.5)
        self.transform = transforms.Compose([transforms.ToTensor(), transforms.Normalize(half, half)])

    def __len__(self):
        return self.samples

    def __getitem__(self, i):
        i %= len(self.data)
        return self.transform(Image.fromarray(self.data[i])), self.targets[i]


def make(o, inputs):
    torch.set_num_threads(1)  # workers have the processors
    loader = torch.utils.data.DataLoader(
        Pictures(o, *inputs), batch_size=o.batch, shuffle=o.shuffle, num_workers=o.workers, persistent_workers=o.workers > 0
    )
    return lambda number: iter(loader)


if __name__ == "__main__":
    peer.run(make, {"torch": torch.__version__, "torchvision": torchvision.__version__, "pillow": PIL.__version__})
