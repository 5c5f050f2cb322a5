#!/usr/bin/env python3
"""Compares what became of mutated files with what libjpeg makes of them.

    go test ./internal/jpeg -run Mutated -mutations 20000 -mutated /tmp/mutated.zip
    mutations.py /tmp/mutated.zip

It needs Pillow, whose wheels bundle libjpeg-turbo 3, and djpeg, whose exit
status tells where libjpeg only warned. What must hold:

  - where Pillow raises an error, there is an error;
  - where there is none, the pixels are Pillow's.

An error where Pillow decodes is right if djpeg warned or refused. All other
disagreements are counted by kind and shown with the first files' names;
--save FOLDER writes the files there.

--keep FILE writes an archive of small files on which there is agreement, with
what became of them, for the test to repeat: testdata/mutated.zip. Its files
must be made in a clone without photos beside it.
"""
import hashlib
import io
import json
import multiprocessing
import os
import re
import subprocess
import sys
import warnings
import zipfile

from PIL import Image

MAX_PIXELS = 1 << 20  # as in the test


def pillow(data):
    """The hash of the pixels, or the error."""
    try:
        with Image.open(io.BytesIO(data), formats=["JPEG"]) as image:
            if image.width * image.height > MAX_PIXELS:
                return "error: too many pixels"
            return hashlib.sha256(image.convert("RGB").tobytes()).hexdigest()
    except Exception as error:
        return "error: " + re.sub(r" <.*>", "", str(error))


def djpeg(data):
    """What djpeg complains about, or nothing."""
    done = subprocess.run(["djpeg", "-pnm"], input=data, capture_output=True)
    if done.returncode == 0:
        return ""
    said = done.stderr.decode(errors="replace").strip().splitlines() or [""]
    return "warns: " + said[0] if done.returncode == 2 else "refuses: " + said[-1]


def numberless(text):
    """The text without what differs between files of a kind."""
    return re.sub(r"0x[0-9a-f]+|[0-9]+", "N", text)


def judge(task):
    """The kind of a disagreement, or what is agreed on."""
    name, data, ours = task
    theirs = pillow(data)
    decoded = not ours.startswith("jpeg: ")
    said = "" if decoded else ours.split(": ", 2)[2]
    if decoded and ours == theirs:
        return name, "agreed: pixels"
    if not decoded and theirs.startswith("error"):
        return name, numberless(f"agreed: error: {said}")
    complaint = djpeg(data)
    if decoded and theirs.startswith("error"):
        kind = f"LENIENT: decoded; Pillow: {theirs}; djpeg {complaint or 'decodes'}"
    elif decoded:
        kind = f"PIXELS: differ; djpeg {complaint or 'decodes'}"
    elif complaint:
        kind = f"agreed: libjpeg warns: {said}"
    else:
        kind = f"STRICT: {said}; djpeg decodes"
    return name, numberless(kind)


def keep(path, archive, results, kinds):
    """Writes small files of every kind that is agreed on, most of those that decode.

    Scans that repeat or leave out something are not among them: libjpeg takes
    some of those.
    """
    kept = {}
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as out:
        for kind, names in sorted(kinds.items()):
            if not kind.startswith("agreed") or "warns" in kind and "of component" in kind:
                continue
            small = sorted(n for n in names if archive.getinfo(n).file_size < 1200)
            for name in small[:100 if kind == "agreed: pixels" else 8]:
                kept[name] = results[name] if kind == "agreed: pixels" else "error"
                out.writestr(zipfile.ZipInfo(name, (2026, 1, 1, 0, 0, 0)), archive.read(name), zipfile.ZIP_DEFLATED)
        text = json.dumps(kept, indent=0, sort_keys=True)
        out.writestr(zipfile.ZipInfo("results.json", (2026, 1, 1, 0, 0, 0)), text, zipfile.ZIP_DEFLATED)


def option(name):
    return sys.argv[sys.argv.index(name) + 1] if name in sys.argv else None


def main():
    warnings.simplefilter("ignore")
    Image.MAX_IMAGE_PIXELS = None
    folder, kinds = option("--save"), {}
    with zipfile.ZipFile(sys.argv[1]) as archive:
        results = json.loads(archive.read("results.json"))
        tasks = ((name, archive.read(name), ours) for name, ours in results.items())
        with multiprocessing.Pool() as pool:
            for name, kind in pool.imap(judge, tasks, 64):
                kinds.setdefault(kind, []).append(name)
        for kind, names in sorted(kinds.items(), key=lambda item: -len(item[1])):
            agreed = kind.startswith("agreed")
            small = sorted(names, key=lambda name: archive.getinfo(name).file_size)[:3]
            print(f"{len(names):7} {kind}" + ("" if agreed else f" ({', '.join(small)})"))
            for name in [] if agreed or not folder else small:
                os.makedirs(folder, exist_ok=True)
                with open(os.path.join(folder, name + ".jpg"), "wb") as file:
                    file.write(archive.read(name))
        if option("--keep"):
            keep(option("--keep"), archive, results, kinds)


main()
