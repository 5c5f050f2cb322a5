"""Writes clips.json: what torchvision makes of clips.

    pip install pillow==12.3.0 torch==2.15.0 torchvision==0.29.2 numpy
    python clips.py

Frames are arithmetic, so that the tests make the same ones. Results are kept as sha256 of their bytes.
"""
import hashlib
import json
import os

import numpy as np
import PIL
import torch
import torchvision
from PIL import Image
from torchvision import tv_tensors
from torchvision.transforms import v2
from torchvision.transforms.v2 import functional as F

assert PIL.__version__.startswith("12.3"), PIL.__version__
assert torchvision.__version__.startswith("0.29"), torchvision.__version__
here = os.path.dirname(os.path.abspath(__file__))


def pixels(w, h):
    x = np.arange(w, dtype=np.uint32)[None, :, None]
    y = np.arange(h, dtype=np.uint32)[:, None, None]
    c = np.arange(3, dtype=np.uint32)[None, None, :]
    v = (x * x * (7 + c) + y * y * (5 - c) + x * y * (c + 1)) >> 4
    noise = ((x * 73 + y * 151 + c * 199) * (x + 2 * y + 3 * c + 1)) & 63
    return ((v + noise) & 255).astype(np.uint8)


def clip(n, w, h):
    """Frame k is the picture moved to the left by 3k pixels, which come back at the right."""
    return [np.roll(pixels(w, h), -3 * k, axis=1) for k in range(n)]


def sha(a):
    return hashlib.sha256(np.ascontiguousarray(a).tobytes()).hexdigest()


def subsample(n, frames):
    return F.uniform_temporal_subsample(torch.arange(frames).view(frames, 1, 1, 1), n).flatten().numpy()


def indices():
    """All numbers of frames from 1 to 300, and some larger ones, of each of which 1 to 64 are taken."""
    several = list(range(1, 301)) + [999, 1000, 4095, 4096, 4097, 10007, 99991, 108000, 1000003]
    all = [subsample(n, frames).astype("<i8") for frames in several for n in range(1, 65)]
    return dict(Frames=several, Most=64, SHA=sha(np.concatenate(all)))


def pictures():
    """Steps on a list of PIL images, which is how torchvision applies one set of parameters to pictures."""
    mean, std = [0.485, 0.456, 0.406], [0.229, 0.224, 0.225]
    tensor = [v2.PILToTensor()]
    lists = {
        "geometry": [v2.Resize(20), v2.CenterCrop(16), v2.RandomHorizontalFlip(1)] + tensor,
        "levels": [v2.RandomInvert(1), v2.RandomAutocontrast(1), v2.RandomEqualize(1), v2.RandomPosterize(3, 1)] + tensor,
        "sharp": [v2.RandomAdjustSharpness(2, 1), v2.RandomSolarize(100, 1), v2.Grayscale(3)] + tensor,
        "normal": [v2.Resize([24, 18]), v2.ToImage(), v2.ToDtype(torch.float32, scale=True), v2.Normalize(mean, std)],
        "crops": [v2.FiveCrop(12)],
    }
    for name, steps in lists.items():
        for n, frames, w, h in [(4, 7, 33, 25), (8, 5, 25, 30), (1, 3, 40, 31)]:
            images = [Image.fromarray(a) for a in clip(frames, w, h)]
            images = [images[k] for k in subsample(n, frames)]
            out = v2.Compose(steps)(images)
            if name == "crops":  # a tuple of lists, or a list of tuples
                out = [torch.stack([F.pil_to_tensor(c) for c in crops]) for crops in out]
            yield dict(Name=name, N=n, Frames=frames, W=w, H=h, SHA=sha(torch.stack(out).numpy()))


def shared():
    """Whether all frames of a clip have the same draws: the result of the clip is that of each frame with the same seed.

    Clips are videos, but RandomGrayscale leaves these as they are, so that it has a list of images.
    """
    tensors = {
        "GaussianNoise": v2.GaussianNoise(0.1, 0.2),
        "GaussianBlur": v2.GaussianBlur(3),
        "RandomErasing": v2.RandomErasing(1),
        "RandomErasing of random values": v2.RandomErasing(1, value="random"),
        "RandomPhotometricDistort": v2.RandomPhotometricDistort(p=0.9),
        "RandomChannelPermutation": v2.RandomChannelPermutation(),
        "ElasticTransform": v2.ElasticTransform(30.0),
        "JPEG": v2.JPEG([20, 90]),
        "AugMix": v2.AugMix(),
        "AutoAugment": v2.AutoAugment(),
        "RandAugment": v2.RandAugment(),
        "TrivialAugmentWide": v2.TrivialAugmentWide(),
        "ColorJitter": v2.ColorJitter(0.4, 0.4, 0.4, 0.1),
        "RandomCrop": v2.RandomCrop(16),
        "RandomResizedCrop": v2.RandomResizedCrop(16),
        "RandomHorizontalFlip": v2.RandomHorizontalFlip(0.5),
        "RandomVerticalFlip": v2.RandomVerticalFlip(0.5),
        "RandomRotation": v2.RandomRotation(40),
        "RandomAffine": v2.RandomAffine(30, (0.1, 0.2), (0.8, 1.2), 10),
        "RandomPerspective": v2.RandomPerspective(0.5, 1),
        "RandomGrayscale": v2.RandomGrayscale(0.5),
        "RandomInvert": v2.RandomInvert(0.5),
        "RandomSolarize": v2.RandomSolarize(100, 0.5),
        "RandomPosterize": v2.RandomPosterize(3, 0.5),
        "RandomEqualize": v2.RandomEqualize(0.5),
        "RandomAutocontrast": v2.RandomAutocontrast(0.5),
        "RandomAdjustSharpness": v2.RandomAdjustSharpness(2, 0.5),
        "RandomApply": v2.RandomApply([v2.RandomInvert(1)], 0.5),
        "RandomChoice": v2.RandomChoice([v2.RandomInvert(1), v2.RandomSolarize(90, 1)]),
        "RandomZoomOut": v2.RandomZoomOut(0, (1.0, 2.0), 0.8),
        "RandomOrder": v2.RandomOrder([v2.RandomInvert(0.5), v2.RandomSolarize(90, 0.7)]),
    }
    video = torch.stack([torch.from_numpy(a.transpose(2, 0, 1)) for a in clip(5, 33, 25)])
    result = {}
    for name, step in tensors.items():
        same = True
        for seed in range(12):
            x = video.float() / 255 if "values" in name else video
            torch.manual_seed(seed)
            all = step([tv_tensors.Image(f) for f in x] if name == "RandomGrayscale" else tv_tensors.Video(x))
            for k in range(len(x)):
                torch.manual_seed(seed)
                same = same and bool(torch.equal(step(tv_tensors.Image(x[k])).as_subclass(torch.Tensor), all[k].as_subclass(torch.Tensor)))
        result[name] = same
    return result


with open(os.path.join(here, "clips.json"), "w") as f:
    json.dump(dict(Indices=indices(), Pictures=list(pictures()), Shared=shared()), f, indent=1)
    f.write("\n")
