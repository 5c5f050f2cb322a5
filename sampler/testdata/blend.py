"""Makes blend.json: what build_blending_indices of Megatron-LM makes of weights.

    pip install numpy==2.4.6 && pip install --no-deps megatron-core==0.16.1
    python blend.py

The function is compiled C++, and loaded without the rest of the package, which needs
torch. The rule is also stated again in Python, for every k the first maximum of
weight * max(k, 1) - drawn, and compared. Weights are divided by numpy.sum of them
twice: BlendedMegatronDatasetBuilder does it, then BlendedDataset.

Every case has the first 16 digits of the SHA-256 over the int16 indices of the
datasets followed by the int64 indices of the samples, both little-endian, and the
first indices of the datasets.
"""
import hashlib
import importlib.util
import json
import pathlib

import megatron
import numpy as np

library = next(pathlib.Path(list(megatron.__path__)[0]).glob("core/datasets/helpers_cpp*.so"))
spec = importlib.util.spec_from_file_location("helpers_cpp", library)
helpers = importlib.util.module_from_spec(spec)
spec.loader.exec_module(helpers)


def restated(weights, size):
    drawn = np.zeros(len(weights))
    datasets, samples = np.zeros(size, np.int16), np.zeros(size, np.int64)
    for k in range(size):
        i = int(np.argmax(weights * max(float(k), 1.0) - drawn))
        datasets[k], samples[k] = i, drawn[i]
        drawn[i] += 1
    return datasets, samples


def compiled(weights, size):
    datasets, samples = np.zeros(size, np.int16), np.zeros(size, np.int64)
    helpers.build_blending_indices(datasets, samples, weights.tolist(), len(weights), size, False)
    return datasets, samples


cases = {
    "two": ([0.7, 0.3], 5000),
    "equal": ([1.0] * 7, 5000),
    "numbers of samples": ([1e6, 3.0, 250.0, 40001.0], 5000),
    "nine": ([0.1 * (i + 1) for i in range(9)], 5000),
    "one": ([2.5], 100),
    "five, where dividing twice matters": ([1.0, 2.0, 3.0, 1.0, 2.0], 5000),
    "16, where the order of the sum matters": ([i % 3 + 1.0 for i in range(16)], 5000),
    "200, where the order of the sum matters": ([i % 4 * 0.1 + 0.1 for i in range(200)], 5000),
    "300, falling": ([1 / (i + 1) for i in range(300)], 20000),
}
out = []
for name, (given, size) in cases.items():
    weights = np.array(given, np.float64)
    weights = weights / np.sum(weights)
    weights = weights / np.sum(weights)
    datasets, samples = compiled(weights, size)
    for a, b in zip(restated(weights, size), (datasets, samples)):
        assert (a == b).all(), name
    sha = hashlib.sha256(datasets.astype("<i2").tobytes() + samples.astype("<i8").tobytes()).hexdigest()[:16]
    out.append({"name": name, "weights": given, "draws": size, "sha256": sha, "first": datasets[:16].tolist()})
lines = ",\n".join(json.dumps(c) for c in out)
(pathlib.Path(__file__).parent / "blend.json").write_text("[\n" + lines + "\n]\n")
