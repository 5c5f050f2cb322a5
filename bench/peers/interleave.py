"""Runs cells of a grid by all sides in turn, a new process each, and keeps their records.

What differs from round to round is the machine's mood alone: every round starts every
side anew, one after the other, so that a machine whose speed drifts treats them alike.
"""

import datetime
import json
import os
import pathlib
import subprocess
import sys
import time
import typing

import sides

WITHOUT_HELP = ", Help off"  # behind penstock's name
MEAN_TOLERANCE = 0.03  # of the middle batch: decoders and filters differ by less


class Cell(typing.NamedTuple):
    """What is measured at once, by all sides that can."""

    study: str
    work: str
    data: str  # what records call it
    folder: str
    batch: int
    workers: int
    samples: int
    consumer: float = 0
    speed: float = 0  # samples per second of a simulated device, 0 for none
    shuffle: bool = False
    model: str = ""

    def flags(self, epochs):
        values = {
            "study": self.study,
            "work": self.work,
            "data": self.data,
            "batch": self.batch,
            "workers": self.workers,
            "samples": self.samples,
            "epochs": epochs,
            "consumer": self.consumer,
            "speed": self.speed,
        }
        if self.speed:
            values |= {"model": f"{self.speed:.0f} samples per s", "simulated": "devices, each of its model's speed"}
        elif self.model:
            values["model"] = self.model
        found = [text for key, value in values.items() for text in ("-" + key, str(value))]
        return found + ["-shuffle"] * self.shuffle + [self.folder] * bool(self.folder)

    def __str__(self):
        consumer = f", consumer {self.consumer:g} s" if self.consumer else ""
        device = f", device of {self.speed:g} samples/s" if self.speed else ""
        model = f", {self.model}" if self.model else ""
        return f"{self.study}, {self.data}{model}, batch {self.batch}, workers {self.workers}{consumer}{device}"


class Run(typing.NamedTuple):
    records: list
    failures: list  # (cell, side, reason)
    tables: list  # (cell, side, text) of profilers, of the first round
    doubts: list  # sides whose batches are not penstock's
    about: dict  # machine and versions of penstock's side


def run(cells, commands, rounds, epochs, binaries):
    """commands(cell) is side to command line, with the programs that sides.build has put into binaries."""
    sides.build(binaries)
    about = json.loads(subprocess.check_output([os.path.join(binaries, sides.PENSTOCK), "-machine"], cwd=sides.HERE))
    result = Run([], [], [], [], about)
    begun = time.monotonic()
    for number in range(rounds):
        for cell in cells:
            means, parameters = {}, {}
            for side, command in commands(cell).items():
                print(f"{time.monotonic() - begun:5.0f} s  round {number + 1}: {side}: {cell}", file=sys.stderr)
                lines, reason = measure(command + cell.flags(epochs))
                if reason:
                    result.failures.append((cell, side, reason))
                for line in lines:
                    result.records.append(complete(line["record"], side, number, about))
                    if line.get("mean") is not None:
                        means[side] = line["mean"]
                    if line.get("parameters"):
                        parameters[side] = line["parameters"]
                    if line.get("table") and number == 0:
                        result.tables.append((cell, side, line["record"]["config"]["span"], line["table"]))
            if number == 0 and len(set(parameters.values())) > 1:
                result.doubts.append(f"**The models differ in {cell}**: they have {parameters} parameters.")
            if number == 0 and not cell.shuffle:
                result.doubts.extend(different(cell, means))
    return result


def measure(command):
    """The lines that one process of a side prints, or none and the reason why it failed."""
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if done.returncode:
        print(done.stderr, end="", file=sys.stderr)
        last = done.stderr.strip().splitlines()[-1:] or [f"exit status {done.returncode}"]
        return [], last[0]
    return [json.loads(text) for text in done.stdout.splitlines()], None


def complete(record, side, number, about):
    versions = record["versions"] | (about["versions"] if side.startswith(sides.PENSTOCK) else {})
    now = datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds").replace("+00:00", "Z")
    side = side.removesuffix(WITHOUT_HELP)  # the same side, of another config
    known = {"side": side, "date": now, "round": number, "machine": about["machine"], "versions": versions}
    return short(record | known)


def short(value, digits=5):
    """The same with five digits that count, in lists with three: clocks have no more to say."""
    if isinstance(value, float):
        return float(f"{value:.{digits}g}")
    if isinstance(value, dict):
        return {key: short(v, digits) for key, v in value.items()}
    if isinstance(value, list):
        return [short(v, 3) for v in value]
    return value


def different(cell, means):
    ours = means.get(sides.PENSTOCK)
    for side, mean in means.items():
        # a scan's values are in the hundreds
        if ours is not None and abs(mean - ours) > MEAN_TOLERANCE * max(1, abs(ours)):
            yield f"**{side} did other work in {cell}**: the mean of its middle batch is {mean:.4f}, penstock's {ours:.4f}."


def save(records, path):
    path = pathlib.Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    for r in records:
        if r["study"] != "loading":
            r["measured"].pop("waits_seconds", None)  # thousands, that no other study is about
    path.write_text("".join(json.dumps(r, separators=(",", ":")) + "\n" for r in records))
