"""Makes audio.json: what transformers' audio_utils and torchaudio make of waveforms.

    pip install torch==2.15.0 torchaudio==2.11.0 transformers==5.23.0
    python audio.py

The waveforms are those of ../../presets/testdata/extractors.py. For every row there are the shape, the sum of the values, and about 100 of
them; rows of transformers also have the first 16 digits of the SHA-256 of all as float32. "most" is the greatest magnitude of a value.
"""
import hashlib
import json
import pathlib
import re

import numpy as np
import torch
import torchaudio
from transformers.audio_utils import mel_filter_bank, spectrogram, window_function

here = pathlib.Path(__file__).parent
exec(re.search(r"def wave.*?32768\)\n", (here / "../../presets/testdata/extractors.py").read_text(), re.S)[0])

rows = []


def add(kind, options, n, y, exact):
    y = np.ascontiguousarray(np.asarray(y), "<f4")
    assert np.isfinite(y).all(), (kind, options)
    step = max(y.size // 100, 1)
    row = dict(kind=kind, options=options, samples=n, shape=y.shape, sum=float(y.astype(np.float64).sum()), most=float(np.abs(y).max()),
               step=step, values=[float(v) for v in y.ravel()[::step]])
    if exact:
        row["hash"] = hashlib.sha256(y.tobytes()).hexdigest()[:16]
    rows.append(row)
    print(kind, options, y.shape, row["most"])


# transformers: the names are those of the fields of Spectrogram.
for o, n in [
    (dict(frame=400, hop=160), 5000),
    (dict(frame=405, hop=100, window="hamming"), 5000),
    (dict(frame=441, hop=200, window="boxcar", magnitude=True), 5000),
    (dict(frame=254, hop=64, edge="constant"), 4000),
    (dict(frame=22, hop=11, edge="none"), 700),
    (dict(frame=1000, hop=250, fft=1024, window="povey", symmetric=True), 9000),
    (dict(frame=2048, hop=512, mels=128, scale="slaney", area=True, high=11025.0, rate=22050, log="dB", floor=1e-10), 30000),
    (dict(frame=1024, hop=320, mels=64, scale="htk", low=50.0, high=8000.0, rate=16000, log="log10", floor=1e-5, magnitude=True), 16000),
    (dict(frame=512, hop=128, mels=40, scale="kaldi", straight=True, low=20.0, high=4000.0, rate=8000, log="log", floor=1e-7, dc=True,
          preemphasis=0.9), 16000),
    (dict(frame=400, hop=160), 150),
    (dict(frame=400, hop=160), 1),
]:
    o = dict(o, rate=o.get("rate", 16000))
    fft, mels = o.get("fft", o["frame"]), None
    if "mels" in o:
        mels = mel_filter_bank(fft // 2 + 1, o["mels"], o.get("low", 0.0), o["high"], o["rate"], "slaney" if o.get("area") else None,
                               o["scale"], o.get("straight", False))
    edge = o.get("edge", "reflect")
    y = spectrogram(wave(n, n), window_function(o["frame"], o.get("window", "hann"), not o.get("symmetric")), o["frame"], o["hop"], fft,
                    power=1.0 if o.get("magnitude") else 2.0, center=edge != "none", pad_mode=edge if edge != "none" else "reflect",
                    preemphasis=o.get("preemphasis"), mel_filters=mels, mel_floor=o.get("floor", 1e-10), log_mel=o.get("log"),
                    remove_dc_offset=o.get("dc", False))
    add("spectrogram", o, n, y, True)

for a, b, n in [(44100, 16000, 20000), (16000, 44100, 5000), (48000, 16000, 12001), (8000, 16000, 4001), (16000, 8000, 3), (22050, 16000, 7777),
                (16000, 16001, 500), (44100, 48000, 9999), (11025, 16000, 1)]:
    add("resample", {"from": a, "to": b}, n, torchaudio.transforms.Resample(a, b)(torch.from_numpy(wave(n, n))), False)
for factor in [0.9, 1.1]:
    add("speed", {"factor": factor}, 16000, torchaudio.transforms.Speed(16000, factor)(torch.from_numpy(wave(16000, 16000)))[0], False)
x = torch.from_numpy(wave(16000, 16000))
add("mel", {}, 16000, torchaudio.transforms.MelSpectrogram(16000)(x), False)
add("db", {}, 16000, torchaudio.transforms.AmplitudeToDB("power", 80)(torchaudio.transforms.MelSpectrogram(16000)(x)), False)
add("mfcc", {}, 16000, torchaudio.transforms.MFCC(16000)(x), False)
add("fbank", {}, 16000, torchaudio.compliance.kaldi.fbank(x[None] * 32768, num_mel_bins=80), False)
(here / "audio.json").write_text(json.dumps(rows, separators=(",", ":")).replace("},{\"kind", "},\n{\"kind") + "\n")
