"""Writes tensors that other libraries make of a photo of the project, for the tests of examples/check.

Needs: torch 2.15, torchvision 0.29.2, transformers 5.23, opencv-python 5.0, safetensors, Pillow 12.3 and NumPy. Run it in this folder:

    python3 others.py
"""

import json

import cv2
import numpy as np
import torch
from PIL import Image
from safetensors.torch import save_file
from transformers import CLIPImageProcessor, CLIPImageProcessorPil

PHOTO = "../../images/photos/tiles/6.jpg"
SIDE = 48
CONFIG = {"image_processor_type": "CLIPImageProcessor", "size": {"shortest_edge": SIDE}, "crop_size": SIDE}
MEAN = np.array([0.48145466, 0.4578275, 0.40821073], np.float32)
STD = np.array([0.26862954, 0.26130258, 0.27577711], np.float32)

with open("preprocessor_config.json", "w") as f:
    json.dump(CONFIG, f)
    f.write("\n")
photo = Image.open(PHOTO).convert("RGB")
pixels = np.array(photo)
height, width = SIDE, SIDE * photo.width // photo.height
left = (width - SIDE) // 2
options = {"size": CONFIG["size"], "crop_size": {"height": SIDE, "width": SIDE}}


def finish(hwc):
    """Crops, scales and normalises, with NumPy."""
    hwc = hwc[:, left : left + SIDE].astype(np.float32)
    return ((hwc / np.float32(255) - MEAN) / STD).transpose(2, 0, 1)[None]


exact = CLIPImageProcessorPil(**options)(photo, return_tensors="pt")["pixel_values"]
np.save("exact.npy", exact.numpy())
save_file({"pixel_values": exact.to(torch.bfloat16), "other": torch.zeros(2)}, "exact.safetensors")
np.save("fast.npy", CLIPImageProcessor(**options)(photo, return_tensors="pt")["pixel_values"].numpy())
floats = torch.from_numpy(pixels).permute(2, 0, 1)[None].float()
resized = torch.nn.functional.interpolate(floats, size=(height, width), mode="bilinear", align_corners=False)
np.save("interpolate.npy", finish(resized[0].permute(1, 2, 0).numpy()))
resized = torch.nn.functional.interpolate(floats, size=(height, width), mode="bicubic", align_corners=False, antialias=True)
np.save("antialias.npy", finish(resized[0].permute(1, 2, 0).numpy()))
bgr = cv2.imread(PHOTO)
np.save("linear.npy", finish(cv2.resize(bgr, (width, height), interpolation=cv2.INTER_LINEAR)))
np.save("cubic.npy", finish(cv2.resize(pixels, (width, height), interpolation=cv2.INTER_CUBIC)))
np.save("area.npy", finish(cv2.resize(pixels, (width, height), interpolation=cv2.INTER_AREA)))
