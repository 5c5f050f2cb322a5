"""Reads batches of a data service as PyTorch tensors. It needs torch, safetensors and
requests, and nothing of penstock.

    python torch_reader.py http://replica-0:8080,http://replica-1:8080 [epochs [workers]]

A batch is a function of its number, so any replica may be asked for it, again and again."""

import hashlib
import itertools
import json
import os
import sys
import time

import requests
import safetensors.torch
import torch.utils.data


class Service(torch.utils.data.IterableDataset):
    """The batches of a rank, with the number of samples left out. Set epoch before each loop."""

    def __init__(self, replicas, rank=0, world=1):
        self.replicas, self.share, self.epoch = replicas, f"{rank}-{world}", 0
        self.plan = get(requests, replicas, "/v1/plan").json()["plan"]  # the same for all workers and epochs

    def __iter__(self):
        session, worker = requests.Session(), torch.utils.data.get_worker_info()
        path = f"/v1/{self.plan}/{self.epoch}/{self.share}"
        batches = range(get(session, self.replicas, path).json()["batches"])
        for number in batches[worker.id :: worker.num_workers] if worker else batches:
            content = get(session, self.replicas, f"{path}/{number}").content
            header = json.loads(content[8 : 8 + int.from_bytes(content[:8], "little")])
            yield safetensors.torch.load(content), int(header["__metadata__"]["dropped"])


def get(session, replicas, path, patience=120):
    """Asks one replica after the other until one answers."""
    token = os.environ.get("PENSTOCK_TOKEN", "").strip()
    headers = {"Authorization": "Bearer " + token} if token else {}
    begun = time.monotonic()
    for replica in itertools.cycle(replicas):
        try:
            response = session.get(replica + path, headers=headers, timeout=(5, 60))
            if response.status_code == 200:
                return response
            problem = RuntimeError(f"{replica}: {response.status_code} {response.text}")
            if response.status_code not in (409, 429, 502, 503, 504):  # 409: another plan than other replicas
                raise problem
        except (requests.ConnectionError, requests.Timeout, requests.exceptions.ChunkedEncodingError) as e:
            problem = e
        if time.monotonic() - begun > patience:
            raise problem
        time.sleep(0.05)


def main(replicas, epochs=1, workers=0):
    digest, batches, samples, left_out = hashlib.sha256(), 0, 0, 0
    service = Service(replicas.split(","))
    for service.epoch in range(int(epochs)):
        for batch, dropped in torch.utils.data.DataLoader(service, batch_size=None, num_workers=int(workers)):
            left_out += dropped
            if len(batch["indices"]) == 0:
                continue  # all its images were left out
            for name in ("indices", "label", "image"):
                digest.update(batch[name].numpy().tobytes())
            batches += 1
            samples += len(batch["indices"])
    print(f"{batches} batches, {samples} images, {left_out} left out, sha256 {digest.hexdigest()}")


if __name__ == "__main__":
    if not 2 <= len(sys.argv) <= 4 or sys.argv[1].startswith("-"):
        sys.exit(__doc__)
    main(*sys.argv[1:])
