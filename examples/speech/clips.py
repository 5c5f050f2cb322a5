"""Makes the folder clips: small files of synthetic sounds that resemble speech. Nobody was recorded.

    pip install numpy==2.4.6 soundfile==0.14.0
    python clips.py

A voice is a train of pulses, or noise for a hiss, which three resonators form to vowels that glide into each other: the
frequencies of the resonators are those of Peterson and Barney's vowels, roughly. A class is a "word" of these sounds. The
files differ in voice, length, rate, channels and format; low/5.flac ends too early on purpose.
"""
import pathlib
import shutil

import numpy as np
import soundfile

here = pathlib.Path(__file__).parent / "clips"
random = np.random.default_rng(34)

# The frequencies of three resonators in hertz. "s" is a hiss.
VOWELS = {"a": (730, 1090, 2440), "i": (270, 2290, 3010), "u": (300, 870, 2240), "o": (570, 840, 2410), "e": (530, 1840, 2480)}
WORDS = {"aia": "aia", "sue": "sue", "low": "ou"}


def word(sounds, pitch, seconds, rate):
    n, x = int(seconds * rate), 0
    at = np.linspace(0, len(sounds) - 1, n)
    hiss = np.interp(at, range(len(sounds)), [s == "s" for s in sounds])
    melody = pitch * (1.1 - 0.25 * np.arange(n) / n)
    turns = np.cumsum(melody) / rate
    source = (1 - hiss) * np.diff(np.floor(turns), prepend=0) + 0.1 * hiss * random.standard_normal(n)
    for k, width in enumerate((80, 100, 140)):
        f = np.interp(at, range(len(sounds)), [VOWELS.get(s, (3000, 3400, 3700))[k] for s in sounds])
        f = np.minimum(f, 0.45 * rate)
        r = np.exp(-np.pi * width / rate)
        y = np.zeros(n + 2)
        for i in range(n):  # a resonator whose frequency changes
            y[i + 2] = source[i] + 2 * r * np.cos(2 * np.pi * f[i] / rate) * y[i + 1] - r * r * y[i]
        x = x + y[2:] * (1 - r) / (k + 1)
    x *= np.minimum(1, np.minimum(np.arange(n), n - np.arange(n)) / (0.04 * rate))  # fades
    return 0.6 * x / np.abs(x).max()


def write(path, pitch, seconds, rate, channels=1, subtype="PCM_16"):
    path = here / path
    path.parent.mkdir(parents=True, exist_ok=True)
    x = word(WORDS[path.parent.name], pitch, seconds, rate)
    if channels == 2:  # the voice is at the left
        x = np.stack([x, 0.5 * x], axis=1)
    soundfile.write(path, x, rate, subtype=subtype)


shutil.rmtree(here, ignore_errors=True)
for name in WORDS:
    write(f"{name}/1.flac", 110, 0.6, 16000)
    write(f"{name}/2.wav", 210, 0.5, 8000, subtype="ALAW")
    write(f"{name}/3.wav", 150, 0.6, 8000, subtype="ULAW")  # A-law and µ-law are what telephones send
    write(f"{name}/4.flac", 180, 0.22, 22050, channels=2)
write("low/5.flac", 130, 0.2, 16000)
broken = here / "low/5.flac"
broken.write_bytes(broken.read_bytes()[:-1000])
