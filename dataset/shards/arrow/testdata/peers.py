"""Writes Arrow files with Hugging Face's datasets.

    pip install datasets==5.2.0 pyarrow==26.0.1 pillow
    python peers.py PHOTOS OUT

PHOTOS has a folder of JPEG files per class. OUT gets the three smallest photos as save_to_disk writes them, in two files,
and types.arrow, as a file of the cache, in batches of 16 rows.

The tests read the files in this folder, which `python peers.py PHOTOS .` made.
"""

import os
import shutil
import sys
import tempfile

import datasets
import numpy as np
import pyarrow as pa
from datasets.arrow_writer import ArrowWriter

datasets.disable_progress_bars()


def photos(folder, out):
    names = sorted(os.listdir(folder))
    found = []
    for label, name in enumerate(names):
        for file in sorted(os.listdir(os.path.join(folder, name))):
            with open(os.path.join(folder, name, file), "rb") as f:
                found.append({"image": {"bytes": f.read(), "path": file}, "label": label})
    found = sorted(found, key=lambda s: len(s["image"]["bytes"]))[:3]
    features = datasets.Features({"image": datasets.Image(), "label": datasets.ClassLabel(names=names)})
    with tempfile.TemporaryDirectory() as tmp:
        table = datasets.table.InMemoryTable(pa.Table.from_pylist(found, schema=features.arrow_schema))
        ds = datasets.Dataset(table, info=datasets.DatasetInfo(features=features), fingerprint="photos")
        ds.save_to_disk(tmp, num_shards=2)
        for name in sorted(os.listdir(tmp)):
            if name.endswith(".arrow"):
                shutil.copy(os.path.join(tmp, name), os.path.join(out, "photos-" + name))


def typed(out):
    """Columns of the types of datasets, in 40 rows."""
    f = datasets.Features({
        "text": datasets.Value("string"), "long": datasets.Value("large_string"), "tokens": datasets.List(datasets.Value("int32")),
        "large": datasets.LargeList(datasets.Value("int16")), "box": datasets.List(datasets.Value("float32"), length=4),
        "matrix": datasets.Array2D((2, 3), "float32"), "nested": datasets.List(datasets.List(datasets.Value("int64"))),
        "flag": datasets.Value("bool"), "flags": datasets.List(datasets.Value("bool")), "small": datasets.Value("int8"),
        "huge": datasets.Value("uint64"), "half": datasets.Value("float16"), "score": datasets.Value("float64"),
        "sometimes": datasets.Value("int64"), "inner": {"class": datasets.ClassLabel(names=["a", "b"])},
        "objects": datasets.List({"box": datasets.List(datasets.Value("float32"), length=2), "area": datasets.Value("int64")}),
        "texts": datasets.List(datasets.Value("string")), "price": datasets.Value("decimal128(10, 2)"), "when": datasets.Value("timestamp[us]"),
    })
    with ArrowWriter(path=os.path.join(out, "types.arrow"), features=f, writer_batch_size=16) as w:
        for i in range(40):
            w.write({
                "text": f'{{"n": {i}, "ż": true}}', "long": "x" * i, "tokens": list(range(i % 5)), "large": [-i, i],
                "box": [i, i + 0.5, -i, 1e30], "matrix": np.arange(6).reshape(2, 3) + i,
                "nested": [[i, i + 1]] * (i % 3) if i != 7 else [[1], [2, 3]],
                "flag": i % 3 == 0, "flags": [k % 2 == 0 for k in range(i % 4)], "small": i - 20,
                "huge": 2**63 - 1 - i, "half": i / 4, "score": i / 8,
                "sometimes": i if i % 2 else None, "inner": {"class": i % 2},
                "objects": [{"box": [i, k], "area": k} for k in range(i % 3)], "texts": ["a", "b"], "price": None, "when": i,
            })
        w.finalize()


photos(sys.argv[1], sys.argv[2])
typed(sys.argv[2])
