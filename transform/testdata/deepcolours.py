"""Makes deepcolours.json: what torchvision.transforms.v2 0.29 makes of tensors of numbers that the
test makes too, by changes of colours and the augmentations of its policies. Run it with Python,
torch, torchvision and NumPy:

    python deepcolours.py

White in uint16 becomes black by torchvision's change of hue, because its conversion overflows.
Here it stays white. The script also does its own comparison for solarize, which uint16 lacks.
"""

import base64
import json
import pathlib

import numpy
import torch
import torchvision
from torchvision.transforms import v2
from torchvision.transforms.v2 import InterpolationMode
from torchvision.transforms.v2 import functional as F

assert torchvision.__version__.startswith("0.29"), torchvision.__version__
MOST = {"uint8": 255, "uint16": 65535, "int16": 32767, "float32": 1}


def numbers(dtype, shape, seed):
    """Numbers of a linear congruential generator."""
    out, x = [], seed
    for _ in range(int(numpy.prod(shape))):
        x = (1664525 * x + 1013904223) & 0xFFFFFFFF
        out.append((x >> 8) / (1 << 24) if dtype == "float32" else x >> 16)
    return torch.from_numpy(numpy.array(out, "float32" if dtype == "float32" else "uint16").astype(dtype).reshape(shape))


def hue(image, by):
    if image.dtype != torch.uint16 or image.shape[0] != 3:
        return F.adjust_hue(image, by)
    out = F.adjust_hue(F.to_dtype(image, torch.float32, scale=True), by)
    return out.mul(65535.999).clamp(max=65535).to(torch.uint16)


def solarize(image, threshold):
    if image.dtype != torch.uint16:
        return F.solarize(image, threshold)
    return torch.where(image.int() >= threshold, F.invert(image).int(), image.int()).to(torch.uint16)


def dark(image):
    """Values without a sign, most of them in the lower half."""
    if image.is_floating_point():
        return image * image
    return ((image.int() & 32767) >> 2).clamp(max=MOST[str(image.dtype)[6:]]).to(image.dtype)


def elastic(image, filter, seed, fill):
    """With vectors of up to three pixels. torchvision's integers overflow where bicubic exceeds their range, so it gets floats."""
    h, w = image.shape[-2:]
    vectors = (numbers("float32", (2, h, w), seed) - 0.5) * 6
    displacement = (vectors * 2 / torch.tensor([w, h]).view(2, 1, 1)).permute(1, 2, 0)[None]
    out = F.elastic(image.to(torch.float32), displacement, InterpolationMode(filter), fill)
    if image.is_floating_point():
        return out
    least = -32768 if image.dtype == torch.int16 else 0
    return out.round().clamp(least, MOST[str(image.dtype)[6:]]).to(image.dtype)


augmenter = v2.RandAugment()


def augment(image, name, magnitude, filter):
    if name == "Solarize":
        return solarize(image, MOST[str(image.dtype)[6:]] * magnitude)
    return augmenter._apply_image_or_video_transform(image, name, magnitude, InterpolationMode(filter), {type(image): [0] * len(image)})


def rough(image):
    """Values on both sides of the range of floats."""
    return image * 2 - 0.5


STEPS = {
    "dark": dark, "rough": rough, "hue": hue, "solarize": solarize, "augment": augment, "elastic": elastic,
    "brightness": F.adjust_brightness, "contrast": F.adjust_contrast, "saturation": F.adjust_saturation,
    "grey": F.rgb_to_grayscale, "equalize": F.equalize, "posterize": F.posterize, "sharpness": F.adjust_sharpness,
    "noise": lambda image, mean: F.gaussian_noise(image, mean, 0.0),
}
cases = []


def case(dtype, shape, seed, *steps):
    image = numbers(dtype, shape, seed)
    for name, *args in steps:
        image = STEPS[name](image, *args)
    cases.append({"dtype": dtype, "shape": shape, "seed": seed, "steps": steps, "result": list(image.shape),
                  "values": base64.b64encode(image.contiguous().numpy().tobytes()).decode()})


SMALL = (7, 9)
for dtype in MOST:
    for channels in (1, 3):
        shape = (channels, *SMALL)
        for seed, factor in enumerate((0.0, 0.4, 1.0, 1.9)):
            case(dtype, shape, seed, ("saturation", factor))
            case(dtype, shape, seed, ("sharpness", factor))
        for seed, by in enumerate((-0.5, -0.21, 0.0, 0.08, 0.5)):
            case(dtype, shape, seed, ("dark",), ("hue", by))
        for to in (1, 3):
            case(dtype, shape, to, ("grey", to))
        for bits in (0, 1, 3, 7, 8):
            case(dtype, shape, bits, ("posterize", bits))
        case(dtype, (channels, 21, 17), 5, ("dark",), ("equalize",))
        case(dtype, (channels, 21, 17), 6, ("dark",), ("dark",), ("equalize",))
        case(dtype, (channels, 4, 4), 7, ("dark",), ("equalize",))
        if dtype in ("float32", "uint8"):
            case(dtype, shape, 8, ("noise", 0.1))
            case(dtype, shape, 9, ("noise", -0.37))
    for size in ((2, 9), (7, 2)):
        case(dtype, (3, *size), 10, ("sharpness", 0.5))
    case(dtype, (3, *SMALL), 11, ("dark",), ("hue", 0.3), ("brightness", 1.2), ("saturation", 0.5), ("contrast", 1.4))
    case(dtype, (3, *SMALL), 12, ("dark",), ("contrast", 0.6), ("saturation", 1.6), ("brightness", 0.8), ("hue", -0.1))
    case(dtype, (5, *SMALL), 13, ("posterize", 2))
    case(dtype, (5, 21, 17), 14, ("dark",), ("equalize",))
for steps in (("hue", 0.2), ("saturation", 1.5), ("sharpness", 1.5), ("posterize", 3), ("grey", 1), ("equalize",), ("noise", 0.2)):
    if steps[0] != "equalize":
        case("float32", (3, *SMALL), 15, ("rough",), steps)
for dtype in MOST:
    for name, magnitude in (
        ("Identity", 0), ("ShearX", 0.3), ("ShearX", -0.21), ("ShearY", 0.27), ("ShearY", -0.09), ("TranslateX", 3.9), ("TranslateX", -2.2),
        ("TranslateY", 2.5), ("TranslateY", -1.1), ("Rotate", 30), ("Rotate", -17), ("Rotate", 127), ("Brightness", 0.5), ("Brightness", -0.7), ("Color", 0.8),
        ("Color", -0.9), ("Contrast", 0.3), ("Contrast", -0.6), ("Sharpness", 0.9), ("Sharpness", -0.9), ("Posterize", 4), ("Posterize", 8),
        ("Solarize", 0.4), ("Solarize", 1.0), ("AutoContrast", 0), ("Equalize", 0), ("Invert", 0),
    ):
        for filter in ("nearest", "bilinear") if name in ("ShearX", "ShearY", "TranslateX", "TranslateY", "Rotate") else ("nearest",):
            case(dtype, (3, 8, 10), 16, ("dark",), ("augment", name, magnitude, filter))

for dtype in MOST:
    for seed, filter in enumerate(("nearest", "bilinear", "bicubic", "bicubic")):
        for fill in (0, 1):
            case(dtype, (3, 6, 8), 17, ("elastic", filter, seed, fill))

path = pathlib.Path(__file__).with_suffix(".json")
path.write_text("[\n" + ",\n".join(json.dumps(c, separators=(",", ":")) for c in cases) + "\n]\n")
print(len(cases), "cases,", path.stat().st_size, "bytes")
