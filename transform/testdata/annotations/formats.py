"""Writes formats.json: for the GIF, BMP and PNM files of the decoders' tests, the numbers that
numpy.asarray(PIL.Image.open(f)) has, as the SHA-256 of bytes, or of uint16 in little-endian for
mode I. "" stands for files in colour or in floats, which are no masks, and for those that
Pillow refuses. Run it with Python, NumPy and Pillow 12.3:

    python formats.py
"""

import hashlib
import json
import pathlib
import warnings

import numpy as np
import PIL
from PIL import Image

assert PIL.__version__.startswith("12.3"), PIL.__version__
warnings.simplefilter("ignore")
here = pathlib.Path(__file__).parent
root = here.parents[2]
numbers = {}
for folder in "gif", "bmp", "pnm":
    for file in sorted((root / "internal" / "codec" / folder / "testdata").iterdir()):
        if file.suffix not in (".gif", ".bmp", ".pbm", ".pgm", ".ppm", ".pfm"):
            continue
        if file.name in ("bits0.gif", "bits9.gif"):  # codes that the format does not have, and the package refuses
            numbers[folder + "/" + file.name] = ""
            continue
        try:
            image = Image.open(file)
            image.load()
        except Exception:
            numbers[folder + "/" + file.name] = ""
            continue
        if image.mode in ("1", "L", "P"):
            data = np.asarray(image).astype(np.uint8).tobytes()
        elif image.mode in ("I", "I;16"):
            data = np.asarray(image).astype("<u2").tobytes()
        else:
            data = None
        numbers[folder + "/" + file.name] = hashlib.sha256(data).hexdigest() if data is not None else ""

(here / "formats.json").write_text(json.dumps(numbers, indent=0) + "\n")
