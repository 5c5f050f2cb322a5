#!/usr/bin/env python3
"""Measures the data of torchvision's reference training scripts with torch's DataLoader and with penstock's, in turns.

    measure.py PHOTOS [ROUNDS]

PHOTOS is a folder with a folder of images per class. Their objects and masks are made up. It prints the lines that differ, and the medians of
the rounds with the least and the greatest value. It needs PyTorch, torchvision, pycocotools and penstock.
"""

import difflib
import json
import math
import os
import pathlib
import random
import statistics
import subprocess
import sys
import tempfile

import PIL.Image
import PIL.ImageDraw

HERE = pathlib.Path(__file__).resolve().parent
WORKERS = len(os.sched_getaffinity(0))


def classes(photos, folder, images):
    """Links to photos in folders per class."""
    for k, photo in photographs(photos, images):
        link = folder / photo.parent.name / f"{k:06}{photo.suffix}"
        link.parent.mkdir(exist_ok=True)
        link.symlink_to(photo)


def voc(photos, folder, images):
    """The VOC of 2012, with 3 objects per photo, and borders of 255."""
    root, r, names = folder / "VOCdevkit" / "VOC2012", random.Random(1), []
    for part in ("JPEGImages", "SegmentationClass", "ImageSets/Segmentation"):
        (root / part).mkdir(parents=True)
    for k, photo in photographs(photos, images):
        names.append(f"{k:06}")
        (root / "JPEGImages" / f"{names[-1]}.jpg").symlink_to(photo)
        with PIL.Image.open(photo) as image:
            mask = PIL.Image.new("P", image.size)
        draw = PIL.ImageDraw.Draw(mask)
        for _ in range(3):
            draw.polygon(blob(r, mask.size), fill=r.randint(1, 20), outline=255, width=3)
        mask.putpalette([v for i in range(256) for v in (i, 255 - i, i * 7 % 256)])
        mask.save(root / "SegmentationClass" / f"{names[-1]}.png")
    (root / "ImageSets" / "Segmentation" / "train.txt").write_text("\n".join(names) + "\n")


def coco(photos, folder, images):
    """Images with annotations of 7 objects each, which is how many COCO has on average."""
    r, found, objects = random.Random(1), [], []
    for k, photo in photographs(photos, images):
        (folder / f"{k:06}.jpg").symlink_to(photo)
        with PIL.Image.open(photo) as image:
            size = image.size
        found.append({"id": k, "file_name": f"{k:06}.jpg", "width": size[0], "height": size[1]})
        for _ in range(7):
            points = blob(r, size)
            (left, right), (top, bottom) = ((min(v), max(v)) for v in zip(*points))
            objects.append({
                "id": len(objects) + 1, "image_id": k, "category_id": r.randint(1, 90), "iscrowd": 0, "area": (right - left) * (bottom - top) / 2,
                "bbox": [left, top, right - left, bottom - top], "segmentation": [[v for point in points for v in point]],
            })
    categories = [{"id": i, "name": str(i)} for i in range(1, 91)]
    (folder / "annotations.json").write_text(json.dumps({"images": found, "annotations": objects, "categories": categories}))


# What the data of a script is, how many images an epoch has, and the preset whose steps are given in its place.
SCRIPTS = {
    "classification": (classes, 3000, "ClassificationPresetTrain(crop_size=224)"),
    "segmentation": (voc, 600, "SegmentationPresetTrain(base_size=520, crop_size=480)"),
    "detection": (coco, 1200, "DetectionPresetTrain()"),
}


def photographs(photos, images):
    """As many numbers with photos, all of them in turns."""
    paths = sorted(pathlib.Path(photos).resolve().glob("*/*"))
    return [(k, paths[k % len(paths)]) for k in range(images)]


def blob(r, size):
    """A polygon of 20 points in an image."""
    x, y, radius = r.uniform(0.2, 0.8) * size[0], r.uniform(0.2, 0.8) * size[1], r.uniform(0.05, 0.2) * min(size)
    angles = [2 * math.pi * i / 20 for i in range(20)]
    return [(round(x + radius * r.uniform(0.7, 1) * math.cos(a), 2), round(y + radius * r.uniform(0.7, 1) * math.sin(a), 2)) for a in angles]


def changed(name):
    """A script as it is, and with penstock."""
    before = after = (HERE / f"{name}.py").read_text()
    preset = SCRIPTS[name][2]
    for old, new in (
        ("import torch\n", "import penstock\nimport torch\n"),
        (f"{preset},\n", f"{preset}.transforms,\n"),
        ("data_loader = torch.utils.data.DataLoader(\n", "data_loader = penstock.DataLoader(\n"),
    ):
        assert after.count(old) == 1, (name, old)
        after = after.replace(old, new)
    return before, after


def diff(name):
    """The lines that change."""
    before, after = (text.splitlines() for text in changed(name))
    lines = difflib.unified_diff(before, after, n=0, lineterm="")
    return "\n".join(line for line in lines if line[:3] not in ("---", "+++", "@@ "))


def run(script, *arguments):
    """The images per second, and what the script says of its batches."""
    out = subprocess.run([sys.executable, script, *map(str, arguments)], check=True, stdout=subprocess.PIPE, text=True).stdout
    rate, data = out.splitlines()[-1].split(" ", 1)
    return float(rate), data


def main(photos, rounds=5):
    for name, (make, images, _) in SCRIPTS.items():
        print(f"{name}, {WORKERS} workers\n\n{diff(name)}\n")
        with tempfile.TemporaryDirectory() as data, tempfile.TemporaryDirectory() as scripts:
            make(photos, pathlib.Path(data), images)
            both = [pathlib.Path(scripts) / f"{name}_{side}.py" for side in ("before", "after")]
            rates = [[], []]
            for script, text in zip(both, changed(name)):
                script.write_text(text)
            for _ in range(int(rounds)):
                answers = [run(script, data, WORKERS) for script in both]
                assert answers[0][1] == answers[1][1], answers
                for each, (rate, _) in zip(rates, answers):
                    each.append(rate)
        for title, each in zip(("torch.utils.data", "penstock"), rates):
            print(f"{title:17} {statistics.median(each):7.0f} images/s  ({min(each):.0f} to {max(each):.0f})", flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
