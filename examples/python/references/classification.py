"""The data of torchvision's reference training of classifiers (references/classification, with its defaults), without a model.

    classification.py FOLDER WORKERS

prints the images per second of an epoch.
"""

import sys
import time

import torch
import torch.utils.data
import torchvision
from torch.utils.data.dataloader import default_collate
from torchvision import transforms


class ClassificationPresetTrain:
    def __init__(self, crop_size):
        self.transforms = transforms.Compose([
            transforms.RandomResizedCrop(crop_size),
            transforms.RandomHorizontalFlip(0.5),
            transforms.PILToTensor(),
            transforms.ConvertImageDtype(torch.float),
            transforms.Normalize(mean=(0.485, 0.456, 0.406), std=(0.229, 0.224, 0.225)),
        ])

    def __call__(self, img):
        return self.transforms(img)


def main(folder, workers):
    dataset = torchvision.datasets.ImageFolder(
        folder,
        ClassificationPresetTrain(crop_size=224),
    )
    data_loader = torch.utils.data.DataLoader(
        dataset,
        batch_size=32,
        sampler=torch.utils.data.RandomSampler(dataset),
        num_workers=int(workers),
        pin_memory=True,
        collate_fn=default_collate,
    )
    images = 0
    for image, target in data_loader:
        if not images:  # the workers have started
            begin = time.perf_counter()
        images += len(target)
    print((images - 32) / (time.perf_counter() - begin), images, image.dtype, image.shape[1:])


if __name__ == "__main__":
    main(*sys.argv[1:])
