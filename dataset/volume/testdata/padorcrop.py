"""Makes padorcrop.json: rows that MONAI pads or crops to a size, and where its crops
around a voxel begin.

    pip install monai==1.5.1 torch==2.15.0 numpy
    python padorcrop.py
"""
import json
import os

import torch
from monai.transforms import ResizeWithPadOrCrop, SpatialCrop
from monai.transforms.utils import correct_crop_centers


def rows():
    """Row i of n has the value i + 1; what is added is -7."""
    for n in range(1, 9):
        for size in range(1, 11):
            row = torch.arange(1, n + 1).reshape(1, n, 1).float()
            out = ResizeWithPadOrCrop((size, 1), constant_values=-7)(row)
            yield dict(n=n, size=size, values=[int(x) for x in out.flatten()])


def starts():
    """As RandCropByPosNegLabel crops around the voxels 0 to n-1 that it has drawn."""
    for n in range(1, 9):
        for size in range(1, n + 1):
            row = torch.arange(n).reshape(1, n, 1)
            yield dict(n=n, size=size, starts=[
                int(SpatialCrop(roi_center=correct_crop_centers([voxel, 0], (size, 1), (n, 1)), roi_size=(size, 1))(row).flatten()[0])
                for voxel in range(n)])


here = os.path.dirname(os.path.abspath(__file__))
with open(os.path.join(here, "padorcrop.json"), "w") as f:
    json.dump(dict(rows=list(rows()), starts=list(starts())), f, separators=(",", ":"))
