"""MONAI: LoadImaged with its reader of the format, in its Dataset or CacheDataset, with
its DataLoader, or its ThreadDataLoader with -threads. It keeps no metadata, which makes
it faster.
"""

import sys

import monai
import numpy
import torch
from monai.data import CacheDataset, DataLoader, Dataset, ThreadDataLoader
from monai.transforms import Compose, EnsureChannelFirstd, LoadImaged

import peer
import works

THREADS = "-threads" in sys.argv
if THREADS:
    sys.argv.remove("-threads")


def make(o, found):
    torch.set_num_threads(1)  # workers have the processors
    monai.data.set_track_meta(False)
    if o.work == "npy-cached":
        keys = ("image",)
        found = [{"image": path} for path in found]
        steps = [LoadImaged(keys, reader="NumpyReader")]
    else:
        keys = works.VOLUMES
        steps = [
            LoadImaged(keys[:2], reader="NrrdReader"),
            LoadImaged(keys[2:], reader="NrrdReader", dtype=numpy.uint8),
            EnsureChannelFirstd(keys, channel_dim="no_channel"),
        ]
    if o.work == "nrrd":
        dataset = Dataset(found, Compose(steps))
    else:
        dataset = CacheDataset(found, Compose(steps), progress=False)
    repeated = torch.utils.data.Subset(dataset, [i % len(found) for i in range(o.samples)])
    if THREADS:
        loader = ThreadDataLoader(
            repeated, batch_size=o.batch, num_workers=o.workers, use_thread_workers=o.workers > 0
        )
    else:
        loader = DataLoader(
            repeated, batch_size=o.batch, num_workers=o.workers, persistent_workers=o.workers > 0
        )

    def epoch(number):
        for batch in loader:
            yield tuple(batch[key] for key in keys)

    return epoch


if __name__ == "__main__":
    peer.run(make, {"monai": monai.__version__, "torch": torch.__version__})
