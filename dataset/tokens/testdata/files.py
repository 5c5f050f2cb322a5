"""Writes the folder files: files of tokens of other libraries, and files.json with what these libraries read from them.

    pip install megatron-core==0.16.1 litdata==0.2.76 torch numpy
    python files.py

llm.c's files are written as its dev/data/data_common.py does, and nanoGPT's as its data/openwebtext/prepare.py does.
"""

import json
import pathlib
import shutil

import numpy
import torch


def text(i):
    return list(range(100 * i, 100 * i + LENGTHS[i]))


LENGTHS = [3, 7, 1, 12, 5, 2, 9]


def document(i):
    return torch.tensor(text(i), dtype=torch.uint16)


def megatron(folder, golden):
    import megatron.core
    from megatron.core.datasets.indexed_dataset import IndexedDataset, IndexedDatasetBuilder

    golden["megatron-core"] = megatron.core.__version__
    for name, dtype, multimodal in (("u2", numpy.uint16, False), ("i4", numpy.int32, False), ("i8", numpy.int64, True)):
        prefix = str(folder / name)
        builder = IndexedDatasetBuilder(prefix + ".bin", dtype=dtype, multimodal=multimodal)
        for i in range(len(LENGTHS)):
            values = torch.tensor(text(i), dtype=torch.int64)
            if name == "i4" and i % 2:  # documents of two sequences
                builder.add_document(values, [LENGTHS[i] - 1, 1])
            else:
                builder.add_document(values, [LENGTHS[i]], [i % 3] if multimodal else None)
        builder.finalize(prefix + ".idx")
        data = IndexedDataset(prefix, multimodal=multimodal)
        sequences = [data[i][0] if multimodal else data[i] for i in range(len(data))]
        golden["documents"][name + ".idx"] = [s.tolist() for s in sequences]


def litdata(folder, golden):
    import litdata
    from litdata import StreamingDataset, TokensLoader
    from litdata.streaming.writer import BinaryWriter

    golden["litdata"] = litdata.__version__
    target = folder / "litdata"
    writer = BinaryWriter(str(target), chunk_size=30, compression=None, item_loader=TokensLoader())
    for i in range(len(LENGTHS)):
        writer[i] = document(i).to(torch.int32)
    writer.done()
    writer.merge()
    golden["documents"]["litdata/index.json"] = [text(i) for i in range(len(LENGTHS))]
    data = StreamingDataset(str(target), item_loader=TokensLoader(block_size=4), shuffle=False)
    golden["rows"] = {"litdata/index.json": [data[i].tolist() for i in range(len(data))]}


def numpies(folder, golden):
    stream = [v for i in range(len(LENGTHS)) for v in text(i)]
    numpy.save(folder / "i8.npy", numpy.array(stream, dtype=numpy.int64))
    numpy.save(folder / "big.npy", numpy.array(stream, dtype=">u2"))
    numpy.array(stream, dtype=numpy.uint16).tofile(folder / "nanogpt.bin")
    for name, magic, version, dtype in (("gpt2.bin", 20240520, 1, numpy.uint16), ("llama3.bin", 20240801, 7, numpy.uint32)):
        header = numpy.zeros(256, dtype=numpy.int32)
        header[:3] = magic, version, len(stream)
        with open(folder / name, "wb") as f:
            f.write(header.tobytes())
            f.write(numpy.array(stream, dtype=dtype).tobytes())
    for name in ("i8.npy", "big.npy", "nanogpt.bin", "gpt2.bin", "llama3.bin"):
        golden["documents"][name] = [stream]


here = pathlib.Path(__file__).parent / "files"
shutil.rmtree(here, ignore_errors=True)
here.mkdir()
golden = {"documents": {}}
numpies(here, golden)
megatron(here, golden)
litdata(here, golden)
(here / "files.json").write_text(json.dumps(golden, separators=(",", ":")).replace('"documents"', '\n"documents"').replace("]],", "]],\n") + "\n")
