"""What all processes of a side use: processor time, and memory over time.

A single look takes the proportional set size, where pages that processes share count
once, in some milliseconds; looks again and again take what is cheap, in which pages of the
fork count in every process.
"""

import threading
import time

import processes

EVERY = 0.25  # seconds from one look to the next, which takes 3 ms


class Usage:
    """Looks at the processes again and again until stop if always, else at look alone."""

    def __init__(self, always):
        self.begun = self.at = time.perf_counter()
        self.first = self.cpu = processes.cpu_seconds()
        self.looks = []
        self.end = threading.Event()
        self.thread = threading.Thread(target=self.watch, daemon=True) if always else None
        if self.thread:
            self.thread.start()

    def watch(self):
        while not self.end.wait(EVERY):
            self.look(processes.resident_bytes)

    def look(self, memory=processes.memory_bytes):
        cpu, rss, now = processes.cpu_seconds(), memory(), time.perf_counter()
        # workers that have ended take their time along
        percent = max(0, 100 * (cpu - self.cpu) / (now - self.at))
        self.looks.append({"seconds": now - self.begun, "cpu_percent": percent, "rss_bytes": rss})
        self.cpu, self.at = cpu, now

    def stop(self):
        """Seconds of processor time since the making, and what was seen."""
        cpu = max(0, processes.cpu_seconds() - self.first)
        self.end.set()
        if self.thread:
            self.thread.join()
        return cpu, self.looks
