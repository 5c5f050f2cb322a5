#!/usr/bin/env python3
"""Compares the decoder's results for mutated files with libjpeg's.

    go test ./internal/codec/jpeg -run Mutated -mutations 20000 -mutated /tmp/mutated.zip
    mutations.py /tmp/mutated.zip

It compiles libjpeg.c, which is next to it. That needs a C compiler,
libjpeg-turbo's headers (Debian: libjpeg62-turbo-dev), and Pillow for the
libjpeg-turbo 3 in its wheels. Version 2.1, which Debian has, smooths progressive
files with missing scans in another way. These rules must hold:

  - if libjpeg gives an error, the decoder does too (else LENIENT);
  - if libjpeg decodes without a warning, the pixels are the same (else PIXELS,
    or STRICT if the decoder gives an error).

If libjpeg warns, both an error and libjpeg's pixels are correct. Other pixels
are shown as WARNED. A few files are refused on purpose although libjpeg decodes
them: REFUSED has their errors.

Files that break a rule are counted by result and shown with the first files'
names. --save FOLDER writes them there, and the exit status is 1.

--keep FILE writes an archive of small files that follow the rules, with their
results, for the test to repeat: testdata/mutated.zip. Its files must be made in a
clone without the shared photos next to it.
"""
import ctypes
import glob
import hashlib
import json
import multiprocessing
import os
import re
import subprocess
import sys
import tempfile
import zipfile

import PIL
from PIL import features

MAX_PIXELS = 1 << 20  # as in the test

# The errors of files that the decoder excludes, by its documentation.
REFUSED = (
    "arithmetic coding",
    "lossless coding",
    "the scans go over the image more than",
    "no scan of the first component",
)


class Libjpeg:
    """The compiled libjpeg.c."""

    def __init__(self, folder):
        source = os.path.join(os.path.dirname(os.path.abspath(__file__)), "libjpeg.c")
        library = os.path.join(folder, "libjpeg.so")
        if not os.path.exists(library):
            bundled, = glob.glob(os.path.join(os.path.dirname(PIL.__file__), "..", "pillow.libs", "libjpeg-*"))
            subprocess.run(["cc", "-O2", "-shared", "-fPIC", "-Wl,-rpath," + os.path.dirname(bundled),
                            "-o", library, source, bundled], check=True)
        self.library = ctypes.CDLL(library)
        self.library.decode.restype = ctypes.c_long
        self.pixels = ctypes.create_string_buffer(3 * MAX_PIXELS + 4 * 65535)
        self.said = ctypes.create_string_buffer(256)

    def decode(self, data):
        """The hash of the pixels, None after an error; and the error or the first warning."""
        warnings = ctypes.c_long()
        n = self.library.decode(data, ctypes.c_ulong(len(data)), self.pixels, ctypes.c_long(MAX_PIXELS),
                                self.said, ctypes.byref(warnings))
        said = self.said.value.decode(errors="replace")
        return n and hashlib.sha256(memoryview(self.pixels)[:3 * n]).hexdigest(), said


def numberless(text):
    """The text without numbers, so that it is the same for similar files."""
    return re.sub(r"0x[0-9a-f]+|[0-9]+", "N", text)


def judge(task):
    """The name of the broken rule, or what both agree on."""
    name, data, ours = task
    theirs, said = libjpeg.decode(data)
    error = ours.split(": ", 2)[2] if ours.startswith("jpeg: ") else None
    if error is None:
        if ours == theirs:
            kind = "agreed: pixels" + (f"; libjpeg warns: {said}" if said else "")
        elif not theirs:
            kind = f"LENIENT: decoded; libjpeg refuses: {said}"
        elif said:
            kind = f"WARNED: other pixels; libjpeg warns: {said}"
        else:
            kind = "PIXELS: differ; libjpeg decodes"
    elif not theirs:
        kind = f"agreed: error: {error}; libjpeg: {said}"
    elif said:
        kind = f"agreed: refused: {error}; libjpeg warns: {said}"
    elif error.startswith(REFUSED):
        kind = f"agreed: excluded: {error}; libjpeg decodes"
    else:
        kind = f"STRICT: {error}; libjpeg decodes"
    return name, numberless(kind)


def keep(path, archive, results, kinds):
    """Writes small files for every result that both agree on, mostly files that decode."""
    kept = {}
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as out:
        for kind, names in sorted(kinds.items()):
            decoded = kind.startswith("agreed: pixels")
            if not kind.startswith("agreed"):
                continue
            small = sorted(n for n in names if archive.getinfo(n).file_size < 1200)
            for name in small[:100 if kind == "agreed: pixels" else 4]:
                kept[name] = results[name] if decoded else "error"
                out.writestr(zipfile.ZipInfo(name, (2026, 1, 1, 0, 0, 0)), archive.read(name), zipfile.ZIP_DEFLATED)
        text = json.dumps(kept, indent=0, sort_keys=True)
        out.writestr(zipfile.ZipInfo("results.json", (2026, 1, 1, 0, 0, 0)), text, zipfile.ZIP_DEFLATED)


def option(name):
    return sys.argv[sys.argv.index(name) + 1] if name in sys.argv else None


def begin(build):
    """Makes a process of the pool ready."""
    global libjpeg
    libjpeg = Libjpeg(build)


def main():
    folder, kinds = option("--save"), {}
    with zipfile.ZipFile(sys.argv[1]) as archive, tempfile.TemporaryDirectory() as build:
        Libjpeg(build)
        print("libjpeg-turbo", features.version("libjpeg_turbo"))
        results = json.loads(archive.read("results.json"))
        tasks = ((name, archive.read(name), ours) for name, ours in results.items())
        with multiprocessing.Pool(initializer=begin, initargs=(build,)) as pool:
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
        for word in ("agreed", "LENIENT", "STRICT", "PIXELS", "WARNED"):
            print(f"{word}: {sum(len(n) for kind, n in kinds.items() if kind.startswith(word))}")
        if option("--keep"):
            keep(option("--keep"), archive, results, kinds)
    sys.exit(any(kind.startswith(("LENIENT", "STRICT", "PIXELS")) for kind in kinds))


main()
