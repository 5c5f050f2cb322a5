"""The sides of the comparison: their programs, and which of them can run here."""

import os
import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
PHOTOS = HERE.parents[2] / "shared" / "photos"

PENSTOCK = "penstock"  # the program that build makes; it does all works


def photos_by(program):
    return {"eval": program, "train": program}


# Name, the program for each work that the side can do, and the file of $VENV/not-installed that says why it cannot run.
SIDES = (
    (PENSTOCK, dict.fromkeys(("eval", "train", "preprocessed", "cifar")), None),
    ("PyTorch, PIL", {**photos_by("pytorch_pil.py"), "cifar": "cifar_pil.py"}, None),
    (
        "PyTorch, tensors",
        {**photos_by("pytorch_tensor.py"), "preprocessed": "items_tensor.py", "cifar": "cifar_tensor.py"},
        None,
    ),
    ("DALI", photos_by("dali_cpu.py"), "dali"),
    ("SPDL, FFmpeg", photos_by("spdl_threads.py"), "spdl"),
    ("FFCV", photos_by("ffcv_loader.py"), "ffcv"),
)
NAMES = [name for name, _, _ in SIDES]


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


def missing(work, wanted=NAMES):
    """Why sides that would do the work cannot run, name to reason."""
    reasons = {}
    for name, programs, need in SIDES:
        note = venv() / "not-installed" / (need or "")
        if need and name in wanted and work in programs and note.is_file():
            reasons[name] = note.read_text().strip()
    return reasons


def build(folder):
    """Builds penstock's side into folder, for commands."""
    subprocess.run(["go", "build", "-o", os.path.join(folder, PENSTOCK), "./penstock"], cwd=HERE, check=True)


def commands(work, folder, wanted=NAMES):
    """How to start every side that can do the work here, name to command line, with what build has put into folder."""
    absent = missing(work)
    return {
        name: [python(), str(HERE / programs[work])] if programs[work] else [os.path.join(folder, PENSTOCK)]
        for name, programs, _ in SIDES
        if name in wanted and work in programs and name not in absent
    }
