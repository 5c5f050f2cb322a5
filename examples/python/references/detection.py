"""The data of torchvision's reference training of detectors (references/detection, for Mask R-CNN, with its defaults, --use-v2 and
--aspect-ratio-group-factor -1), without a model.

    detection.py FOLDER WORKERS

prints the images per second of an epoch. FOLDER has images, and annotations.json as COCO has it.
"""

import sys
import time

import torch
import torch.utils.data
import torchvision
from torchvision import tv_tensors
from torchvision.transforms import v2


class DetectionPresetTrain:
    def __init__(self):
        self.transforms = v2.Compose([
            v2.RandomHorizontalFlip(p=0.5),
            v2.ToImage(),
            v2.ToDtype(torch.float, scale=True),
            v2.ConvertBoundingBoxFormat(tv_tensors.BoundingBoxFormat.XYXY),
            v2.SanitizeBoundingBoxes(),
            v2.ToPureTensor(),
        ])

    def __call__(self, img, target):
        return self.transforms(img, target)


def collate_fn(batch):
    return tuple(zip(*batch))


def main(folder, workers):
    dataset = torchvision.datasets.wrap_dataset_for_transforms_v2(
        torchvision.datasets.CocoDetection(
            folder,
            f"{folder}/annotations.json",
            transforms=DetectionPresetTrain(),
        ),
        target_keys=["boxes", "labels", "image_id", "masks"],
    )
    sampler = torch.utils.data.RandomSampler(dataset)
    data_loader = torch.utils.data.DataLoader(
        dataset,
        batch_sampler=torch.utils.data.BatchSampler(sampler, 2, drop_last=True),
        num_workers=int(workers),
        collate_fn=collate_fn,
    )
    images, objects = 0, 0
    for image, target in data_loader:
        if not images:  # the workers have started
            begin = time.perf_counter()
        images += len(image)
        objects += sum(len(each["boxes"]) for each in target)
    rate = (images - 2) / (time.perf_counter() - begin)
    print(rate, images, objects, image[0].dtype, sorted((key, getattr(x, "dtype", type(x))) for key, x in target[0].items()))


if __name__ == "__main__":
    main(*sys.argv[1:])
