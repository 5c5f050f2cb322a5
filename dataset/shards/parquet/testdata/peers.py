"""Writes Parquet files with Hugging Face's datasets and with pyarrow.

    pip install datasets==5.0.1 pyarrow==26.0.1 pillow
    python peers.py PHOTOS OUT [N]

PHOTOS has a folder of JPEG files per class. OUT gets photos.parquet, as Dataset.to_parquet
writes it, and groups.parquet, with row groups of 100 photos and no page index, as older
versions wrote it. With N, it takes the N smallest photos, and writes files of other types,
encodings and compressions as well.

The tests read the files in this folder, which `python peers.py PHOTOS . 3` made.
"""

import os
import sys

import datasets
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

datasets.disable_progress_bars()


def samples(photos, n):
    names = sorted(os.listdir(photos))
    found = []
    for label, name in enumerate(names):
        for file in sorted(os.listdir(os.path.join(photos, name))):
            with open(os.path.join(photos, name, file), "rb") as f:
                found.append({"image": {"bytes": f.read(), "path": file}, "label": label})
    return names, sorted(found, key=lambda s: len(s["image"]["bytes"]))[:n] if n else found


def photo_files(out, names, found):
    features = datasets.Features({"image": datasets.Image(), "label": datasets.ClassLabel(names=names)})
    ds = datasets.Dataset.from_list(found, features=features)
    ds.to_parquet(os.path.join(out, "photos.parquet"))
    pq.write_table(ds.data.table, os.path.join(out, "groups.parquet"), row_group_size=100)


def typed(out):
    """Columns of the types of datasets, in 40 rows."""
    f = datasets.Features({
        "text": datasets.Value("string"), "tokens": datasets.List(datasets.Value("int32")), "box": datasets.List(datasets.Value("float32"), length=4),
        "matrix": datasets.Array2D((2, 3), "float32"), "nested": datasets.List(datasets.List(datasets.Value("int64"))),
        "flag": datasets.Value("bool"), "small": datasets.Value("int8"), "large": datasets.Value("uint64"), "half": datasets.Value("float16"),
        "score": datasets.Value("float64"), "sometimes": datasets.Value("int64"), "inner": {"class": datasets.ClassLabel(names=["a", "b"])},
        "texts": datasets.List(datasets.Value("string")), "price": datasets.Value("decimal128(10, 2)"), "when": datasets.Value("timestamp[us]"),
    })
    rows = [{
        "text": f'{{"n": {i}, "ż": true}}', "tokens": list(range(i % 5)), "box": [i, i + 0.5, -i, 1e30], "matrix": np.arange(6).reshape(2, 3) + i,
        "nested": [[i, i + 1]] * (i % 3) if i != 7 else [[1], [2, 3]],
        "flag": i % 3 == 0, "small": i - 20, "large": 2**63 - 1 - i, "half": i / 4, "score": i / 8, "sometimes": i if i % 2 else None,
        "inner": {"class": i % 2}, "texts": ["a", "b"], "price": None, "when": i,
    } for i in range(40)]
    datasets.Dataset.from_list(rows, features=f).to_parquet(os.path.join(out, "types.parquet"), batch_size=16)


def encoded(out):
    """The same numbers and texts in all encodings and compressions, and in both versions of pages."""
    n = 1000
    t = pa.table({
        "i": pa.array([i * 7 % 1000 - 500 for i in range(n)], pa.int64()),
        "j": pa.array([None if i % 10 == 3 else i for i in range(n)], pa.int32()),
        "f": pa.array([i / 16 for i in range(n)], pa.float32()),
        "s": pa.array([f"text {i // 3:05d}" for i in range(n)]),
        "x": pa.array([i.to_bytes(3, "big") for i in range(n)], pa.binary(3)),
        "b": pa.array([i % 3 == 0 for i in range(n)]),
        "l": pa.array([[i] * (i % 4) for i in range(n)], pa.list_(pa.int32())),
    })
    chosen = {"i": "DELTA_BINARY_PACKED", "j": "DELTA_BINARY_PACKED", "f": "BYTE_STREAM_SPLIT", "s": "DELTA_BYTE_ARRAY", "x": "DELTA_BYTE_ARRAY", "b": "RLE", "l": "DELTA_BINARY_PACKED"}
    options = {
        "plain-v1-none": {"use_dictionary": False},
        "dictionary-v1-snappy": {"compression": "snappy"},
        "dictionary-v2-zstd": {"compression": "zstd", "data_page_version": "2.0", "write_page_checksum": True},
        "plain-v2-gzip": {"compression": "gzip", "data_page_version": "2.0", "use_dictionary": False},
        "delta-v2-brotli": {"compression": "brotli", "data_page_version": "2.0", "use_dictionary": False, "column_encoding": chosen},
        "delta-v1-lz4": {"compression": "lz4", "use_dictionary": False, "column_encoding": chosen | {"s": "DELTA_LENGTH_BYTE_ARRAY", "x": "BYTE_STREAM_SPLIT", "i": "BYTE_STREAM_SPLIT"}},
    }
    for name, o in options.items():
        pq.write_table(t, os.path.join(out, name + ".parquet"), **({"compression": "none", "data_page_size": 1024, "write_batch_size": 100, "write_page_index": True, "row_group_size": 600} | o))


def main():
    photos, out = sys.argv[1:3]
    n = int(sys.argv[3]) if len(sys.argv) > 3 else 0
    photo_files(out, *samples(photos, n))
    if n:
        typed(out)
        encoded(out)


main()
