#!/usr/bin/env python3
"""Builds the wheel, which holds the Python package, the static program penstock-images, and the licences of what is in it. It needs Go.

    examples/python/package.py [-arch amd64|arm64] [FOLDER]

FOLDER is the current one by default. The wheel's path is printed. pip builds it too: pip install ./examples/python
"""

import argparse
import base64
import hashlib
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import zipfile

HERE = pathlib.Path(__file__).resolve().parent
VERSION = re.search(r'__version__ = "(.*)"', (HERE / "penstock" / "__init__.py").read_text())[1]
MACHINES = {"amd64": "x86_64", "arm64": "aarch64"}
OURS = {m: a for a, m in MACHINES.items()}.get(os.uname().machine, "amd64")
METADATA = f"""Metadata-Version: 2.4
Name: penstock
Version: {VERSION}
Summary: Batches of penstock, the DataLoader for Go, as PyTorch tensors or NumPy arrays
Project-URL: Homepage, https://github.com/penstock-go/penstock
License-Expression: MIT AND BSD-3-Clause AND BSD-2-Clause AND Apache-2.0
Requires-Python: >=3.9
Requires-Dist: numpy
"""


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("-arch", choices=MACHINES, default=OURS)
    p.add_argument("folder", nargs="?", type=pathlib.Path, default=pathlib.Path())
    o = p.parse_args()
    o.folder.mkdir(parents=True, exist_ok=True)
    print(o.folder / build_wheel(o.folder, arch=o.arch))


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None, arch=OURS):
    """What pip calls; its arguments are those of PEP 517."""
    # a static program needs nothing of the system's libraries
    platforms = ".".join(f"{system}_{MACHINES[arch]}" for system in ("manylinux_2_17", "manylinux2014", "musllinux_1_1"))
    info = f"penstock-{VERSION}.dist-info"
    wheel = "Wheel-Version: 1.0\nGenerator: penstock\nRoot-Is-Purelib: false\n"
    wheel += "".join(f"Tag: py3-none-{platform}\n" for platform in platforms.split("."))
    environment = {**os.environ, "CGO_ENABLED": "0", "GOOS": "linux", "GOARCH": arch}
    packages = listed(environment)
    texts = licences({folder: module for _, module, folder in packages if module})
    files = {
        **{f"penstock/{p.name}": p.read_bytes() for p in sorted((HERE / "penstock").glob("*")) if p.suffix in (".py", ".typed")},
        "penstock/penstock-images": program(environment, len(packages)),
        f"{info}/METADATA": (METADATA + "".join(f"License-File: {name}\n" for name in texts)).encode(),
        f"{info}/WHEEL": wheel.encode(),
        **{f"{info}/licenses/{name}": text for name, text in texts.items()},
    }
    record = "".join(f"{name},sha256={digest(data)},{len(data)}\n" for name, data in files.items()) + f"{info}/RECORD,,\n"
    name = f"penstock-{VERSION}-py3-none-{platforms}.whl"
    with zipfile.ZipFile(pathlib.Path(wheel_directory) / name, "w", zipfile.ZIP_DEFLATED) as z:
        for path, data in {**files, f"{info}/RECORD": record.encode()}.items():
            entry = zipfile.ZipInfo(path, (2020, 1, 1, 0, 0, 0))  # the same wheel every time
            entry.external_attr = (0o100755 if path.endswith("penstock-images") else 0o100644) << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            z.writestr(entry, data)
    return name


def listed(environment):
    """The packages that the program is made of, with the module and its folder if it is not this project's."""
    form = "{{.ImportPath}}\t{{with .Module}}{{if not .Main}}{{.Path}}@{{.Version}}\t{{.Dir}}{{end}}{{end}}"
    try:
        out = subprocess.run(["go", "list", "-deps", "-f", form, "./images"], cwd=HERE, check=True, env=environment, stdout=subprocess.PIPE, text=True)
    except FileNotFoundError:
        sys.exit("package.py: no go: the wheel is built with Go 1.26 or newer, from https://go.dev/dl")
    return [(line.split("\t") + [""])[:3] for line in out.stdout.splitlines()]


def licences(modules):
    """The licences and notices of this project, of Go and of these modules, which are named by their folders."""
    goroot = subprocess.run(["go", "env", "GOROOT"], cwd=HERE, check=True, stdout=subprocess.PIPE, text=True).stdout.strip()
    texts = {"LICENSE": (HERE.parents[1] / "LICENSE").read_bytes()}
    for folder, module in sorted({goroot: "go", **modules}.items(), key=lambda item: item[1]):
        found = [p for p in sorted(pathlib.Path(folder).iterdir()) if re.match("licen[cs]e|copying|notice|patents", p.name, re.I) and p.is_file()]
        if not found:
            sys.exit(f"package.py: no licence in {folder}: the wheel must have that of {module}")
        texts.update({f"{module}/{p.name}": p.read_bytes() for p in found})
    return texts


def program(environment, packages):
    """The program, which is built with lines that tell how far it is."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "penstock-images")
        command = ["go", "build", "-v", "-trimpath", "-ldflags=-s -w", "-o", path, "./images"]
        tell(f"{' '.join(command[:2])} of {packages} packages, which takes minutes the first time")
        built = 0
        with subprocess.Popen(command, cwd=HERE, env=environment, stderr=subprocess.PIPE, text=True) as go:
            for line in go.stderr:
                if " " in line:  # an error, or what is downloaded
                    tell(line.rstrip())
                    continue
                built += 1
                if built % 25 == 0:
                    tell(f"{built} of {packages} packages")
        if go.returncode:
            sys.exit(f"package.py: {' '.join(command)} failed, as it says above")
        return pathlib.Path(path).read_bytes()


def tell(text):
    print(f"package.py: {text}", file=sys.stderr, flush=True)


def digest(data):
    return base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()


if __name__ == "__main__":
    main()
