"""Writes packs.json: what TRL packs of documents of random lengths.

    pip install trl==1.16.0 transformers==5.23.0 datasets pyarrow
    python packs.py
"""

import json
import pathlib
import random

import pyarrow
import trl
from trl.data_utils import _pack_bfd, _pack_wrapped

random.seed(1)
cases = []
for strategy in ("bfd", "bfd_split", "wrapped"):
    for row, n, longest in ((8, 12, 8), (16, 60, 20), (100, 200, 350), (64, 300, 64), (2048, 150, 5000), (1, 9, 2)):
        lengths = [random.randint(0 if strategy != "wrapped" else 1, longest) for _ in range(n)]
        ids = [[1_000_000 * i + j for j in range(length)] for i, length in enumerate(lengths)]
        table = pyarrow.table({"input_ids": ids})
        if strategy == "wrapped":
            packed = _pack_wrapped(table, row).to_pydict()
        else:
            packed = _pack_bfd(table, row, "split" if strategy == "bfd_split" else "truncate").to_pydict()
        rows = []
        for tokens in packed["input_ids"]:
            pieces = []  # document, from, length
            for t in tokens:
                document, j = divmod(t, 1_000_000)
                if pieces and pieces[-1][0] == document and pieces[-1][1] + pieces[-1][2] == j:
                    pieces[-1][2] += 1
                else:
                    pieces.append([document, j, 1])
            rows.append(pieces)
        cases.append({"strategy": strategy, "row": row, "lengths": lengths, "rows": rows})

text = json.dumps({"trl": trl.__version__, "cases": cases}, separators=(",", ":")).replace('{"strategy', '\n{"strategy')
pathlib.Path(__file__).with_name("packs.json").write_text(text + "\n")
