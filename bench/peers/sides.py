"""The sides of the comparison: their programs, and which of them can run here."""

import os
import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
PHOTOS = HERE.parents[2] / "shared" / "photos"

PENSTOCK = "penstock"  # the program that build makes; it does all works
WITHOUT_HELP = PENSTOCK + " without Help"
PACKED = (PENSTOCK + ", packed fast", PENSTOCK + ", packed small")  # the same program, over packed photos
IN_PYTHON = PENSTOCK + " in Python"  # the same program, whose batches a loop in Python gets
GORGONIA = "gorgonia"  # nets without loading, in the same program
ONNX = "ONNX Runtime"  # from Go, the program of bench/onnx; it needs cgo and examples/onnx/install

# Who does a work besides, by work.
PROGRAMS = {
    "eval train": {
        PACKED[0]: "-packed fast",
        PACKED[1]: "-packed small",
        IN_PYTHON: "penstock_python.py",
        "PyTorch with PIL": "pytorch.py -pil",
        "PyTorch with tensors": "pytorch.py",
        "DALI": "dali_cpu.py",
        "SPDL with FFmpeg": "spdl_threads.py",
        "FFCV, jpg": "ffcv_loader.py -mode jpg",
        "FFCV, raw": "ffcv_loader.py -mode raw",
    },
    "preprocessed": {"PyTorch with tensors": "pytorch.py"},
    "cifar100": {"PyTorch with PIL": "pytorch.py -pil", "PyTorch with tensors": "pytorch.py", "NumPy loop": "loops.py"},
    "npy npy-items": {"PyTorch with NumPy": "pytorch.py", "NumPy loop": "loops.py"},
    "npy-cached": {"PyTorch with NumPy": "pytorch.py", "MONAI": "monai_loader.py", "NumPy loop": "loops.py"},
    "nrrd": {"PyTorch with pynrrd": "pytorch.py", "MONAI": "monai_loader.py", "pynrrd loop": "loops.py"},
    "volumes-cached": {
        "PyTorch with tensors": "pytorch.py",
        "MONAI": "monai_loader.py",
        "MONAI with threads": "monai_loader.py -threads",
        "NumPy loop": "loops.py",
    },
    "volumes": {"PyTorch with pynrrd": "pytorch.py"},
    "nets onnx": {"PyTorch": "nets.py"},
}
NEEDS = {"dali_cpu.py": "dali", "spdl_threads.py": "spdl", "ffcv_loader.py": "ffcv", "monai_loader.py": "volumes"}


def venv():
    return pathlib.Path(os.environ.get("PEERS_VENV") or HERE / ".venv").absolute()


def python():
    path = venv() / "bin" / "python"
    if not path.exists():
        raise SystemExit(f"{path}: not there: run {HERE / 'install'} first")
    return str(path)


def enter():
    """Starts the program anew with the environment's Python, unless it has it."""
    if sys.prefix != str(venv()):
        os.execv(python(), [python(), os.path.abspath(sys.argv[0])] + sys.argv[1:])


def programs(work):
    return next(found for works, found in PROGRAMS.items() if work in works.split())


def installed(work, program):
    """Whether what a program needs is there; install has noted what is not."""
    need = "volumes" if work in ("nrrd", "volumes-cached", "volumes") else NEEDS.get(program.split()[0], "-")
    return not (venv() / "not-installed" / need).is_file()


def build(folder):
    """Builds penstock's side into folder, for commands."""
    subprocess.run(["go", "build", "-o", os.path.join(folder, PENSTOCK), "./penstock"], cwd=HERE, check=True)
    subprocess.run(["go", "build", "-o", os.path.join(folder, ONNX), "../onnx"], cwd=HERE, check=False)


def commands(work, folder, wanted=None, workers=None):
    """How to start every side that can do the work here, name to command line, with what build has put
    into folder. Loops have no workers."""
    found = {PENSTOCK: [os.path.join(folder, PENSTOCK)], WITHOUT_HELP: [os.path.join(folder, PENSTOCK), "-help", "off"]}
    if work == "nets":
        found = {GORGONIA: [os.path.join(folder, PENSTOCK)]}
    if work == "onnx":
        found = {ONNX: [os.path.join(folder, ONNX)]} if os.path.exists(os.path.join(folder, ONNX)) else {}
    for name, program in programs(work).items():
        if installed(work, program) and (workers in (None, 0) or not name.endswith("loop")):
            file, *arguments = program.split()
            if name in PACKED:
                found[name] = [os.path.join(folder, PENSTOCK), file, *arguments]
                continue
            if name == IN_PYTHON:
                arguments = ["-program", os.path.join(folder, PENSTOCK)]
            found[name] = [python(), str(HERE / file), *arguments]
    return {name: command for name, command in found.items() if wanted is None or name in wanted}
