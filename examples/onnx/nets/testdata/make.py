"""Writes weights.pth, which the tests read: `python make.py`, with torch==2.15.0."""

import collections
import pathlib

import torch

base = torch.arange(24, dtype=torch.float32)
weights = collections.OrderedDict(
    rows=base.reshape(2, 3, 4),
    turned=base.reshape(4, 6).t(),
    part=base[5:9],
    one=torch.tensor(-1.5),
    count=torch.tensor(7),
)
weights._metadata = {"": {"version": 1}}
torch.save(weights, pathlib.Path(__file__).parent / "weights.pth", _use_new_zipfile_serialization=False)
