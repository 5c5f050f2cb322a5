"""Writes robot, a small dataset by LeRobot's own writer, and items.json: what LeRobotDataset makes of it.

    pip install lerobot==0.4.4 torchcodec==0.17.0 torch==2.15.0    and ffmpeg in PATH, of a version that torchcodec loads
    python make.py
"""
import hashlib
import importlib.metadata
import json
import os
import shutil
import subprocess

import numpy as np
import torch
from lerobot.datasets.lerobot_dataset import LeRobotDataset

here = os.path.dirname(os.path.abspath(__file__))
root = os.path.join(here, "robot")
shutil.rmtree(root, ignore_errors=True)
names = ["height", "width", "channels"]
features = {
    "observation.images.top": {"dtype": "video", "shape": (48, 64, 3), "names": names},
    "observation.images.wrist": {"dtype": "video", "shape": (32, 40, 3), "names": names},
    "observation.images.still": {"dtype": "image", "shape": (8, 12, 3), "names": names},
    "observation.state": {"dtype": "float32", "shape": (4,), "names": None},
    "action": {"dtype": "float32", "shape": (2,), "names": None},
    "next.reward": {"dtype": "float32", "shape": (1,), "names": None},
    "next.done": {"dtype": "bool", "shape": (1,), "names": None},
    "pose": {"dtype": "float64", "shape": (2, 3), "names": None},
    "note": {"dtype": "string", "shape": (1,), "names": None},
}


def image(h, w, k):
    y, x = np.mgrid[:h, :w]
    return np.stack([(4 * x + 9 * k) % 256, (5 * y + 17 * k) % 256, (x // 8 + y // 8 + k) % 2 * 200], -1).astype(np.uint8)


ds = LeRobotDataset.create("penstock/robot", fps=10, features=features, root=root, vcodec="h264")
# In megabytes: the second episode fits into the file of the first, and the third does not.
ds.meta.info["video_files_size_in_mb"] = 0.0093
ds.meta.info["data_files_size_in_mb"] = 0.008
random = np.random.default_rng(0)
for episode, length in enumerate([12, 9, 15]):
    for k in range(length):
        n = 100 * episode + k
        ds.add_frame({
            "observation.images.top": image(48, 64, n), "observation.images.wrist": image(32, 40, 3 * n + 1), "observation.images.still": image(8, 12, n),
            "observation.state": random.standard_normal(4).astype(np.float32), "action": random.standard_normal(2).astype(np.float32),
            "next.reward": np.array([k / 7], np.float32), "next.done": np.array([k == length - 1]), "pose": random.standard_normal((2, 3)),
            "note": f"frame {n}", "task": ["pick", "place the cube"][episode % 2],
        })
    ds.save_episode()
ds.finalize()
shutil.rmtree(os.path.join(root, "images"), ignore_errors=True)
# What writers put here in earlier versions, and what only shortens the file.
info = json.load(open(os.path.join(root, "meta/info.json")))
info["video_files_size_in_mb"], info["data_files_size_in_mb"] = 200, 100
with open(os.path.join(root, "meta/info.json"), "w") as f:
    json.dump(info, f, indent=1)
    f.write("\n")


def value(key, v):
    if isinstance(v, str):
        return v
    if key in features and "images" in key:
        v = v.reshape(-1, *v.shape[-3:])
        return [hashlib.sha256((255 * x).round().to(torch.uint8).permute(1, 2, 0).contiguous().numpy().tobytes()).hexdigest()[:16] for x in v]
    return v.tolist()


cases = [
    ({}, None, [0, 20, 21]),
    ({"observation.images.top": [-0.3, 0, 0.1], "action": [0, 0.1, 0.2, 0.3], "next.reward": [-0.1]}, None, [0, 1, 11, 12, 19, 20, 21, 35]),
    ({"observation.images.wrist": [-0.5, 0, -0.5, 2], "observation.images.still": [0.1, 0, -0.1], "pose": [-1, 0]}, [2, 1], [0, 8, 9, 15, 23]),
    ({"observation.state": [-0.20004, 0.09996]}, [2], [0, 7]),
]
golden = {
    "FFmpeg": subprocess.run(["ffmpeg", "-version"], capture_output=True, text=True).stdout.split()[2].split("-")[0],
    "LeRobot": importlib.metadata.version("lerobot"), "Cases": [],
}
for deltas, episodes, indices in cases:
    ds = LeRobotDataset("penstock/robot", root=root, delta_timestamps=deltas or None, episodes=episodes, video_backend="torchcodec")
    golden["Cases"].append({
        "Deltas": deltas, "Episodes": episodes, "Len": len(ds),
        "Items": {i: {k: value(k, v) for k, v in ds[i].items()} for i in indices},
    })
with open(os.path.join(here, "items.json"), "w") as f:
    json.dump(golden, f, separators=(",", ":"))
    f.write("\n")
