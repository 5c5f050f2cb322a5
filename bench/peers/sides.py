"""The sides of the comparison: their programs, and which of them can run here."""

import os
import pathlib
import subprocess

HERE = pathlib.Path(__file__).resolve().parent
PHOTOS = HERE.parents[2] / "shared" / "photos"

# Name, program, and the file of $VENV/not-installed that says why it cannot run.
SIDES = (
    ("penstock", None, None),
    ("PyTorch, PIL", "pytorch_pil.py", None),
    ("PyTorch, tensors", "pytorch_tensor.py", None),
    ("DALI", "dali_cpu.py", "dali"),
    ("SPDL, FFmpeg", "spdl_threads.py", "spdl"),
    ("FFCV", "ffcv_loader.py", "ffcv"),
    ("FFCV", "ffcv_loader.py", "ffcv"),
)


def venv():
    return pathlib.Path(os.environ.get("PEERS_VENV") or HERE / ".venv").absolute()


def python():
    path = venv() / "bin" / "python"
    if not path.exists():
        raise SystemExit(f"{path}: not there: run {HERE / 'install'} first")
    return str(path)


def missing():
    """Why sides cannot run, name to reason."""
    reasons = {}
    for name, _, need in SIDES:
        note = venv() / "not-installed" / (need or "")
        if need and note.is_file():
            reasons[name] = note.read_text().strip()
    return reasons


def commands(folder):
    """How to start every side that can run, name to command line. Builds penstock's into folder."""
    binary = os.path.join(folder, "penstock")
    subprocess.run(["go", "build", "-o", binary, "./penstock"], cwd=HERE, check=True)
    absent = missing()
    return {
        name: [python(), str(HERE / program)] if program else [binary]
        for name, program, _ in SIDES
        if name not in absent
    }
