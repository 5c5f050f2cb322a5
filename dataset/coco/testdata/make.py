"""Writes the masks that pycocotools 2.0.10 makes of shapes.

    python make.py

Every line of masks.jsonl has the height and width of an image, a COCO segmentation,
and the checksum of its mask, line by line.
"""
import json
import random
import zlib

import numpy as np
from pycocotools import mask as api


def polygon(rng, h, w):
    n = rng.choice([3, 3, 4, 5, 8, 20])
    kind = rng.randrange(6)
    far = rng.choice([0, 0, 3, 30])

    def coordinate(size):
        x = rng.uniform(-far, size + far)
        return [round(x, 2), round(x), round(x * 2) / 2, round(x * 10) / 10, x, round(x, 1)][kind]

    xy = [[coordinate(w), coordinate(h)] for _ in range(n)]
    if rng.random() < 0.2:
        xy.insert(1, list(xy[0]))  # a point twice
    if rng.random() < 0.2:
        xy[1][rng.randrange(2)] = xy[0][rng.randrange(2)]
    return [v for p in xy for v in p]


def case(rng):
    h, w = rng.randint(1, 70), rng.randint(1, 70)
    kind = rng.random()
    if kind < 0.7:
        seg = [polygon(rng, h, w) for _ in range(rng.choice([1, 1, 1, 2, 4]))]
    else:
        p = rng.random()
        m = np.asfortranarray((np.random.default_rng(rng.randrange(1 << 30)).random((h, w)) < p).astype(np.uint8))
        if rng.random() < 0.5:
            m = np.asfortranarray(np.repeat(np.repeat(m, 7, 0), 9, 1)[:h, :w])
        rle = api.encode(m)
        seg = {"size": [h, w], "counts": rle["counts"].decode()}
        if rng.random() < 0.5:
            flat = m.flatten(order="F")
            ends = np.flatnonzero(np.diff(flat)) + 1
            runs = np.diff(np.concatenate([[0], ends, [h * w]])).tolist()
            if flat[0]:
                runs.insert(0, 0)
            seg["counts"] = runs
    if isinstance(seg, list):
        rle = api.merge(api.frPyObjects(seg, h, w))
    elif isinstance(seg["counts"], list):
        rle = api.frPyObjects(seg, h, w)
    else:
        rle = seg
    return {"h": h, "w": w, "segmentation": seg, "crc": zlib.crc32(np.ascontiguousarray(api.decode(rle)).tobytes())}


def main():
    rng = random.Random(5)
    with open("masks.jsonl", "w") as f:
        for _ in range(1500):
            print(json.dumps(case(rng), separators=(",", ":")), file=f)


if __name__ == "__main__":
    main()
