"""Makes keras.json: what TensorFlow and Keras make of the twelve small pictures in the folder pictures.

    pip install tensorflow-cpu==2.21.0 keras==3.15.1 pillow
    python keras_models.py

For every size and way to normalise there are the first 16 digits of the SHA-256 of the float32 values of every picture in HWC order: tf.image.resize,
and then preprocess_input of keras.applications in its three modes, the layer Rescaling(1/255), or nothing. The pictures are opened by Pillow and converted to RGB.
The script prints which JPEG files tf.io.decode_jpeg reads as other pixels.
"""
import hashlib
import json
import os
import pathlib

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import keras
import numpy as np
import tensorflow as tf
from keras.src.applications.imagenet_utils import preprocess_input
from PIL import Image

here = pathlib.Path(__file__).parent
paths = sorted((here / "pictures").iterdir())
images = [np.asarray(Image.open(p).convert("RGB")) for p in paths]
SIZES = [(224, 224), (64, 96), (331, 200)]


def prepared(a, size, mode):
    x = tf.image.resize(a, size)
    if mode == "layer":
        return keras.layers.Rescaling(1 / 255)(x).numpy()
    if mode == "none":
        layer = keras.layers.Resizing(*size)(a.astype(np.float32)).numpy()
        assert np.array_equal(layer, x.numpy())
        return layer
    return preprocess_input(x.numpy(), data_format="channels_last", mode=mode)


made = []
for size in SIZES:
    for mode in ("tf", "torch", "caffe", "layer", "none"):
        outs = [np.ascontiguousarray(prepared(a, size, mode)) for a in images]
        assert all(o.dtype == np.float32 and o.shape == (*size, 3) for o in outs)
        made.append(dict(size=list(size), mode=mode, sums=[hashlib.sha256(o.tobytes()).hexdigest()[:16] for o in outs]))
for p, a in zip(paths, images):
    if p.suffix == ".jpg" and Image.open(p).mode == "RGB":
        d = np.abs(tf.io.decode_jpeg(p.read_bytes(), channels=3).numpy().astype(int) - a)
        accurate = np.abs(tf.io.decode_jpeg(p.read_bytes(), channels=3, dct_method="INTEGER_ACCURATE").numpy().astype(int) - a)
        print(p.name, "differs by", d.max(), "in", (d > 0).mean(), "; accurate by", accurate.max())
lines = ",\n".join(json.dumps(m) for m in made)
(here / "keras.json").write_text('{\n"pictures": ' + json.dumps([p.name for p in paths]) + ',\n"made": [\n' + lines + "\n]\n}\n")
print(tf.__version__, keras.__version__, len(made), "cases")
