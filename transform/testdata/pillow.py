"""Writes what Pillow 12.3 makes of every file in a folder to pillow.json in it.

    python pillow.py folder
    go test ./transform -run Suites -images folder -v

For every file there is its size and the SHA-256 of its pixels after
convert("RGB"), or why Pillow refuses it. The images that the test was written
for are those of other projects' test suites, which are not part of this one.
"""

import hashlib
import io
import json
import logging
import pathlib
import sys
import warnings

import PIL
from PIL import Image

assert PIL.__version__.startswith("12.3"), PIL.__version__
warnings.simplefilter("ignore")
logging.disable(logging.CRITICAL)


def pillow(data):
    try:
        image = Image.open(io.BytesIO(data))
        what = [image.format, image.mode, str(image.info.get("compression", ""))]
        rgb = image.convert("RGB")
        digest = hashlib.sha256(rgb.tobytes()).hexdigest()
        return {"What": " ".join(what).strip(), "W": rgb.width, "H": rgb.height, "RGB": digest}
    except Exception as e:
        return {"Error": f"{type(e).__name__}: {e}"[:200]}


folder = pathlib.Path(sys.argv[1])
files = sorted(p for p in folder.rglob("*") if p.is_file() and p.name != "pillow.json")
found = {str(p.relative_to(folder)): pillow(p.read_bytes()) for p in files}
(folder / "pillow.json").write_text(json.dumps(found, indent=0))
