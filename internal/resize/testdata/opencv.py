"""Makes opencv.json: what cv2.resize makes of noise.

    pip install opencv-python-headless==5.0.0.93 numpy
    python opencv.py

For every pair of sizes there are the first 16 digits of the SHA-256 of the results of INTER_LINEAR and INTER_AREA in RGB. Byte i of the
noise of w×h pixels is (i * 2654435761 mod 2**32) >> 24 ^ (i >> 7) & 255.
"""
import hashlib
import json
import pathlib

import cv2
import numpy as np

SIZES = [(1, 1), (2, 1), (1, 3), (2, 2), (3, 5), (7, 7), (16, 9), (31, 64), (100, 75), (333, 500), (640, 480), (1, 400), (257, 1), (196, 98), (75, 150)]
TO = [(1, 1), (2, 3), (5, 5), (16, 16), (31, 47), (64, 64), (100, 37), (224, 224), (320, 240), (640, 427), (999, 2)]


def noise(w, h):
    i = np.arange(3 * w * h, dtype=np.uint64)
    return ((i * 2654435761 % 2**32 >> 24) ^ (i >> 7) & 255).astype(np.uint8).reshape(h, w, 3)


cases = []
for w, h in SIZES:
    for tw, th in TO + [(2 * w, 2 * h), ((w + 1) // 2, (h + 1) // 2), (w, h), (max(w // 3, 1), max(h // 3, 1))]:
        both = {}
        for name, how in (("linear", cv2.INTER_LINEAR), ("area", cv2.INTER_AREA)):
            out = cv2.resize(noise(w, h), (tw, th), interpolation=how)
            both[name] = hashlib.sha256(out.tobytes()).hexdigest()[:16]
        cases.append({"from": [w, h], "to": [tw, th], **both})
path = pathlib.Path(__file__).parent / "opencv.json"
path.write_text("[\n" + ",\n".join(json.dumps(c) for c in cases) + "\n]\n")
print(cv2.__version__, len(cases), "cases")
