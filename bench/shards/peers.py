"""The sides of bench/shards in Python. `peers.py pack SIDE DIR` writes the photos of the tar shards in DIR
in the format of a side; `peers.py SIDE ENDPOINT SCRATCH WORKERS EPOCHS SHARDS` measures one and prints a
line of JSON per epoch."""

import io
import json
import os
import resource
import sys
import tempfile
import time
import urllib.request

BUCKET = "bench"
BATCH = 32
BUFFER = 256  # samples of the shuffle buffers of those that have one
SHARD = 8 << 20  # bytes

# Credentials that any server accepts which does not check them.
os.environ |= {"AWS_ACCESS_KEY_ID": "bench", "AWS_SECRET_ACCESS_KEY": "bench", "AWS_DEFAULT_REGION": "us-east-1",
               "HF_HUB_OFFLINE": "1", "HF_HUB_DISABLE_TELEMETRY": "1", "HF_DATASETS_DISABLE_PROGRESS_BARS": "1",
               "LITDATA_DISABLE_VERSION_CHECK": "1"}


import torch
from PIL import Image
from torchvision import transforms

prepare = transforms.Compose([transforms.Resize(256), transforms.CenterCrop(224), transforms.ToTensor(),
                              transforms.Normalize([0.485, 0.456, 0.406], [0.229, 0.224, 0.225])])


def pixels(data):
    return prepare(Image.open(io.BytesIO(data)).convert("RGB"))


def photos(web):
    """Bytes and label of every photo, in the order of the tar shards."""
    import webdataset
    names = sorted(os.path.join(web, n) for n in os.listdir(web) if n.endswith(".tar"))
    for sample in webdataset.WebDataset(names, shardshuffle=False, empty_check=False):
        yield {"image": sample["jpg"], "label": int(sample["cls"])}


def photos_in(given):
    yield from photos(given["web"])


def pack_streaming(web):
    from streaming import MDSWriter
    with MDSWriter(columns={"image": "bytes", "label": "int"}, out=os.path.join(web, "mds"), size_limit=SHARD) as w:
        for sample in photos(web):
            w.write(sample)


def pack_litdata(web):
    # It empties two folders, by default "chunks" and "data" among the temporary files, whoever made them.
    with tempfile.TemporaryDirectory() as own:
        os.environ["DATA_OPTIMIZER_CACHE_FOLDER"] = os.path.join(own, "chunks")
        os.environ["DATA_OPTIMIZER_DATA_CACHE_FOLDER"] = os.path.join(own, "data")
        import litdata
        litdata.optimize(photos_in, [{"web": web}], os.path.join(web, "litdata"), chunk_bytes=SHARD, num_workers=1, start_method="fork")


def pack_datasets(web):
    import datasets
    features = datasets.Features({"image": datasets.Image(), "label": datasets.Value("int64")})
    rows = [{"image": {"bytes": s["image"], "path": None}, "label": s["label"]} for s in photos(web)]
    all_photos = datasets.Dataset.from_list(rows, features=features)
    shards = len([n for n in os.listdir(web) if n.endswith(".tar")])
    os.makedirs(os.path.join(web, "parquet"))
    for k in range(shards):
        all_photos.shard(shards, k, contiguous=True).to_parquet(os.path.join(web, "parquet", f"train-{k:04}.parquet"))


def over_http(endpoint, folder, ending, shards):
    return [f"{endpoint}/{BUCKET}/{folder}train-{k:04}.{ending}" for k in range(shards)]


def webdataset_loader(endpoint, scratch, workers, shards):
    """Shards are kept on the disk (cache_dir), batches are made in the workers."""
    import webdataset
    cache = os.path.join(scratch, "cache")
    os.makedirs(cache)
    ds = webdataset.WebDataset(over_http(endpoint, "", "tar", shards), shardshuffle=shards, cache_dir=cache)
    ds = ds.shuffle(BUFFER).to_tuple("jpg", "cls").map_tuple(pixels, int).batched(BATCH)
    return torch.utils.data.DataLoader(ds, batch_size=None, num_workers=workers, persistent_workers=True)


def streaming_loader(endpoint, scratch, workers, shards):
    """From S3; shards are kept on the disk."""
    os.environ["S3_ENDPOINT_URL"] = endpoint
    from streaming import StreamingDataset

    class Photos(StreamingDataset):
        def __getitem__(self, i):
            sample = super().__getitem__(i)
            return pixels(sample["image"]), sample["label"]

    ds = Photos(remote=f"s3://{BUCKET}/mds", local=os.path.join(scratch, "local"), shuffle=True, batch_size=BATCH, num_canonical_nodes=1, predownload=8 * BATCH)
    for stream in ds.streams:
        stream._downloader.clean_up()  # or forked workers read each other's responses from the connection of the index
    return torch.utils.data.DataLoader(ds, batch_size=BATCH, num_workers=workers, persistent_workers=True)


def litdata_loader(endpoint, scratch, workers, shards):
    """From S3; chunks are kept on the disk. Its fast client, obstore, refuses plain HTTP unless it is told, and
    litdata has no setting for that."""
    import litdata
    from litdata.streaming import downloader
    downloader._OBSTORE_CLIENT_OPTIONS["allow_http"] = True

    class Photos(litdata.StreamingDataset):
        def __getitem__(self, i):
            sample = super().__getitem__(i)
            return pixels(sample["image"]), sample["label"]

    ds = Photos(f"s3://{BUCKET}/litdata", cache_dir=os.path.join(scratch, "cache"), shuffle=True, drop_last=False, max_pre_download=10,
                storage_options={"endpoint_url": endpoint, "aws_access_key_id": "bench", "aws_secret_access_key": "bench", "region_name": "us-east-1"})
    return litdata.StreamingDataLoader(ds, batch_size=BATCH, num_workers=workers, persistent_workers=True)


class Collate:
    """Makes a batch of samples whose photos datasets has opened."""

    def __init__(self, image, label):
        self.image, self.label = image, label

    def __call__(self, samples):
        return (torch.stack([prepare(s[self.image].convert("RGB")) for s in samples]), torch.tensor([int(s[self.label]) for s in samples]))


def datasets_tar_loader(endpoint, scratch, workers, shards):
    """Tar shards as they stream; nothing is kept on the disk."""
    return datasets_loader("webdataset", over_http(endpoint, "", "tar", shards), Collate("jpg", "cls"), scratch, workers)


def datasets_parquet_loader(endpoint, scratch, workers, shards):
    """Parquet files as they stream, with the documented prefetching; nothing is kept on the disk."""
    import pyarrow
    import pyarrow.dataset
    prefetching = pyarrow.dataset.ParquetFragmentScanOptions(cache_options=pyarrow.CacheOptions(prefetch_limit=1, range_size_limit=128 << 20))
    return datasets_loader("parquet", over_http(endpoint, "parquet/", "parquet", shards), Collate("image", "label"), scratch, workers,
                           fragment_scan_options=prefetching)


def datasets_loader(kind, urls, collate, scratch, workers, **settings):
    import datasets
    ds = datasets.load_dataset(kind, data_files={"train": urls}, split="train", streaming=True, cache_dir=os.path.join(scratch, "cache"), **settings)
    return torch.utils.data.DataLoader(ds.shuffle(seed=1, buffer_size=BUFFER, max_buffer_input_shards=1), batch_size=BATCH, num_workers=workers, collate_fn=collate, persistent_workers=True)


def cpu():
    """User and system time of this process and of all its descendants, also of those that have ended."""
    tick, of, parents = os.sysconf("SC_CLK_TCK"), {}, {}
    for pid in map(int, filter(str.isdigit, os.listdir("/proc"))):
        try:
            fields = open(f"/proc/{pid}/stat").read().rpartition(")")[2].split()
        except OSError:
            continue
        parents[pid], of[pid] = int(fields[1]), sum(map(int, fields[11:15])) / tick
    def own(pid):
        while pid not in (0, os.getpid()):
            pid = parents.get(pid, 0)
        return pid
    return sum(seconds for pid, seconds in of.items() if own(pid))


def measure(make, endpoint, scratch, workers, epochs, shards):
    torch.set_num_threads(1)
    loader = make(endpoint, scratch, workers, shards)
    for epoch in range(epochs):
        begin, before, images = time.time(), cpu(), 0
        if hasattr(loader.dataset, "set_epoch"):
            loader.dataset.set_epoch(epoch)
        for x, y in loader:
            images += len(x)
        found = {"Epoch": epoch, "Images": images, "Seconds": time.time() - begin, "CPU": cpu() - before}
        with urllib.request.urlopen(endpoint + "/counts") as counts:
            print(json.dumps(found | json.load(counts)), flush=True)


PACK = {"streaming": pack_streaming, "litdata": pack_litdata, "datasets": pack_datasets}
SIDES = {"webdataset": webdataset_loader, "streaming": streaming_loader, "litdata": litdata_loader,
         "datasets tar": datasets_tar_loader, "datasets parquet": datasets_parquet_loader}

if __name__ == "__main__":
    if sys.argv[1] == "pack":
        PACK[sys.argv[2]](sys.argv[3])
    else:
        measure(SIDES[sys.argv[1]], sys.argv[2], sys.argv[3], *map(int, sys.argv[4:7]))
