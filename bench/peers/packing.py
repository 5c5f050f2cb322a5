"""What TRL and Grain pack of the first 20,000 documents of tokens.idx, as BenchmarkPacking does: the share of padding, and of rows that
follow each other, how the numbers of their first documents correlate, and how their lengths.

    pip install trl==1.16.0 transformers==5.23.0 datasets pyarrow grain==0.2.18 torch
    python packing.py FOLDER
"""

import pathlib
import sys

import numpy

from tokens import LENGTH, index

begins = index(pathlib.Path(sys.argv[1]))[:20_001]
lengths = numpy.diff(begins)


def report(name, firsts, rows):
    def r(values):
        values = numpy.asarray(values, float) - numpy.mean(values)
        return (values[1:] * values[:-1]).sum() / (values**2).sum()

    share = 1 - lengths.sum() / (LENGTH * rows)
    print(f"{name:45} padding {100 * share:.2f} %, r of documents {r(firsts):+.3f}, r of lengths {r(lengths[firsts]):+.3f}", flush=True)


def trl(order, shuffled):
    """Best fit decreasing over all documents; then Trainer shuffles the rows."""
    import pyarrow
    from trl.data_utils import _pack_bfd

    table = pyarrow.table({"input_ids": [numpy.full(lengths[i], i, numpy.int32) for i in order]})
    rows = _pack_bfd(table, LENGTH, "split").column("input_ids")
    firsts = numpy.array([row[0].as_py() for row in rows])
    report("TRL, bfd", firsts[shuffled.permutation(len(firsts))], len(firsts))


class Documents:
    def __len__(self):
        return len(lengths)

    def __getitem__(self, i):
        return numpy.full(lengths[i], i, numpy.int32)


def pieces(document):
    """Grain drops what a row has no room for, so longer documents are split before."""
    return [{"tokens": document[k : k + LENGTH]} for k in range(0, len(document), LENGTH)]


def grain(name, **options):
    import grain
    from grain import experimental

    class Split(experimental.FlatMapTransform):
        max_fan_out = 100

        def flat_map(self, document):
            return pieces(document)

    documents = experimental.FlatMapIterDataset(grain.MapDataset.source(Documents()).shuffle(seed=1).to_iter_dataset(), Split())
    packed = getattr(experimental, name)(documents, length_struct={"tokens": LENGTH}, **options)
    firsts = [int(row["tokens"][0]) for row in packed]
    report(f"Grain, {name}, {options}", numpy.array(firsts), len(firsts))


if __name__ == "__main__":
    random = numpy.random.default_rng(1)
    trl(random.permutation(len(lengths)), random)
    for bins in (64, 1000):
        for name in ("FirstFitPackIterDataset", "BestFitPackIterDataset"):
            grain(name, num_packing_bins=bins)
