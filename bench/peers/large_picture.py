"""Measures Pillow on one picture of a telephone: 4032×3024 pixels to 1024×1024, bicubic.

    pip install pillow==12.3.0 numpy
    python large_picture.py PHOTO OUT.jpg

PHOTO is any photo. It becomes OUT.jpg, enlarged and with the noise of a sensor, as a JPEG of quality 92 with halved chroma. Beside it:

    go test -run '^$' -bench Large ./internal/resize                        # the resize alone
    go test -run '^$' -bench LargePicture ./transform -large OUT.jpg        # from the file
"""
import io
import pathlib
import sys
import time

import numpy
from PIL import Image

photo, out = Image.open(sys.argv[1]).convert("RGB"), pathlib.Path(sys.argv[2])
pixels = numpy.asarray(photo.resize((4032, 3024), Image.Resampling.BICUBIC)).astype(numpy.float32)
pixels += numpy.random.default_rng(1).normal(0, 4, pixels.shape)
Image.fromarray(pixels.clip(0, 255).astype(numpy.uint8)).save(out, quality=92, subsampling=2)
data = out.read_bytes()


def least(run, times=9):
    took = []
    for _ in range(times):
        begin = time.perf_counter()
        run()
        took.append(1e3 * (time.perf_counter() - begin))
    return f"{min(took):.1f} ms, median {sorted(took)[times // 2]:.1f} ms"


decoded = Image.open(io.BytesIO(data)).convert("RGB")
small = (1024, 1024)
print(f"{len(data)} bytes, Pillow {Image.__version__}")
print("resize:", least(lambda: decoded.resize(small, Image.Resampling.BICUBIC)))
print("decode:", least(lambda: Image.open(io.BytesIO(data)).load()))
print("decode and resize:", least(lambda: Image.open(io.BytesIO(data)).convert("RGB").resize(small, Image.Resampling.BICUBIC)))
