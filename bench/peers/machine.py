"""What a table must say about where it was measured."""

import os
import pathlib
import platform
import subprocess


def describe():
    memory = field("/proc/meminfo", "MemTotal").split()[0]
    return (
        f"{field('/proc/cpuinfo', 'model name')}, {os.cpu_count()} processors, "
        f"{int(memory) / 1024 / 1024:.0f} GiB of memory, {platform.system()} {platform.release()}"
    )


def field(path, name):
    for line in pathlib.Path(path).read_text().splitlines():
        key, _, value = line.partition(":")
        if key.strip() == name:
            return value.strip()
    return "0 of unknown"


def load():
    """Processes that ran or waited for a processor, over the last minute."""
    return f"{os.getloadavg()[0]:.1f}"


def commit():
    """The version of penstock: its commit, and whether the tree has other changes."""
    here = pathlib.Path(__file__).parent
    try:
        git = ["git", "describe", "--always", "--dirty", "--abbrev=12"]
        return subprocess.run(git, cwd=here, stdout=subprocess.PIPE, text=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return "unknown"


def python(executable):
    return subprocess.run([executable, "-V"], stdout=subprocess.PIPE, text=True, check=True).stdout.split()[1]
