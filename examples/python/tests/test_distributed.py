"""Kills two processes of DistributedDataParallel in the middle of an epoch. `go test -run Distributed ./examples/python/tests` runs this."""

import hashlib
import json
import os
import pathlib
import signal
import socket
import subprocess
import sys
import tempfile
import time
import unittest
import unittest.mock
import warnings

import numpy
import penstock
import torch
import torchvision
from torch.utils.data import DistributedSampler, SequentialSampler
from torchvision.transforms import v2

WORLD, EPOCHS, STEPS = 2, 3, 20


def dataset():
    ds = torchvision.datasets.CIFAR10.__new__(torchvision.datasets.CIFAR10)
    ds.data = numpy.random.default_rng(1).integers(0, 256, (WORLD * STEPS * 4 - 3, 24, 24, 3), numpy.uint8)
    ds.targets, ds.target_transform = list(range(len(ds.data))), None
    ds.transform = v2.Compose([v2.RandomResizedCrop(16), v2.RandomHorizontalFlip(), v2.ToImage(), v2.ToDtype(torch.float32, scale=True)])
    return ds


def train(folder, pause, last):
    """The training of a process, which waits to be killed after step last. Rank 0 saves all after every step, for both."""
    torch.set_num_threads(1)
    torch.distributed.init_process_group("gloo")
    rank, ds = torch.distributed.get_rank(), dataset()
    torch.manual_seed(0)
    layer = torch.nn.Linear(3 * 16 * 16, len(ds))
    model = torch.nn.parallel.DistributedDataParallel(layer)
    optimizer = torch.optim.SGD(model.parameters(), 0.1, momentum=0.9)
    sampler = DistributedSampler(ds, seed=5)
    loader = penstock.DataLoader(ds, batch_size=4, sampler=sampler, num_workers=2)
    epoch, step, path = 0, 0, folder / "state"
    if path.exists():
        state = torch.load(path)
        model.load_state_dict(state["model"])
        optimizer.load_state_dict(state["optimizer"])
        loader.load_state_dict(state["loader"])
        epoch, step = state["epoch"], state["step"]
    with open(folder / f"log{rank}", "a", buffering=1) as log:
        for epoch in range(epoch, EPOCHS):
            sampler.set_epoch(epoch)
            for image, label in loader:
                loss = torch.nn.functional.cross_entropy(model(image.flatten(1)), label)
                step += 1  # a step that rank 0 has saved is one that all ranks have logged, because backward waits for all
                print(json.dumps([step, epoch, label.tolist(), hashlib.sha256(image.numpy().tobytes()).hexdigest(), loss.item()]), file=log)
                loss.backward()
                optimizer.step()
                optimizer.zero_grad()
                if rank == 0:
                    place = {"loader": loader.state_dict(), "epoch": epoch, "step": step}
                    torch.save({"model": model.state_dict(), "optimizer": optimizer.state_dict(), **place}, folder / "new")
                    os.replace(folder / "new", path)
                time.sleep(pause if step != last else 1000)


def lines(folder, rank):
    """What a process has logged, but for a line that is cut."""
    path = folder / f"log{rank}"
    return [json.loads(line) for line in path.read_text().splitlines(True) if line.endswith("\n")] if path.exists() else []


class Distributed(unittest.TestCase):
    def start(self, folder, pause=0, last=0):
        with socket.socket() as s:
            s.bind(("127.0.0.1", 0))
            port = s.getsockname()[1]
        common = {**os.environ, "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port), "WORLD_SIZE": str(WORLD)}
        command = [sys.executable, __file__, "train", str(folder), str(pause), str(last)]
        started = [subprocess.Popen(command, env={**common, "RANK": str(rank)}, stderr=subprocess.PIPE, text=True) for rank in range(WORLD)]
        for p in started:
            self.addCleanup(p.wait)
            self.addCleanup(p.kill)
        return started

    def finish(self, folder):
        for p in self.start(folder):
            _, err = p.communicate(timeout=300)
            self.assertEqual(p.returncode, 0, err)

    def test_a_training_that_is_killed_goes_on_with_the_same_batches(self):
        with tempfile.TemporaryDirectory() as name:
            whole, killed = pathlib.Path(name) / "whole", pathlib.Path(name) / "killed"
            whole.mkdir(), killed.mkdir()
            self.finish(whole)
            want = [lines(whole, rank) for rank in range(WORLD)]
            self.assertEqual([len(each) for each in want], [EPOCHS * STEPS] * WORLD)
            for at in (7, STEPS + 12):  # in the first and the second epoch
                processes = self.start(killed, 0.1, at + 5)
                end = time.monotonic() + 200
                while not (log := lines(killed, 0)) or log[-1][0] < at:
                    self.assertLess(time.monotonic(), end, [p.poll() for p in processes])
                    time.sleep(0.01)
                for p in processes:
                    p.send_signal(signal.SIGKILL)
                for p in processes:
                    p.communicate()
                step = torch.load(killed / "state")["step"]
                self.assertTrue(at - 1 <= step and step % STEPS, f"killed after step {step}, not in the middle of an epoch")
            self.finish(killed)
            for rank in range(WORLD):
                got = lines(killed, rank)
                for line in got:  # a step whose state was not saved yet is done twice, in the same way
                    self.assertEqual(line, want[rank][line[0] - 1])
                self.assertEqual({line[0] for line in got}, set(range(1, EPOCHS * STEPS + 1)))
            ours, theirs = torch.load(killed / "state")["model"], torch.load(whole / "state")["model"]
            for name in theirs:
                self.assertTrue(torch.equal(ours[name], theirs[name]), name)

    def test_processes_that_would_all_have_all_samples_are_warned(self):
        ds = dataset()
        torch.distributed.init_process_group("gloo", store=torch.distributed.HashStore(), rank=0, world_size=1)
        self.addCleanup(torch.distributed.destroy_process_group)
        two = unittest.mock.patch("torch.distributed.get_world_size", return_value=2)
        with two, self.assertWarnsRegex(UserWarning, r"each of the 2 processes .* pass sampler=DistributedSampler\(dataset\)"):
            next(iter(penstock.DataLoader(ds, shuffle=True)))
        with two, warnings.catch_warnings():
            warnings.simplefilter("error")
            next(iter(penstock.DataLoader(ds, sampler=SequentialSampler(ds))))
            next(iter(penstock.DataLoader(ds, sampler=DistributedSampler(ds, 2, 0))))


if __name__ == "__main__":
    if sys.argv[1:2] == ["train"]:
        train(pathlib.Path(sys.argv[2]), float(sys.argv[3]), int(sys.argv[4]))
    else:
        unittest.main()
