"""Tables of records as Markdown: medians over rounds, their spread, and penstock's ratio."""

import statistics

import interleave
import sides
from table import spread, unique

LEGEND = (
    "Median over rounds [least..most]; a round is the median of its epochs. Ratio: penstock's samples/s over the side's, of the "
    "same configuration, round by round. First batch: from the beginning of an epoch; at the start, with the starting of "
    "workers. The longest wait of an epoch is that behind its first batch. CPU: of all processes of the side. "
    "Memory: their proportional set size in the middle of the first epoch."
)

NONE = "–"

# What tells the rows of a table apart besides the side, where it differs within it.
COLUMNS = (("batch", "batch"), ("workers", "workers"), ("consumer_seconds", "consumer, s"), ("model", "model"), ("span", "span"))


def markdown(records, keys=COLUMNS):
    """A table per study and kind of data, of records that are complete."""
    parts = []
    for study, data in unique((r["study"], r["config"]["data"]) for r in records):
        some = [r for r in records if (r["study"], r["config"]["data"]) == (study, data)]
        parts += [f"### {study}: {data}", one(some, keys)]
    return "\n\n".join(parts)


def one(records, keys):
    """A row per configuration and side. Columns without a figure are left out."""
    configs = [r["config"] for r in records]
    shown = [k for k in keys if len({c.get(k[0]) for c in configs}) > 1]
    rows = []
    for cell in unique(values(c, keys) for c in configs):
        some = [r for r in records if values(r["config"], keys) == cell]
        ours = per_round(of(some, sides.PENSTOCK), rate)
        place = {title: written(value) for (key, title), value in zip(keys, cell) if (key, title) in shown}
        rows += [place | {"side": name} | row(of(some, name), ours, name) for name in unique(variant(r) for r in some)]
    titles = [t for t in rows[0] if any(r[t] != NONE for r in rows)]
    lines = [titles, ["---"] * len(titles)] + [[r[t] for t in titles] for r in rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def written(value):
    return NONE if value is None else f"{value:g}" if isinstance(value, (int, float)) else value


def values(config, keys):
    return tuple(config.get(k, 0 if k in ("consumer_seconds", "workers") else None) for k, _ in keys)


def variant(record):
    return record["side"] + (interleave.WITHOUT_HELP if record["config"].get("help") == "off" else "")


def of(records, name):
    return [r for r in records if variant(r) == name]


def row(records, ours, name):
    """The figures of a side, title to text."""
    speed = per_round(records, rate)
    start = [r["measured"] for r in records if not r.get("epoch")]
    return {
        "samples/s": spread(speed.values()),
        "ratio": "1" if name == sides.PENSTOCK else spread(ours[k] / speed[k] for k in speed if k in ours),
        "ms/item": measured(records, lambda m: 1000 * m.get("per_item_seconds", 0)),
        "first batch, ms": measured(records, lambda m: 1000 * m.get("first_batch_seconds", 0)),
        "at the start, ms": spread(1000 * m["first_batch_seconds"] for m in start if m.get("first_batch_seconds")),
        "median wait, ms": measured(records, lambda m: 1000 * statistics.median(m.get("waits_seconds", [])[1:] or [0])),
        "longest other wait, ms": measured(records, lambda m: 1000 * max(m.get("waits_seconds", [])[1:], default=0)),
        "CPU µs/sample": measured(records, lambda m: 1e6 * m.get("cpu_seconds", 0) / m["samples"]),
        "memory, MB": spread(m["usage"][0]["rss_bytes"] / 1e6 for m in start if m.get("usage")),
    }


def measured(records, value):
    """What value finds, round by round; nothing where it is 0 throughout."""
    found = per_round(records, value).values()
    return spread(found) if any(found) else NONE


def rate(m):
    return m["samples"] / m["seconds"]


def per_round(records, value):
    """The median over the measured epochs of every round. Where the first batch is the measurement, it is the first epoch's."""
    rounds = {}
    for r in records:
        if r.get("epoch") or r["config"].get("span") == "first batch" or r["study"] == "inference":
            rounds.setdefault(r["round"], []).append(value(r["measured"]))
    return {number: statistics.median(found) for number, found in rounds.items()}


def head(result, rounds, epochs, load, took):
    m = result.about["machine"]
    versions = {}
    for r in result.records:
        versions |= r["versions"]
    return (
        f"Measured on {result.records[-1]['date'][:10]} in {took:.0f} s: {rounds} rounds, {epochs} epochs each after one that "
        f"warms up, warm page cache.\n\nMachine: {m['cpu']}, {m['processors']} processors, {m['memory_bytes'] / 2**30:.0f} GiB, "
        f"{m['os']} {m['kernel']}; load average {load[0]} before, {load[1]} after. Versions: "
        + ", ".join(f"{name} {version}" for name, version in versions.items())
        + "."
    )


def failures(result):
    return [f"{side} failed in {cell}: {reason}" for cell, side, reason in result.failures]
