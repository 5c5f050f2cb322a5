"""Makes processors.json: what image processors of transformers, and timm's
transforms, make of photos.

    pip install torch==2.15.0 torchvision==0.29.2 pillow==12.3.0 transformers==5.23.0 timm==1.0.31
    python processors.py PHOTOS

PHOTOS is a folder with a folder of JPEG files per class. The first five of
every class are taken, and the images of ../../../examples/images/photos.

For every configuration there are the first 16 digits of the SHA-256 of every
result, float32 or uint8 in CHW order, and how far the fast processor is from
that: the part of the values before rescaling that differ, the greatest difference in
levels of 255, and the greatest difference of the final values.
"""
import hashlib
import json
import pathlib
import sys

import numpy as np
import PIL
import timm
import torch
import torchvision
import transformers
from PIL import Image
from timm.data import create_transform, resolve_data_config
from transformers.models.auto.image_processing_auto import IMAGE_PROCESSOR_MAPPING_NAMES

here = pathlib.Path(__file__).parent
own = here / "../../../examples/images/photos"
half, net, dev = [0.5, 0.5, 0.5], [0.485, 0.456, 0.406], [0.229, 0.224, 0.225]
clip, clip_dev = [0.48145466, 0.4578275, 0.40821073], [0.26862954, 0.26130258, 0.27577711]
byte = 0.00392156862745098


def square(n):
    return {"height": n, "width": n}


def new(kind, size, resample, mean=half, std=half, **more):
    """A configuration with the keys that transformers writes today."""
    return dict(do_normalize=True, do_rescale=True, do_resize=True, image_mean=mean, image_std=std,
                image_processor_type=kind + "ImageProcessor", resample=resample, rescale_factor=byte, size=size, **more)


def old(kind, size, mean=half, std=half, **more):
    """One with the keys of its early versions, in which many models were published."""
    return dict(do_normalize=True, do_resize=True, image_mean=mean, image_std=std,
                feature_extractor_type=kind + "FeatureExtractor", size=size, **more)


# The keys are those that the families' models were published with.
PROCESSORS = {
    "ViT": dict(do_normalize=True, do_resize=True, image_mean=half, image_std=half, size=224, model_type="vit"),
    "ViT, new keys": new("ViT", square(384), 2, do_convert_rgb=None),
    "DeiT": old("DeiT", 256, net, dev, crop_size=224, do_center_crop=True, resample=3),
    "Swin": old("ViT", 224, net, dev, resample=3),
    "CLIP": old("CLIP", 224, clip, clip_dev, crop_size=224, do_center_crop=True, resample=3),
    "CLIP, large": new("CLIP", {"shortest_edge": 336}, 3, clip, clip_dev, crop_size=square(336), do_center_crop=True, do_convert_rgb=True),
    "SigLIP": new("Siglip", square(224), 3, processor_class="SiglipProcessor"),
    "SigLIP 2": new("Siglip", square(256), 2, do_convert_rgb=None, processor_class="SiglipProcessor"),
    "BEiT": old("Beit", 224, crop_size=224, do_center_crop=False, resample=2, reduce_labels=False),
    "DINOv2": new("Bit", {"shortest_edge": 256}, 3, net, dev, crop_size=square(224), do_center_crop=True, do_convert_rgb=True),
    "ConvNeXT": old("ConvNext", 224, net, dev, crop_pct=0.875, resample=3),
    "ConvNeXT, 384": old("ConvNext", 384, net, dev, crop_pct=None, resample=3),
    "ResNet, RegNet": old("ConvNext", 224, net, dev, crop_pct=0.875, resample=2),
    "DETR": old("Detr", 800, net, dev, format="coco_detection", max_size=1333),
    "DETR, new keys": new("Detr", {"shortest_edge": 800, "longest_edge": 1333}, 2, net, dev, do_convert_annotations=True, do_pad=True,
                          format="coco_detection", pad_size=None),
    "DETR, padded": new("Detr", {"shortest_edge": 400, "longest_edge": 666}, 2, net, dev, do_pad=True, pad_size=square(672)),
    "YOLOS": old("Yolos", 512, net, dev, format="coco_detection", max_size=1333),
    "RT-DETR": dict(new("RTDetr", square(640), 2, net, dev, do_convert_annotations=True, do_pad=False, format="coco_detection"), do_normalize=False),
    "MobileNetV1": new("MobileNetV1", {"shortest_edge": 256}, 2, crop_size=square(224), do_center_crop=True),
    "MobileNetV2": new("MobileNetV2", {"shortest_edge": 256}, 2, crop_size=square(224), do_center_crop=True),
    "MobileViT": dict(crop_size=square(256), do_center_crop=True, do_flip_channel_order=True, do_resize=True,
                      feature_extractor_type="MobileViTFeatureExtractor", resample=2, size=288),
    "EfficientNet": new("EfficientNet", square(224), 0, net, [0.47853944, 0.4732864, 0.47434163], crop_size=square(289), do_center_crop=False,
                        include_top=True, rescale_offset=False),
    "EfficientNet, offset": dict(new("EfficientNet", square(260), 3, crop_size=square(240), do_center_crop=True, include_top=False,
                                     rescale_offset=True), rescale_factor=1 / 127.5),
    "LeViT": old("Levit", 224, net, dev, do_center_crop=True, resample=3),
    "PoolFormer": old("PoolFormer", 224, net, dev, crop_pct=0.9, do_resize_and_center_crop=True, resample=3),
    "SegFormer": old("Segformer", 512, net, dev, reduce_labels=True, resample=2),
    "DPT": old("DPT", 384, ensure_multiple_of=1, keep_aspect_ratio=False, resample=2),
    "Depth Anything": new("DPT", square(518), 3, net, dev, do_pad=False, ensure_multiple_of=14, keep_aspect_ratio=True, size_divisor=None),
    "SAM": new("Sam", {"longest_edge": 1024}, 2, net, dev, do_convert_rgb=True, do_pad=True, pad_size=square(1024), processor_class="SamProcessor"),
    "BLIP": new("Blip", square(384), 3, clip, clip_dev, processor_class="BlipProcessor"),
    "OWL-ViT": new("OwlViT", square(768), 3, clip, clip_dev, crop_size=square(768), do_center_crop=False),
    "large crop": new("CLIP", {"shortest_edge": 97}, 3, crop_size={"height": 120, "width": 61}, do_center_crop=True),
    "no rescaling": dict(new("CLIP", {"shortest_edge": 130}, 5, [120.5, 110, 100], [58, 57, 56], crop_size=square(125), do_center_crop=True),
                         do_rescale=False),
    "lanczos": new("CLIP", {"shortest_edge": 101}, 1, crop_size=square(96), do_center_crop=True),
    "pixels": dict(new("ViT", {"height": 90, "width": 71}, 4, do_convert_rgb=True), do_rescale=False, do_normalize=False),
}

TIMM = {
    "timm, ResNet": dict(input_size=[3, 224, 224], test_input_size=[3, 288, 288], interpolation="bicubic", crop_pct=0.95, test_crop_pct=1.0,
                         crop_mode="center", mean=net, std=dev, fixed_input_size=False),
    "timm, ViT": dict(input_size=[3, 224, 224], fixed_input_size=True, interpolation="bicubic", crop_pct=0.9, crop_mode="center", mean=half, std=half),
    "timm, squash": dict(input_size=[3, 384, 384], fixed_input_size=True, interpolation="bicubic", crop_pct=1.0, crop_mode="squash", mean=net, std=dev),
    "timm, squash and crop": dict(input_size=[3, 160, 192], interpolation="bilinear", crop_pct=0.8, crop_mode="squash", mean=net, std=dev),
    "timm, border": dict(input_size=[3, 224, 224], interpolation="bicubic", crop_pct=0.9, crop_mode="border", mean=net, std=dev),
    "timm, border of a rectangle": dict(input_size=[3, 197, 256], interpolation="lanczos", crop_pct=1.0, crop_mode="border", mean=clip, std=clip_dev),
    "timm, rectangle": dict(input_size=[3, 192, 256], interpolation="bicubic", crop_pct=0.95, crop_mode="center", mean=net, std=dev),
    "timm, defaults": dict(num_classes=10),
}


def digest(a):
    return hashlib.sha256(np.ascontiguousarray(a).tobytes()).hexdigest()[:16]


def processor(kind, config):
    return getattr(transformers, kind).from_dict(dict(config))


def class_of(config):
    config = dict(config)
    name = config.get("image_processor_type") or config.get("feature_extractor_type")
    if name is None:
        name = {"vit": "ViTImageProcessor"}[config.pop("model_type")]
    return name.replace("FeatureExtractor", "ImageProcessor"), config


def run(p, im, **more):
    return np.asarray(p(im, return_tensors="np", **more)["pixel_values"][0])


def entry(name, config, images):
    kind, config = class_of(config)
    slow, fast = processor(kind + "Pil", config), processor(kind, config)
    raw = dict(do_rescale=False, do_normalize=False)
    if kind.startswith("EfficientNet"):
        raw["include_top"] = False
    out, differ, levels, final, same = [], [], 0, 0.0, 0
    for im in images:
        a = run(slow, im)
        out.append(digest(a))
        try:
            b = run(fast, im)
        except NotImplementedError:  # of two filters
            continue
        same += int(np.array_equal(a, b))
        final = max(final, float(np.abs(a.astype(np.float64) - b).max()))
        d = np.abs(run(slow, im, **raw).astype(np.int32) - run(fast, im, **raw))
        differ.append(float((d > 0).mean()))
        levels = max(levels, int(d.max()))
    far = dict(equal=same, differ=round(float(np.mean(differ)), 5), levels=levels, final=round(final, 6)) if differ else None
    print(f"{name:24} {a.dtype} {a.shape} fast: {far}", flush=True)
    return dict(name=name, config=config, fast=far, sums=out)


def timm_entry(name, config, images, test):
    args = resolve_data_config({}, pretrained_cfg=config, use_test_size=test, verbose=False)
    f = create_transform(**args)
    out = [digest(f(im).numpy()) for im in images]
    print(f"{name:24} {args}", flush=True)
    return dict(name=name, config=config, test=test, sums=out)


def defaults(kind, images):
    """A configuration that names only its class, so that all else is the class's default."""
    p = processor(kind + "ImageProcessorPil", {})
    return dict(name=kind, config=dict(image_processor_type=kind + "ImageProcessor"), sums=[digest(run(p, im)) for im in images])


CLASSES = ["Beit", "Bit", "Blip", "CLIP", "ChineseCLIP", "ConditionalDetr", "ConvNext", "DPT", "DeformableDetr", "DeiT", "Detr", "EfficientNet",
           "GroundingDino", "Levit", "MobileNetV1", "MobileNetV2", "MobileViT", "OwlViT", "PoolFormer", "Pvt", "RTDetr", "Sam", "Segformer", "Siglip",
           "ViT", "Yolos"]


def models():
    """The class for every model_type."""
    all = {}
    for model, classes in IMAGE_PROCESSOR_MAPPING_NAMES.items():
        classes = classes.values() if isinstance(classes, dict) else [classes] if isinstance(classes, str) else classes
        for name in classes:
            if name and name.endswith("ImageProcessor") and name[:-14] in CLASSES:
                all[model] = name
    return all


def opened(paths):
    return [Image.open(p).convert("RGB") for p in paths]


def names(paths):
    return [f"{p.parent.name}/{p.name}" for p in paths]


def main(folder):
    photos = [p for c in sorted(pathlib.Path(folder).iterdir()) for p in sorted(c.iterdir())[:5]]
    small = [p for p in sorted(own.glob("*/*.jpg")) if p.name in ("1.jpg", "gray.jpg")]
    images = opened(photos + small)
    write(dict(
        versions=dict(transformers=transformers.__version__, timm=timm.__version__, torchvision=torchvision.__version__,
                      torch=torch.__version__, pillow=PIL.__version__, numpy=np.__version__),
        photos=names(photos), images=names(small), models=models(),
        transformers=[dict(entry(n, c, images), model=c.get("model_type", "")) for n, c in PROCESSORS.items()],
        timm=[timm_entry(n, c, images, False) for n, c in TIMM.items()] + [timm_entry("timm, test size", TIMM["timm, ResNet"], images, True)],
        defaults=[defaults(c, opened(small)) for c in CLASSES]))


def write(golden):
    lines = [f'"{k}": ' + ("[\n" + ",\n".join(map(json.dumps, v)) + "\n]" if isinstance(v, list) and isinstance(v[0], dict) else json.dumps(v))
             for k, v in golden.items()]
    (here / "processors.json").write_text("{\n" + ",\n".join(lines) + "\n}\n")


if __name__ == "__main__":
    main(sys.argv[1])
