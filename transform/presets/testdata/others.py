"""Makes others.json: what OpenCV and open_clip make of the twelve small pictures in the folder pictures, which are parts of those in
../../../examples/images/photos in other formats.

    pip install torch==2.15.0 torchvision==0.29.2 pillow==12.3.0 opencv-python==5.0.0.93 open_clip_torch==3.3.0
    python others.py

For every size or configuration there are the first 16 digits of the SHA-256 of the float32 values of every picture in CHW
order. The pictures are opened by Pillow and converted to RGB: for YOLO turned by their Exif orientation, for OpenCLIP as they are.
The script prints which pictures cv2.imread reads as other pixels, and how far open_clip is from that if it converts
the resized picture to RGB, as it does with pictures of other modes.
"""
import hashlib
import json
import pathlib

import cv2
import numpy as np
from open_clip.transform import PreprocessCfg, image_transform_v2, merge_preprocess_dict
from PIL import Image, ImageOps

here = pathlib.Path(__file__).parent
paths = sorted((here / "pictures").iterdir())
half = [0.5, 0.5, 0.5]


def digest(a):
    return hashlib.sha256(np.ascontiguousarray(a).tobytes()).hexdigest()[:16]


def letterbox(a, th, tw):
    """Scales a picture so that it fits, and puts it into the middle of pixels of 114."""
    h, w = a.shape[:2]
    r = min(th / h, tw / w)
    nh, nw = round(h * r), round(w * r)
    if (nh, nw) != (h, w):
        a = cv2.resize(a, (nw, nh), interpolation=cv2.INTER_LINEAR)
    dh, dw = (th - nh) / 2, (tw - nw) / 2
    top, bottom, left, right = round(dh - 0.1), round(dh + 0.1), round(dw - 0.1), round(dw + 0.1)
    return cv2.copyMakeBorder(a, top, bottom, left, right, cv2.BORDER_CONSTANT, value=(114, 114, 114))


def yolo(size):
    th, tw = size if isinstance(size, list) else (size, size)
    sums = []
    for path in paths:
        a = np.asarray(ImageOps.exif_transpose(Image.open(path)).convert("RGB"))
        out = letterbox(a, th, tw).astype(np.float32) / np.float32(255)
        assert out.shape == (th, tw, 3)
        sums.append(digest(out.transpose(2, 0, 1)))
    return dict(size=[th, tw], sums=sums)


CONFIGS = {
    "ViT-B-32": {"model_cfg": {"embed_dim": 512, "vision_cfg": {"image_size": 224, "layers": 12}, "text_cfg": {"context_length": 77}},
                 "preprocess_cfg": {"mean": [0.48145466, 0.4578275, 0.40821073], "std": [0.26862954, 0.26130258, 0.27577711]}},
    "SigLIP": {"model_cfg": {"vision_cfg": {"image_size": 96}},
               "preprocess_cfg": {"size": [384, 384], "mode": "RGB", "mean": half, "std": half, "interpolation": "bicubic", "resize_mode": "squash"}},
    "defaults of the model": {"model_cfg": {"vision_cfg": {}}},
    "bilinear": {"preprocess_cfg": {"size": 97, "interpolation": "bilinear", "resize_mode": "shortest", "mean": 0.5, "std": [0.3, 0.2, 0.1]}},
    "rectangle": {"size": [60, 90], "interpolation": "bilinear"},
    "random": {"size": [110, 110], "interpolation": "random", "resize_mode": "squash"},
    "squashed rectangle": {"size": [50, 77], "resize_mode": "squash", "interpolation": "bilinear"},
    "longest": {"size": 101, "resize_mode": "longest", "mean": half, "std": half},
    "longest, filled": {"size": [75, 120], "resize_mode": "longest", "interpolation": "bilinear", "fill_color": 127},
    "longest, coloured": {"size": [64, 64], "resize_mode": "longest", "fill_color": [255, 10, 99]},
}


def transform_of(config):
    cfg = config.get("preprocess_cfg", {} if "model_cfg" in config else config)
    cfg = merge_preprocess_dict(PreprocessCfg(), cfg)
    if "model_cfg" in config:  # as create_model does
        cfg["size"] = config["model_cfg"]["vision_cfg"].get("image_size", 224)
    if isinstance(cfg["fill_color"], list):
        cfg["fill_color"] = tuple(cfg["fill_color"])
    return image_transform_v2(PreprocessCfg(**cfg), False)


def open_clip(name, config):
    f, sums, far = transform_of(config), [], {}
    for path in paths:
        out = f(Image.open(path).convert("RGB")).numpy()
        sums.append(digest(out))
        try:
            as_it_is = f(Image.open(path)).numpy()
        except ValueError as e:  # a fill of three numbers for a picture of other channels
            far[path.name] = str(e)
            continue
        if not np.array_equal(out, as_it_is):
            far[path.name] = round(float(np.abs(out - as_it_is).max()), 3)
    print(name, "with the picture as it is:", far)
    return dict(name=name, config=config, sums=sums)


def main():
    for path in paths:
        theirs, ours = cv2.imread(str(path)), np.asarray(ImageOps.exif_transpose(Image.open(path)).convert("RGB"))
        if theirs is None or not np.array_equal(theirs[..., ::-1], ours):
            print("cv2.imread reads other pixels of", path.name, None if theirs is None else int(np.abs(theirs[..., ::-1].astype(int) - ours).max()))
    data = dict(pictures=[p.name for p in paths], yolo=[yolo(s) for s in (640, 320, 64, [96, 160], [333, 100])],
                openclip=[open_clip(n, c) for n, c in CONFIGS.items()])
    (here / "others.json").write_text(json.dumps(data, indent=1) + "\n")
    print(cv2.__version__)


if __name__ == "__main__":
    main()
