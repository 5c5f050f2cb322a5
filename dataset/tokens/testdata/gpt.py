"""Writes gpt.json: the samples of GPTDatasets of Megatron over documents of random lengths.

    pip install megatron-core==0.16.1 torch
    python gpt.py

Token j of document i is 100·i+j.
"""

import json
import pathlib
import random
import tempfile
import types

import megatron.core
import numpy
import torch
from megatron.core.datasets.gpt_dataset import GPTDataset, GPTDatasetConfig
from megatron.core.datasets.indexed_dataset import IndexedDataset, IndexedDatasetBuilder
from megatron.core.datasets.utils import Split

random.seed(2)
tokenizer = types.SimpleNamespace(eod=-1, pad=-2, vocab_size=1 << 30, unique_identifiers={})
cases = []
for row, n, longest, samples, seed in (
    (8, 20, 30, 10, 1234), (8, 20, 30, 60, 1234), (16, 9, 40, 25, 7), (5, 30, 7, 200, 1), (32, 40, 99, 61, 4_000_000_000), (4, 1, 9, 30, 0),
):
    lengths = [random.randint(1, longest) for _ in range(n)]
    with tempfile.TemporaryDirectory() as folder:
        prefix = folder + "/documents"
        builder = IndexedDatasetBuilder(prefix + ".bin", dtype=numpy.int32)
        for i, length in enumerate(lengths):
            builder.add_document(torch.arange(100 * i, 100 * i + length, dtype=torch.int32), [length])
        builder.finalize(prefix + ".idx")
        config = GPTDatasetConfig(
            random_seed=seed, sequence_length=row, split="1,0,0", tokenizer=tokenizer, path_to_cache=folder,
            reset_position_ids=False, reset_attention_mask=False, eod_mask_loss=False, create_attention_mask=False,
        )
        data = GPTDataset(IndexedDataset(prefix), prefix, numpy.arange(n, dtype=numpy.int32), samples, Split.train, config)
        rows = [[int(t) for t in data[k]["tokens"]] + [int(data[k]["labels"][-1])] for k in range(len(data))]
        for k in range(len(data)):
            assert list(data[k]["labels"][:-1]) == list(data[k]["tokens"][1:]) and all(data[k]["loss_mask"] == 1)
            assert list(data[k]["position_ids"]) == list(range(row))
    cases.append({"row": row, "samples": samples, "seed": seed, "lengths": lengths, "rows": rows})

text = json.dumps({"megatron-core": megatron.core.__version__, "cases": cases}, separators=(",", ":")).replace('{"row', '\n{"row')
pathlib.Path(__file__).with_name("gpt.json").write_text(text + "\n")
