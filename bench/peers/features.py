"""Whisper's features of 30 seconds of sound, in milliseconds of processor time per clip on one thread: transformers' NumPy and torch
code, torchaudio if it is installed, and penstock's benchmark, in turns.

    python features.py            # in bench/peers, with Go, torch and transformers
"""

import os
import pathlib
import resource
import statistics
import subprocess
import time

os.environ.update(OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1", MKL_NUM_THREADS="1")
import numpy as np
import torch
import transformers
from transformers.models.whisper import feature_extraction_whisper

torch.set_num_threads(1)
root = pathlib.Path(__file__).parent / "../.."
rng = np.random.default_rng(1)
x = (rng.standard_normal(480000) / 10).astype(np.float32)
whisper = transformers.WhisperFeatureExtractor()
sides = {}


def numpy_code():
    feature_extraction_whisper.is_torch_available = lambda: False
    return whisper(x, sampling_rate=16000)


def torch_code():
    feature_extraction_whisper.is_torch_available = lambda: True
    return whisper(x, sampling_rate=16000)


sides["transformers, NumPy"], sides["transformers, torch"] = numpy_code, torch_code
try:
    import torchaudio

    mel = torchaudio.transforms.MelSpectrogram(16000, n_fft=400, hop_length=160, n_mels=80, norm="slaney", mel_scale="slaney")
    wave = torch.from_numpy(x)

    def torchaudio_code():
        y = torch.clamp(mel(wave)[..., :-1], min=1e-10).log10()
        return (torch.maximum(y, y.max() - 8.0) + 4.0) / 4.0

    sides["torchaudio"] = torchaudio_code
except ImportError:
    pass


def python_side(f, clips):
    f()
    start = time.process_time()
    for _ in range(clips):
        f()
    return 1000 * (time.process_time() - start) / clips


def go_time(kernels, clips):
    env = dict(os.environ, GOMAXPROCS="1", PENSTOCK_KERNELS=kernels)
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    subprocess.run([root / "features.test", "-test.run", "^$", "-test.bench", "Whisper30Seconds", "-test.benchtime", f"{clips}x"], env=env,
                   cwd=root / "transform/presets", capture_output=True, check=True)
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before


def go_side(kernels, clips):
    """The start of the process does not count."""
    return 1000 * (go_time(kernels, 10 + clips) - go_time(kernels, 10)) / clips


subprocess.run(["go", "test", "-c", "-o", "features.test", "./transform/presets"], cwd=root, check=True)
try:
    sides["penstock"] = lambda: go_side("", 200)
    sides["penstock, without assembly"] = lambda: go_side("portable", 40)
    rounds = {name: [] for name in sides}
    for _ in range(5):
        for name, f in sides.items():
            rounds[name].append(f() if name.startswith("penstock") else python_side(f, 5))
    for name, times in rounds.items():
        print(f"{name:28} {statistics.median(times):8.2f} ms   ({min(times):.2f} to {max(times):.2f})")
finally:
    (root / "features.test").unlink()
