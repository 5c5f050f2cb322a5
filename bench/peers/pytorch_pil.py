"""PyTorch as most people write it: ImageFolder, Pillow's decoder and resize, DataLoader."""

import PIL
import torch
import torchvision
from torchvision import transforms

import peer


def make(o, photos):
    if o.work == "eval":
        geometry = [transforms.Resize(o.resize), transforms.CenterCrop(o.size)]
    else:
        geometry = [transforms.RandomResizedCrop(o.size), transforms.RandomHorizontalFlip()]
    steps = geometry + [transforms.ToTensor(), transforms.Normalize(peer.MEAN, peer.STD)]
    folder = torchvision.datasets.ImageFolder(o.folder, transforms.Compose(steps))
    if [s[0] for s in folder.samples] != [path for path, _ in photos]:
        raise SystemExit(f"{o.folder}: ImageFolder finds other files")
    repeated = [i % len(photos) for i in range(o.samples)]
    loader = torch.utils.data.DataLoader(
        torch.utils.data.Subset(folder, repeated),
        batch_size=o.batch,
        shuffle=o.shuffle,
        num_workers=o.workers,
        persistent_workers=o.workers > 0,
    )
    return lambda number: iter(loader)


if __name__ == "__main__":
    peer.run(make, {"torch": torch.__version__, "torchvision": torchvision.__version__, "pillow": PIL.__version__})
