"""The data of torchvision's reference training of segmentation (references/segmentation, with its defaults and --use-v2), without a model.

    segmentation.py FOLDER WORKERS

prints the images per second of an epoch. FOLDER has the VOC of 2012. In place of the reference's own PadIfSmaller, the crop pads.
"""

import sys
import time

import torch
import torch.utils.data
import torchvision
from torchvision import tv_tensors
from torchvision.transforms import v2


class SegmentationPresetTrain:
    def __init__(self, base_size, crop_size):
        self.transforms = v2.Compose([
            v2.RandomResize(min_size=int(0.5 * base_size), max_size=int(2.0 * base_size)),
            v2.RandomHorizontalFlip(0.5),
            v2.RandomCrop(crop_size, pad_if_needed=True, fill={tv_tensors.Mask: 255, "others": 0}),
            v2.ToImage(),
            v2.ToDtype({tv_tensors.Image: torch.float32, tv_tensors.Mask: torch.int64, "others": None}, scale=True),
            v2.Normalize(mean=(0.485, 0.456, 0.406), std=(0.229, 0.224, 0.225)),
            v2.ToPureTensor(),
        ])

    def __call__(self, img, target):
        return self.transforms(img, target)


def main(folder, workers):
    dataset = torchvision.datasets.wrap_dataset_for_transforms_v2(torchvision.datasets.VOCSegmentation(
        folder,
        transforms=SegmentationPresetTrain(base_size=520, crop_size=480),
    ))
    data_loader = torch.utils.data.DataLoader(
        dataset,
        batch_size=8,
        sampler=torch.utils.data.RandomSampler(dataset),
        num_workers=int(workers),
        drop_last=True,
    )
    images = 0
    for image, target in data_loader:
        if not images:  # the workers have started
            begin = time.perf_counter()
        images += len(target)
    print((images - 8) / (time.perf_counter() - begin), images, image.dtype, image.shape[1:], target.dtype, target.shape[1:])


if __name__ == "__main__":
    main(*sys.argv[1:])
