"""Rows of 2,048 tokens of Megatron's files tokens.bin and tokens.idx: as one stream, by np.memmap in PyTorch or by litdata's
TokensLoader, or packed from documents, by Megatron's GPTDataset or by Grain. Every side is as its documentation shows it.
"""

import importlib.metadata
import itertools
import os
import pathlib
import struct
import sys
import tempfile
import types

import numpy
import torch

import peer

LENGTH = 2048
versions = {"torch": torch.__version__, "numpy": numpy.__version__}


def loader(dataset, o, shuffle):
    return torch.utils.data.DataLoader(dataset, batch_size=o.batch, shuffle=shuffle, num_workers=o.workers, persistent_workers=True)


class Rows(torch.utils.data.Dataset):
    """A row, and the token that follows it, as int64."""

    def __init__(self, o, folder):
        self.samples, self.tokens = o.samples, numpy.memmap(folder / "tokens.bin", dtype=numpy.uint16, mode="r")

    def __len__(self):
        return self.samples

    def __getitem__(self, i):
        return torch.from_numpy(self.tokens[LENGTH * i : LENGTH * (i + 1) + 1].astype(numpy.int64))


def memmap(o, folder):
    batches = loader(Rows(o, folder), o, o.shuffle)
    return lambda number: ((rows,) for rows in batches)


def loop(o, folder):
    """As nanoGPT's get_batch, but with one row for inputs and labels. There are no workers."""
    rows = Rows(o, folder)

    def epoch(number):
        order = torch.randperm(o.samples, generator=torch.Generator().manual_seed(number)).tolist()
        for k in range(0, o.samples, o.batch):
            yield (torch.stack([rows[i] for i in order[k : k + o.batch]]),)

    return epoch


def index(folder):
    """Where each document of tokens.idx begins, in tokens, and where the last one ends."""
    with open(folder / "tokens.idx", "rb") as f:
        (n,) = struct.unpack("<Q", f.read(34)[18:26])
        lengths = numpy.fromfile(f, numpy.int32, n)
    return numpy.concatenate([[0], numpy.cumsum(lengths, dtype=numpy.int64)])


def chunks(folder):
    """The folder with the tokens as litdata's chunks, which are made once."""
    from litdata import TokensLoader
    from litdata.streaming.writer import BinaryWriter

    target = folder.with_name(folder.name + "-litdata")
    if not (target / "index.json").exists():
        writer = BinaryWriter(str(target), chunk_bytes="64MB", compression=None, item_loader=TokensLoader())
        tokens, begins = torch.from_numpy(numpy.fromfile(folder / "tokens.bin", numpy.uint16)), index(folder)
        for i in range(len(begins) - 1):
            writer[i] = tokens[begins[i] : begins[i + 1]].clone()
        writer.done()
        writer.merge()
    return target


def litdata(o, folder):
    """Rows do not overlap. They become int64 in the loop, which is fastest."""
    from litdata import StreamingDataLoader, StreamingDataset, TokensLoader

    dataset = StreamingDataset(str(chunks(folder)), item_loader=TokensLoader(block_size=LENGTH + 1), shuffle=o.shuffle, seed=1)
    batches = StreamingDataLoader(dataset, batch_size=o.batch, num_workers=o.workers, persistent_workers=True)
    return lambda number: ((rows.to(torch.int64),) for rows in itertools.islice(batches, o.samples // o.batch))


def megatron(o, folder):
    """GPTDataset with its defaults, but without an attention mask. It builds its index once per process."""
    from megatron.core.datasets.gpt_dataset import GPTDataset, GPTDatasetConfig
    from megatron.core.datasets.indexed_dataset import IndexedDataset
    from megatron.core.datasets.utils import Split

    tokenizer = types.SimpleNamespace(eod=-1, pad=-2, vocab_size=50257, unique_identifiers={})
    o.cache = tempfile.TemporaryDirectory()
    config = GPTDatasetConfig(
        random_seed=1234, sequence_length=LENGTH, split="1,0,0", tokenizer=tokenizer, path_to_cache=o.cache.name, reset_position_ids=False,
        reset_attention_mask=False, eod_mask_loss=False, create_attention_mask=False,
    )
    prefix = str(folder / "tokens")
    documents = IndexedDataset(prefix)
    dataset = GPTDataset(documents, prefix, numpy.arange(len(documents), dtype=numpy.int32), o.samples, Split.train, config)
    batches = loader(torch.utils.data.Subset(dataset, range(o.samples)), o, o.shuffle)
    names = ("tokens", "labels", "position_ids", "loss_mask")
    return lambda number: (tuple(b[name] for name in names) for b in batches)


class Documents:
    """The documents as int32, at random."""

    def __init__(self, folder):
        self.begins, self.tokens = index(folder), numpy.memmap(folder / "tokens.bin", dtype=numpy.uint16, mode="r")

    def __len__(self):
        return len(self.begins) - 1

    def __getitem__(self, i):
        return {"tokens": self.tokens[self.begins[i] : self.begins[i + 1]].astype(numpy.int32)}


def grain(o, folder):
    """Documents in random order, joined and cut, as int32 tokens, positions and numbers of segments, in one loop over all epochs."""
    import grain
    from grain import experimental

    documents = grain.MapDataset.source(Documents(folder)).shuffle(seed=1).repeat()
    rows = experimental.ConcatThenSplitIterDataset(documents.to_iter_dataset(), length_struct={"tokens": LENGTH})
    batches = iter(rows.batch(o.batch).mp_prefetch(grain.MultiprocessingOptions(num_workers=o.workers)))

    def epoch(number):
        for b in itertools.islice(batches, o.samples // o.batch):
            yield b["tokens"], b["tokens_positions"], b["tokens_segment_ids"]

    return epoch


if __name__ == "__main__":
    side = sys.argv.pop(1)
    torch.set_num_threads(1)  # workers have the processors
    for package in {"megatron": ["megatron-core"], "litdata": ["litdata"], "grain": ["grain"]}.get(side, []):
        versions[package] = importlib.metadata.version(package)
    if side == "litdata":
        for path in chunks(pathlib.Path(peer.cell().folder)).iterdir():
            if peer.cell().cold:
                with open(path, "rb") as f:
                    os.posix_fadvise(f.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
            else:
                path.read_bytes()
    peer.run({"memmap": memmap, "loop": loop, "megatron": megatron, "litdata": litdata, "grain": grain}[side], versions)
