"""Medians of the lines that the sides print, as Markdown."""

import math
import statistics

FIRST = "penstock"  # what the others are compared with

MEAN_TOLERANCE = 0.03  # of normalised values, two levels of 255: decoders and filters differ by less


def markdown(head, lines, failures, missing):
    """The tables. failures are (work, workers, side, reason), missing(work) is side to reason."""
    parts = list(head)
    for work, workers in unique((l["work"], l["workers"]) for l in lines):
        some = [l for l in lines if (l["work"], l["workers"]) == (work, workers)]
        parts.append(f"### {work}, {workers} worker{'s' if workers != 1 else ''}")
        absent = [(side, "failed: " + reason) for *where, side, reason in failures if where == [work, workers]]
        absent += [(side, "not installed: " + reason) for side, reason in missing(work).items()]
        parts.append(one(some, unique(absent)))
    parts.append(
        "Median over rounds [least..most]. Ratio: penstock's images/s over the side's, round by round. "
        "First batch: from the beginning of an epoch; at the start, with the starting of workers. "
        "CPU: of all processes of the side. Memory: proportional set size in the middle of the first epoch."
    )
    parts += doubts(lines)
    return "\n\n".join(parts)


def one(lines, absent):
    rows = [
        "| side | images/s | ratio | first batch, ms | at the start, ms | CPU µs/image | memory, MB |",
        "|---|---|---|---|---|---|---|",
    ]
    ours = per_round(lines, FIRST, "images_per_second")
    for side in unique(l["side"] for l in lines):
        speed = per_round(lines, side, "images_per_second")
        ratio = [ours[r] / speed[r] for r in speed if r in ours]
        cells = [
            spread(speed.values()),
            "1" if side == FIRST else spread(ratio),
            spread(per_round(lines, side, "first_ms").values()),
            spread([l["first_ms"] for l in lines if l["side"] == side and l["epoch"] == 0]),
            spread((1000 * ms for ms in per_round(lines, side, "cpu_ms_per_image").values())),
            spread([l["memory_mb"] for l in lines if l["side"] == side and l["epoch"] == 0]),
        ]
        rows.append(f"| {side} | " + " | ".join(cells) + " |")
    rows += [f"| {side} | {reason} |" + " |" * 5 for side, reason in absent]
    return "\n".join(rows)


def per_round(lines, side, key):
    """The median over the measured epochs of every round."""
    rounds = {}
    for l in lines:
        if l["side"] == side and l["epoch"] > 0:
            rounds.setdefault(l["round"], []).append(l[key])
    return {number: statistics.median(values) for number, values in rounds.items()}


def spread(values):
    values = list(values)
    if not values:
        return "–"
    median, least, most = (figure(f(values)) for f in (statistics.median, min, max))
    return median if least == most else f"{median} [{least}..{most}]"


def figure(v):
    """At least three digits that count."""
    return f"{v:.{max(0, 2 - math.floor(math.log10(v)))}f}" if v > 0 else "0"


def doubts(lines):
    """Sides whose batches are not those of penstock, where nothing is drawn: their mean tells."""
    found = []
    for work in unique(l["work"] for l in lines if l["work"] != "train"):
        means = {l["side"]: l["mean"] for l in lines if l["epoch"] == 0 and l["work"] == work}
        found += [
            f"**{side} did other work in {work}**: the mean of its middle batch is {mean:.4f}, penstock's {means[FIRST]:.4f}."
            for side, mean in means.items()
            if FIRST in means and abs(mean - means[FIRST]) > MEAN_TOLERANCE
        ]
    return found


def unique(values):
    return list(dict.fromkeys(values))
