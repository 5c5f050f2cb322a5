"""Makes compressed.zip, small files of what FFmpeg decodes, and compressed.json, what torchcodec makes of them and of the
files of sounds.zip, with the same FFmpeg.

    pip install torchcodec==0.17.0 torch==2.15.0 numpy==2.4.6    and ffmpeg with its encoders in PATH
    python compressed.py

For every file there are the rate, the channels, the frames, the first 16 digits of the SHA-256 of all values as
little-endian float32, a value per channel side by side, and every stride-th value. "sounds" are the same digits for
files of sounds.zip; those of which torchcodec has fewer or other frames are printed, and left out.
"""
import hashlib
import json
import pathlib
import subprocess
import tempfile
import zipfile

import numpy as np
import torchcodec
from torchcodec.decoders import AudioDecoder

here = pathlib.Path(__file__).parent
SOURCE = "aevalsrc=0.4*sin(2*PI*(300+400*t)*t)*abs(sin(9*t))|0.3*sin(2*PI*(500+100*t)*t):s={}:d={}"
kinds = {
    "44100-2.mp3": (44100, 0.3, ["-c:a", "libmp3lame", "-b:a", "64k"]),
    "16000-1.mp3": (16000, 0.4, ["-c:a", "libmp3lame", "-q:a", "6", "-ac", "1"]),
    "no-length.mp3": (48000, 0.25, ["-c:a", "libmp3lame", "-b:a", "48k", "-write_xing", "0", "-id3v2_version", "0"]),
    "tag.mp3": (22050, 0.3, ["-c:a", "libmp3lame", "-b:a", "24k", "-id3v2_version", "3", "-write_id3v1", "1", "-metadata", "title=A chirp"]),
    "44100-2.ogg": (44100, 0.3, ["-c:a", "libvorbis", "-q:a", "1"]),
    "8000-1.ogg": (8000, 0.4, ["-c:a", "libvorbis", "-q:a", "1", "-ac", "1"]),
    "speech.opus": (48000, 0.45, ["-c:a", "libopus", "-b:a", "16k", "-ac", "1", "-application", "voip"]),
    "60ms.opus": (48000, 0.4, ["-c:a", "libopus", "-b:a", "48k", "-frame_duration", "60"]),
    "aac.m4a": (44100, 0.3, ["-c:a", "aac", "-b:a", "64k"]),
    "aac-faststart.m4a": (48000, 0.3, ["-c:a", "aac", "-b:a", "48k", "-ac", "1", "-movflags", "+faststart"]),
    "adts.aac": (22050, 0.3, ["-c:a", "aac", "-b:a", "32k", "-ac", "1"]),
    "opus.webm": (48000, 0.3, ["-c:a", "libopus", "-b:a", "32k"]),
    "vorbis.webm": (44100, 0.3, ["-c:a", "libvorbis", "-q:a", "1"]),
    "alac.m4a": (16000, 0.2, ["-c:a", "alac", "-sample_fmt", "s16p", "-ac", "1"]),
    "flac.oga": (16000, 0.2, ["-c:a", "flac", "-sample_fmt", "s16", "-ac", "1", "-f", "ogg"]),
    "mp3.wav": (44100, 0.3, ["-c:a", "libmp3lame", "-b:a", "64k", "-f", "wav"]),
    "pcm.aiff": (8000, 0.1, ["-c:a", "pcm_s16be", "-ac", "1"]),
}


def decoded(path):
    samples = AudioDecoder(str(path)).get_all_samples()
    return samples.sample_rate, np.ascontiguousarray(samples.data.numpy().T, "<f4")


def digest(x):
    return hashlib.sha256(x.tobytes()).hexdigest()[:16]


version = subprocess.run(["ffmpeg", "-version"], capture_output=True, text=True).stdout.split()[2].split("-")[0]
files, expected, sounds = {}, {}, []
with tempfile.TemporaryDirectory() as folder:
    folder = pathlib.Path(folder)
    for name, (rate, seconds, args) in kinds.items():
        path = folder / name
        subprocess.run(["ffmpeg", "-nostdin", "-v", "error", "-f", "lavfi", "-i", SOURCE.format(rate, seconds), "-bitexact", *args, str(path)], check=True)
        files[name] = path.read_bytes()
        rate, x = decoded(path)
        stride = x.size // 40 | 1
        expected[name] = dict(rate=rate, channels=x.shape[1], frames=x.shape[0], sha256=digest(x), stride=stride, values=[float(v) for v in x.ravel()[::stride]])
    kept = json.loads((here / "sounds.json").read_text())["files"]
    with zipfile.ZipFile(here / "sounds.zip") as z:
        for name in sorted(z.namelist()):
            path = folder / ("sound." + name.rsplit(".")[-1])
            path.write_bytes(z.read(name))
            try:
                rate, x = decoded(path)
            except Exception as e:
                print(f"{name}: {str(e).splitlines()[0][:200]}")
                continue
            if (rate, x.shape[0], digest(x)) == (kept[name]["rate"], kept[name]["frames"], kept[name]["sha256"]):
                sounds.append(name)
            else:
                print(f"{name}: {x.shape} at {rate} Hz, not {kept[name]}")
with zipfile.ZipFile(here / "compressed.zip", "w", zipfile.ZIP_STORED) as z:
    for name, data in sorted(files.items()):
        z.writestr(zipfile.ZipInfo(name), data)
lines = ",\n".join(f"  {json.dumps(name)}: {json.dumps(e)}" for name, e in sorted(expected.items()))
(here / "compressed.json").write_text(f'{{"FFmpeg": {json.dumps(version)}, "torchcodec": {json.dumps(torchcodec.__version__)},\n "sounds": {json.dumps(sounds)},\n "files": {{\n{lines}\n}}}}\n')
print(len(files), "files,", sum(map(len, files.values())), "bytes, and", len(sounds), "of sounds.zip")
