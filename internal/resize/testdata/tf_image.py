"""Makes tensorflow.json: what tf.image.resize makes of noise.

    pip install tensorflow-cpu==2.21.0 numpy
    python tf_image.py

For every pair of sizes there are the first 16 digits of the SHA-256 of the float32 values in CHW order. The noise is that of opencv.py.
"""
import hashlib
import json
import os
import pathlib

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import numpy as np
import tensorflow as tf

SIZES = [(1, 1), (2, 1), (1, 3), (2, 2), (3, 5), (7, 7), (16, 9), (31, 64), (100, 75), (333, 500), (640, 480), (1, 400), (257, 1), (196, 98), (75, 150)]
TO = [(1, 1), (2, 3), (5, 5), (16, 16), (31, 47), (64, 64), (100, 37), (224, 224), (320, 240), (640, 427), (999, 2)]


def noise(w, h):
    i = np.arange(3 * w * h, dtype=np.uint64)
    return ((i * 2654435761 % 2**32 >> 24) ^ (i >> 7) & 255).astype(np.uint8).reshape(h, w, 3)


cases = []
for w, h in SIZES:
    for tw, th in TO + [(2 * w, 2 * h), ((w + 1) // 2, (h + 1) // 2), (w, h), (max(w // 3, 1), max(h // 3, 1))]:
        out = tf.image.resize(noise(w, h), (th, tw)).numpy()
        assert out.dtype == np.float32
        digest = hashlib.sha256(np.ascontiguousarray(out.transpose(2, 0, 1)).tobytes()).hexdigest()[:16]
        cases.append({"from": [w, h], "to": [tw, th], "bilinear": digest})
path = pathlib.Path(__file__).parent / "tensorflow.json"
path.write_text("[\n" + ",\n".join(json.dumps(c) for c in cases) + "\n]\n")
print(tf.__version__, len(cases), "cases")
