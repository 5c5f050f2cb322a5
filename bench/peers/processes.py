"""This process and all that it has started: their processor time and memory, as /proc counts them."""

import os
import pathlib
import threading
import time


def stat(pid):
    """The fields of /proc/PID/stat from the state on, or nothing if it has ended."""
    try:
        text = pathlib.Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return None
    return text[text.rindex(")") + 2 :].split()


def all_of_them():
    """The fields of all processes of this side, by number."""
    fields = {int(entry): found for entry in os.listdir("/proc") if entry.isdigit() and (found := stat(entry))}
    ours = [os.getpid()]
    for p in ours:
        ours += [child for child, found in fields.items() if int(found[1]) == p]
    return {p: fields[p] for p in ours if p in fields}


def cpu_seconds():
    """Processor time of all processes of this side, to a hundredth of a second."""
    return sum(int(f[11]) + int(f[12]) for f in all_of_them().values()) / os.sysconf("SC_CLK_TCK")


def memory_bytes():
    """Proportional set size of all processes of this side: shared pages count once. It takes some milliseconds."""
    total = 0
    for pid in all_of_them():
        try:
            lines = pathlib.Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
        except OSError:
            continue
        total += sum(int(l.split()[1]) * 1024 for l in lines if l.startswith("Pss:"))
    return total


def resident_bytes():
    """More than memory_bytes, in an eighth of the time: every process's anonymous memory, in which a page that workers have
    from the fork counts in each of them, and the largest part that is mapped from files or shared memory."""
    own, shared = 0, 0
    for pid in all_of_them():
        try:
            fields = pathlib.Path(f"/proc/{pid}/statm").read_text().split()
        except OSError:
            continue
        own += int(fields[1]) - int(fields[2])
        shared = max(shared, int(fields[2]))
    return (own + shared) * os.sysconf("SC_PAGE_SIZE")


class Usage:
    """What all processes of a side use over time. It looks every so many seconds until stop, or at look alone."""

    def __init__(self, every):
        self.begun = self.at = time.perf_counter()
        self.first = self.cpu = cpu_seconds()
        self.looks = []
        self.end = threading.Event()
        self.thread = threading.Thread(target=self.watch, args=(every,), daemon=True) if every else None
        if self.thread:
            self.thread.start()

    def watch(self, every):
        while not self.end.wait(every):
            self.look(resident_bytes)

    def look(self, memory):
        cpu, rss, now = cpu_seconds(), memory(), time.perf_counter()
        # workers that have ended take their time along
        percent = max(0, 100 * (cpu - self.cpu) / (now - self.at))
        self.looks.append({"seconds": now - self.begun, "cpu_percent": percent, "rss_bytes": rss})
        self.cpu, self.at = cpu, now

    def stop(self):
        """Seconds of processor time since the making, and what was seen."""
        cpu = max(0, cpu_seconds() - self.first)
        self.end.set()
        if self.thread:
            self.thread.join()
        return cpu, sorted(self.looks, key=lambda look: look["seconds"])
