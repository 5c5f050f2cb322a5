"""Writes a panoptic data set: panoptic.json, as in COCO, with the ids of segments in PNG files,
and panoptic_ids.json with the checksum of every image's ids. Areas and boxes are those of
pycocotools 2.0.10.

    python panoptic.py
"""
import json
import os
import random
import zlib

import numpy as np
from PIL import Image
from pycocotools import mask as api

here = os.path.dirname(os.path.abspath(__file__))
rng = random.Random(3)
os.makedirs(os.path.join(here, "panoptic"), exist_ok=True)
images, annotations, sums = [], [], []
for k in range(12):
    h, w = rng.randrange(1, 50), rng.randrange(1, 50)
    ids = np.zeros((h, w), np.int64)
    used = {}
    for _ in range(rng.randrange(0, 7)):
        number = rng.choice([rng.randrange(1, 300), rng.randrange(1, 2**16), rng.randrange(1, 2**24)])
        y, x = rng.randrange(h), rng.randrange(w)
        ids[y : y + rng.randrange(1, h + 1), x : x + rng.randrange(1, w + 1)] = number
        used[number] = rng.choice([1, 18, 200])
    rgb = np.stack([ids % 256, ids // 256 % 256, ids // 65536], -1).astype(np.uint8)
    name = "%d.png" % k
    Image.fromarray(rgb).save(os.path.join(here, "panoptic", name), optimize=True)
    segments = []
    for number, category in used.items():
        rle = api.encode(np.asfortranarray((ids == number).astype(np.uint8)))
        if api.area(rle) == 0:
            continue
        segments.append({"id": number, "category_id": category, "iscrowd": rng.randrange(2), "area": int(api.area(rle)), "bbox": api.toBbox(rle).tolist()})
    images.append({"id": 100 - k, "file_name": "%d.jpg" % k, "height": h, "width": w})
    annotations.append({"image_id": 100 - k, "file_name": name, "segments_info": segments})
    sums.append({"image": 100 - k, "crc": zlib.crc32(ids.astype("<i4").tobytes())})
categories = [
    {"id": 1, "name": "person", "supercategory": "person", "isthing": 1, "color": [220, 20, 60]},
    {"id": 18, "name": "dog", "supercategory": "animal", "isthing": 1, "color": [0, 80, 100]},
    {"id": 200, "name": "rug-merged", "supercategory": "furniture-stuff", "isthing": 0, "color": [250, 141, 255]},
]
with open(os.path.join(here, "panoptic.json"), "w") as f:
    json.dump({"info": {}, "licenses": [], "images": images, "annotations": annotations, "categories": categories}, f)
with open(os.path.join(here, "panoptic_ids.json"), "w") as f:
    json.dump(sums, f)
