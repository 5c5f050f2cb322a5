#!/usr/bin/env python3
"""Makes ends.zip: JPEG files, and whether Pillow decodes them when they are cut.

    pip install pillow==12.3.0
    ends.py PHOTOS ends.zip

PHOTOS is the folder of the shared photos. The archive holds small files of
synthetic images, verdicts.json for these, and photos.json for the photos. Some of
the small files need no end marker. Both JSON files map a file's name to the
numbers of bytes that can be missing from its end before Pillow gives up. For the
small files every number was tried, for the photos those below 6. How far libjpeg
reads ahead depends on restart markers and on the distance to the end. So there are
files with and without such markers, long and short.
"""
import glob
import io
import json
import os
import sys
import zipfile

from PIL import Image


def synthetic(width, height, salt):
    """Smooth colours, so that files stay small, with an edge now and then."""
    pixels = bytes((x * (3 + c) + y * (7 - c) + (x // 16 * y // 9) * salt * 11) % 256 if (x // 32 + y // 32 + salt) % 3
                   else 128 for y in range(height) for x in range(width) for c in range(3))
    return Image.frombytes("RGB", (width, height), pixels)


def decodes(data):
    try:
        with Image.open(io.BytesIO(data)) as image:
            image.load()
        return True
    except OSError:
        return False


def files():
    for salt in range(180):
        image = synthetic(*[(16, 16), (75, 40), (160, 120)][salt % 3], salt)
        options = [{}, {"progressive": True}, {"restart_marker_blocks": 7}, {"optimize": True}, {"restart_marker_blocks": 5000}]
        image = image.convert("L") if salt % 4 == 3 else image
        out = io.BytesIO()
        image.save(out, "JPEG", quality=50 + salt % 45, subsampling=salt % 3, **options[salt % 5])
        yield f"{salt}.jpg", out.getvalue()


verdicts, photos = {}, {}
with zipfile.ZipFile(sys.argv[2], "w", zipfile.ZIP_DEFLATED) as archive:
    def write(name, data):
        archive.writestr(zipfile.ZipInfo(name, (2026, 1, 1, 0, 0, 0)), data, zipfile.ZIP_DEFLATED)

    for i, (name, data) in enumerate(files()):
        if i < 10 or decodes(data[:-1]):
            verdicts[name] = [n for n in range(len(data)) if decodes(data[:len(data) - n])]
            write(name, data)
    for path in sorted(glob.glob(os.path.join(sys.argv[1], "*", "*"))):
        with open(path, "rb") as file:
            data = file.read()
        photos[os.path.basename(path)] = [n for n in range(6) if decodes(data[:len(data) - n])]
    write("verdicts.json", json.dumps(verdicts, indent=0))
    write("photos.json", json.dumps(photos, indent=0))
