"""Writes small videos and frames.json: what torchcodec makes of them, with the same FFmpeg.

    pip install torchcodec==0.17.0 torch==2.15.0    and ffmpeg in PATH
    python frames.py
"""
import hashlib
import json
import os
import subprocess

import torchcodec
from torchcodec.decoders import VideoDecoder

here = os.path.dirname(os.path.abspath(__file__))
X264 = ["-c:v", "libx264", "-bf", "2", "-g", "7", "-crf", "30"]
videos = {
    "sd.mp4": ("testsrc2=s=64x48:r=25:d=0.8", X264 + ["-pix_fmt", "yuv420p"]),
    "hd.mkv": ("testsrc2=s=96x64:r=30000/1001:d=0.7", X264 + ["-pix_fmt", "yuv420p", "-colorspace", "bt709", "-color_primaries", "bt709", "-color_trc", "bt709"]),
    "full.mp4": ("testsrc2=s=64x64:r=10:d=2", X264 + ["-pix_fmt", "yuvj420p", "-color_range", "pc"]),
    "odd.mkv": ("testsrc2=s=66x50:r=25:d=0.5,format=yuv444p,crop=65:49:exact=1", X264 + ["-pix_fmt", "yuv444p"]),
    "ten.mkv": ("testsrc2=s=64x48:r=25:d=0.5", X264 + ["-pix_fmt", "yuv420p10le"]),
}
version = subprocess.run(["ffmpeg", "-version"], capture_output=True, text=True).stdout.split()[2]
golden = {"FFmpeg": version.split("-")[0], "torchcodec": torchcodec.__version__, "Videos": {}}
for name, (source, args) in videos.items():
    path = os.path.join(here, name)
    subprocess.run(["ffmpeg", "-v", "error", "-y", "-f", "lavfi", "-i", source, *args, path], check=True)
    decoder = VideoDecoder(path)
    frames = [decoder.get_frame_at(i) for i in range(len(decoder))]
    golden["Videos"][name] = {
        "Shape": list(frames[0].data.shape),
        "Seconds": [f.pts_seconds for f in frames],
        "Frames": [hashlib.sha256(f.data.permute(1, 2, 0).contiguous().numpy().tobytes()).hexdigest()[:16] for f in frames],
    }
with open(os.path.join(here, "frames.json"), "w") as f:
    json.dump(golden, f, indent=1)
    f.write("\n")
