"""Medians of the lines that the sides print, as Markdown."""

import statistics

FIRST = "penstock"  # what the others are compared with

MEAN_TOLERANCE = 0.03  # of normalised values, two levels of 255: decoders and filters differ by less


def markdown(head, lines, failures, missing):
    """The tables. failures are (transform, workers, side, reason), missing is side to reason."""
    parts = list(head)
    for transform, workers in unique((l["transform"], l["workers"]) for l in lines):
        some = [l for l in lines if (l["transform"], l["workers"]) == (transform, workers)]
        parts.append(f"### {transform}, {workers} worker{'s' if workers != 1 else ''}")
        absent = [(side, "failed: " + reason) for *where, side, reason in failures if where == [transform, workers]]
        absent += [(side, "not installed: " + reason) for side, reason in missing.items()]
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
        "| side | images/s | ratio | first batch, ms | at the start, ms | CPU ms/image | memory, MB |",
        "|---|---|---|---|---|---|---|",
    ]
    ours = per_round(lines, FIRST, "images_per_second")
    for side in unique(l["side"] for l in lines):
        speed = per_round(lines, side, "images_per_second")
        ratio = [ours[r] / speed[r] for r in speed if r in ours]
        cells = [
            spread(speed.values(), "{:.0f}"),
            "1" if side == FIRST else spread(ratio, "{:.2f}"),
            spread(per_round(lines, side, "first_ms").values(), "{:.0f}"),
            spread([l["first_ms"] for l in lines if l["side"] == side and l["epoch"] == 0], "{:.0f}"),
            spread(per_round(lines, side, "cpu_ms_per_image").values(), "{:.2f}"),
            spread([l["memory_mb"] for l in lines if l["side"] == side and l["epoch"] == 0], "{:.0f}"),
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


def spread(values, form):
    values = list(values)
    if not values:
        return "–"
    median, least, most = (form.format(f(values)) for f in (statistics.median, min, max))
    return median if least == most else f"{median} [{least}..{most}]"


def doubts(lines):
    """Sides whose evaluation batches are not those of penstock: their mean tells."""
    means = {l["side"]: l["mean"] for l in lines if l["epoch"] == 0 and l["transform"] == "eval"}
    return [
        f"**{side} did other work**: the mean of its middle batch is {mean:.4f}, penstock's {means[FIRST]:.4f}."
        for side, mean in means.items()
        if FIRST in means and abs(mean - means[FIRST]) > MEAN_TOLERANCE
    ]


def unique(values):
    return list(dict.fromkeys(values))
