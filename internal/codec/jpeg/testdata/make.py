#!/usr/bin/env python3
"""Makes JPEG files of synthetic images and the hashes of their pixels.

    make.py images.zip        the set that is kept here
    make.py --all images.zip  every combination

It needs cjpeg, djpeg and jpegtran of libjpeg-turbo 2.1 or newer, and Pillow,
whose wheels bundle libjpeg-turbo 3. The pixels are djpeg's, or Pillow's for files
of four components. If both decode a file, they must agree. The archive holds the
files and hashes.json: by file, the SHA-256 of the pixels with three bytes each, or
"error" if djpeg refuses the file. Files whose name starts with "truncated" are cut
short, and their pixels are Pillow's with LOAD_TRUNCATED_IMAGES. Files whose name
starts with "incomplete" have an end marker but not their last scans. Their pixels
are Pillow's too: libjpeg-turbo 2.1 smooths the lower edges of such images in
another way than version 3.
"""
import hashlib
import io
import itertools
import json
import os
import random
import subprocess
import sys
import tempfile
import zipfile

from PIL import Image, ImageFile

SAMPLINGS = [
    "1x1", "2x1", "1x2", "2x2", "4x1", "1x4", "4x2", "2x4", "3x1", "1x3",
    "2x2,2x1,1x2", "2x2,1x2,2x1", "1x1,2x2,2x2", "2x1,2x1,1x1", "1x2,1x1,1x2",
    "4x1,2x1,1x1", "1x4,1x2,1x1", "4x2,2x2,1x1", "2x4,1x2,1x1", "1x1,2x1,1x2",
    "3x1,1x1,3x1", "3x2", "3x1,2x1,1x1",
]
SIZES = [(1, 1), (2, 1), (1, 2), (3, 3), (4, 5), (7, 9), (8, 8), (9, 8), (15, 16),
         (16, 16), (17, 33), (31, 15), (33, 17), (40, 70), (65, 34)]
QUALITIES = [1, 10, 50, 75, 95, 100]
SCRIPTS = {
    "separate": "0;\n1;\n2;\n",
    "pairs": "0;\n1,2;\n",
    "spectral": "0,1,2: 0-0, 0, 0;\n0: 1-5, 0, 0;\n1: 1-63, 0, 0;\n2: 1-63, 0, 0;\n0: 6-63, 0, 0;\n",
    "approximation": "0: 0-0, 0, 2;\n1: 0-0, 0, 1;\n2: 0-0, 0, 0;\n0: 0-0, 2, 1;\n1: 0-0, 1, 0;\n0: 1-63, 0, 3;\n"
                     "1: 1-63, 0, 1;\n2: 1-20, 0, 2;\n2: 21-63, 0, 0;\n0: 1-63, 3, 2;\n0: 0-0, 1, 0;\n0: 1-9, 2, 1;\n"
                     "0: 10-63, 2, 1;\n0: 1-63, 1, 0;\n1: 1-63, 1, 0;\n2: 1-20, 2, 1;\n2: 1-20, 1, 0;\n",
}
# Scripts whose last scans are cut off afterwards, as many as the number in front
# tells: the rest leaves out, or leaves imprecise, what libjpeg then estimates.
INCOMPLETE = {
    "dc-only": (1, "0,1,2: 0-0, 0, 0;\n0: 1-63, 0, 0;\n"),
    "dc-rough": (2, "0,1,2: 0-0, 0, 1;\n0: 1-63, 0, 0;\n0,1,2: 0-0, 1, 0;\n"),
    "dc-separate": (1, "0: 0-0, 0, 0;\n1: 0-0, 0, 0;\n2: 0-0, 0, 0;\n0: 1-63, 0, 0;\n"),
    "low": (2, "0,1,2: 0-0, 0, 0;\n0: 1-5, 0, 2;\n0: 6-63, 0, 0;\n0: 1-5, 2, 1;\n"),
    "luma": (1, "0,1,2: 0-0, 0, 1;\n0: 1-63, 0, 2;\n1: 1-63, 0, 0;\n"),
    "high": (1, "0,1,2: 0-0, 0, 0;\n0: 6-63, 0, 0;\n1: 7-63, 0, 0;\n0: 1-5, 0, 0;\n"),
    "refined": (1, "0,1,2: 0-0, 0, 0;\n1: 1-63, 0, 0;\n2: 1-63, 0, 0;\n0: 1-63, 0, 3;\n0: 1-63, 3, 2;\n0: 1-63, 2, 1;\n"),
}
MODES = {
    "baseline": [],
    "optimised": ["-optimize"],
    "progressive": ["-progressive"],
    "restart": ["-restart", "1"],
    "restarts": ["-restart", "1B"],
    "progressive-restart": ["-progressive", "-restart", "2B"],
    "separate": ["-scans", "separate"],
    "pairs": ["-scans", "pairs"],
    "spectral": ["-scans", "spectral"],
    "approximation": ["-scans", "approximation"],
}


def synthetic(width, height, channels):
    """A synthetic image: waves, an edge and noise."""
    state, out = width * 7919 + height, bytearray()
    for y in range(height):
        for x in range(width):
            for c in range(channels):
                state = (state * 1103515245 + 12345) & 0x7FFFFFFF
                v = (x * x * (3 + c) + y * y * (5 - c) + x * y) // 23 & 255
                if (x + 2 * y) % 37 > 18:
                    v = 255 - v if c != 1 else v // 2
                out.append((v * 3 + (state >> 16 & 255)) // 4)
    return bytes(out)


def encode(width, height, sampling, quality, mode, gray, folder, rgb=False):
    pnm = (b"P5" if gray else b"P6") + b"\n%d %d\n255\n" % (width, height) + synthetic(width, height, 1 if gray else 3)
    args = ["cjpeg", "-quality", str(quality)] + MODES[mode]
    args += ["-rgb"] if rgb else []
    if "-scans" in args:
        path = os.path.join(folder, args[-1] if not rgb else args[-2])
        with open(path, "w") as f:
            f.write(SCRIPTS[os.path.basename(path)])
        args[args.index("-scans") + 1] = path
    args += [] if gray else ["-sample", sampling]
    done = subprocess.run(args, input=pnm, capture_output=True)
    return done.stdout if done.returncode == 0 else None


def incomplete(width, height, sampling, quality, name, gray, folder):
    """A progressive file without its last scans."""
    cut, script = INCOMPLETE[name]
    if gray:
        lines = [line.replace("0,1,2", "0") for line in script.splitlines() if line[0] == "0"]
        script, cut = "\n".join(lines) + "\n", 1
    SCRIPTS["incomplete"] = script
    MODES["incomplete"] = ["-scans", "incomplete"]
    data = encode(width, height, sampling, quality, "incomplete", gray, folder)
    if data is None:
        return None
    for _ in range(cut):
        data = data[:data.rindex(b"\xff\xda")]
    return data + b"\xff\xd9"


def djpeg(data):
    done = subprocess.run(["djpeg", "-pnm"], input=data, capture_output=True)
    if done.returncode != 0 or not done.stdout:
        return None
    with Image.open(io.BytesIO(done.stdout)) as image:
        return image.convert("RGB").tobytes()


def pillow(data):
    try:
        with Image.open(io.BytesIO(data)) as image:
            return image.convert("RGB").tobytes()
    except Exception:
        return None


def segments(data):
    """The file's segments up to the first scan, and the rest."""
    at, out = 2, []
    while data[at + 1] != 0xDA:
        n = 2 + int.from_bytes(data[at + 2:at + 4], "big")
        out.append(data[at:at + n])
        at += n
    return out, data[at:]


def join(parts, rest):
    return b"\xff\xd8" + b"".join(parts) + rest


def four(width, height, quality, subsampling, transform, **options):
    """A file of four components, with Adobe's transform set or its marker gone."""
    out = io.BytesIO()
    image = Image.frombytes("CMYK", (width, height), synthetic(width, height, 4))
    image.save(out, "JPEG", quality=quality, subsampling=subsampling, **options)
    parts, rest = segments(out.getvalue())
    adobe = [i for i, p in enumerate(parts) if p[1] == 0xEE][0]
    if transform is None:
        del parts[adobe]
    else:
        parts[adobe] = parts[adobe][:-1] + bytes([transform])
    return join(parts, rest)


def variants(folder):
    """Files with rarer contents, as (name, file, file with the same pixels)."""
    base = encode(37, 29, "2x2", 75, "baseline", False, folder)
    parts, rest = segments(base)
    yield "no-huffman", join([p for p in parts if p[1] != 0xC4], rest), base
    yield "fill-bytes", b"\xff\xd8" + b"".join(b"\xff\xff\xff" + p for p in parts) + b"\xff\xff" + rest, base
    yield "stray-bytes", b"\xff\xd8" + b"".join(b"\x00\x17" + p for p in parts) + rest, base
    frame = [i for i, p in enumerate(parts) if p[1] == 0xC0][0]
    lines = b"\xff\xdc\x00\x04" + parts[frame][5:7]
    open_frame = parts[:]
    open_frame[frame] = parts[frame][:5] + b"\0\0" + parts[frame][7:]
    yield "dnl", join(open_frame, rest[:-2] + lines + rest[-2:]), None
    yield "sample", base, None
    rgb = encode(21, 19, "1x1", 90, "baseline", False, folder, rgb=True)
    yield "rgb", rgb, None
    parts, rest = segments(rgb)
    yield "rgb-by-names", join([p for p in parts if p[1] != 0xEE], rest), None
    yield "rgb-subsampled", encode(21, 19, "2x2", 90, "progressive", False, folder, rgb=True), None
    base = encode(24, 24, "2x1,1x1,1x1", 75, "baseline", False, folder)
    at = base.index(b"\xff\xc0") + 11
    yield "fractional", base[:at] + b"\x31" + base[at + 1:at + 3] + b"\x21" + base[at + 4:], None
    dice = random.Random(1)
    for i in range(8):
        mode = ["baseline", "progressive"][i % 2]
        data = encode(48, 40, ["1x1", "2x2"][i // 2 % 2], 100, mode, False, folder)
        parts, rest = segments(data)
        for j, p in enumerate(parts):
            if p[1] == 0xDB:
                parts[j] = p[:5] + bytes(dice.randrange(1, 256) for _ in p[5:])
        yield f"overflow-{i}", join(parts, rest), None
    for i in range(8):
        data = encode(48, 40, "1x1", 100, ["baseline", "progressive"][i % 2], False, folder)
        parts, rest = segments(data)
        tables = b""
        for table in range(2):
            values = b"".join(dice.randrange(1, 1 << dice.choice([8, 12, 16])).to_bytes(2, "big") for _ in range(64))
            tables += b"\xff\xdb\x00\x83" + bytes([0x10 | table]) + values
        parts = [p for p in parts if p[1] != 0xDB]
        yield f"overflow-wide-{i}", join([tables] + parts, rest).replace(b"\xff\xc0", b"\xff\xc1", 1), None
    for i, (transform, subsampling, options) in enumerate(itertools.product(
            [0, 2, None], [0, 1, 2], [{}, {"progressive": True}])):
        yield f"four-{i}", four(35, 21, 60, subsampling, transform, **options), None


def add_truncated(files, hashes, name, data):
    pixels = pillow(data)
    if any(pixels):  # a cut within a header leaves Pillow's image black
        files[name] = data
        hashes[name] = hashlib.sha256(pixels).hexdigest()


def main():
    every = "--all" in sys.argv
    hashes, files, skipped = {}, {}, 0
    with tempfile.TemporaryDirectory() as folder:
        def add(name, data, same=None):
            nonlocal skipped
            mine, other = djpeg(same or data), pillow(same or data)
            if data[data.find(b"\xff\xc0") + 9] == 4 or name.startswith("four"):
                mine = other
            if mine != other:
                sys.exit(f"{name}: djpeg and Pillow differ")
            files[name] = data
            hashes[name] = hashlib.sha256(mine).hexdigest() if mine else "error"

        for i, (sampling, (mode, size)) in enumerate(itertools.product(
                SAMPLINGS, itertools.product(MODES, SIZES))):
            for quality in QUALITIES:
                if not every and (i * 7 + QUALITIES.index(quality) * 11) % 131 != 0:
                    continue
                data = encode(*size, sampling, quality, mode, False, folder)
                if data is None:
                    skipped += 1
                    continue
                add(f"{mode}-{sampling.replace(',', '-')}-{size[0]}x{size[1]}-q{quality}.jpg", data)
        for mode, size, quality in itertools.product(
                ["baseline", "progressive", "restart"], SIZES if every else SIZES[::5], QUALITIES[::2]):
            add(f"gray-{mode}-{size[0]}x{size[1]}-q{quality}.jpg", encode(*size, "", quality, mode, True, folder))
        for name, data, same in variants(folder):
            add(name + ".jpg", data, same)
        # libjpeg gives an end to a file that has none; Pillow lets it wait for more.
        files["no-end.jpg"], hashes["no-end.jpg"] = files["sample.jpg"][:-2], "error"
        if pillow(files["no-end.jpg"]) is not None:
            sys.exit("no-end: Pillow decodes it")
        for i, (name, sampling, size) in enumerate(itertools.product(
                INCOMPLETE, ["1x1", "2x1", "1x2", "2x2", "1x4", "4x2", "2x2,1x2,2x1", "1x1,2x2,2x2"],
                [(1, 1), (9, 8), (17, 33), (40, 70), (24, 80), (37, 49)])):
            if not every and i % 5 != 0:
                continue
            gray = i % 11 == 0
            data = incomplete(*size, sampling, QUALITIES[1 + i % 4], name, gray, folder)
            if data is None:
                skipped += 1
                continue
            kind = "gray" if gray else sampling.replace(",", "-")
            file = f"incomplete-{name}-{kind}-{size[0]}x{size[1]}.jpg"
            files[file], hashes[file] = data, hashlib.sha256(pillow(data)).hexdigest()
        ImageFile.LOAD_TRUNCATED_IMAGES = True
        for i, (mode, sampling) in enumerate(itertools.product(
                ["baseline", "restarts", "restart", "separate", "progressive", "approximation"], ["1x1", "2x2", "2x1"])):
            whole = encode(61, 50, sampling, 80, mode, False, folder)
            for part in range(5, 10, 1 if every else 2):
                add_truncated(files, hashes, f"truncated-{i}-{part}.jpg", whole[:len(whole) * part // 10])
    with zipfile.ZipFile(sys.argv[-1], "w", zipfile.ZIP_DEFLATED) as archive:
        entries = sorted(files.items()) + [("hashes.json", json.dumps(hashes, indent=0, sort_keys=True))]
        for name, data in entries:
            archive.writestr(zipfile.ZipInfo(name, (2026, 1, 1, 0, 0, 0)), data, zipfile.ZIP_DEFLATED)
    print(f"{len(files)} files, {skipped} combinations that cjpeg refuses, "
          f"{sum(h == 'error' for h in hashes.values())} that djpeg refuses")


main()
