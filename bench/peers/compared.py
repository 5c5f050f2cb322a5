"""Tables of records as Markdown: medians over rounds, their spread, and penstock's ratio."""

import statistics

import interleave
import sides
from table import spread, unique

HEAD = (
    "| {}side | samples/s | ratio | first batch, ms | at the start, ms | longest other wait, ms | CPU µs/sample | memory, MB |",
    "|{}---|---|---|---|---|---|---|---|",
)
LEGEND = (
    "Median over rounds [least..most]; a round is the median of its epochs. Ratio: penstock's samples/s over the side's, of the "
    "same configuration, round by round. First batch: from the beginning of an epoch; at the start, with the starting of "
    "workers. The longest wait of an epoch is that behind its first batch. CPU: of all processes of the side. "
    "Memory: their proportional set size in the middle of the first epoch."
)

# What tells the rows of a table apart besides the side, where it differs within it.
COLUMNS = (("batch", "batch"), ("workers", "workers"), ("consumer_seconds", "consumer, s"), ("simulated", "simulated"), ("span", "span"))


def markdown(records, keys=COLUMNS):
    """A table per study and kind of data, of records that are complete."""
    parts = []
    for study, data in unique((r["study"], r["config"]["data"]) for r in records):
        some = [r for r in records if (r["study"], r["config"]["data"]) == (study, data)]
        parts += [f"### {study}: {data}", one(some, keys)]
    return "\n\n".join(parts)


def one(records, keys):
    configs = [r["config"] for r in records]
    shown = [k for k in keys if len({c.get(k[0]) for c in configs}) > 1]
    rows = [HEAD[0].format("".join(title + " | " for _, title in shown)), HEAD[1].format("---|" * len(shown))]
    for cell in sorted(unique(values(c, keys) for c in configs), key=lambda v: [(x is None, str(type(x)), x) for x in v]):
        some = [r for r in records if values(r["config"], keys) == cell]
        ours = per_round(of(some, sides.PENSTOCK), rate)
        for name in unique(variant(r) for r in some):
            shown_cells = [
                "–" if value is None else f"{value:g}" if isinstance(value, (int, float)) else value
                for key, value in zip(keys, cell)
                if key in shown
            ]
            rows.append("| " + " | ".join(shown_cells + [name] + row(of(some, name), ours, name)) + " |")
    return "\n".join(rows)


def values(config, keys):
    return tuple(config.get(k, 0 if k in ("consumer_seconds", "workers") else None) for k, _ in keys)


def variant(record):
    return record["side"] + (interleave.WITHOUT_HELP if record["config"].get("help") == "off" else "")


def of(records, name):
    return [r for r in records if variant(r) == name]


def row(records, ours, name):
    speed = per_round(records, rate)
    start = [r["measured"] for r in records if not r.get("epoch")]
    return [
        spread(speed.values()),
        "1" if name == sides.PENSTOCK else spread(ours[k] / speed[k] for k in speed if k in ours),
        spread(per_round(records, lambda m: 1000 * m.get("first_batch_seconds", 0)).values()),
        spread(1000 * m.get("first_batch_seconds", m["seconds"]) for m in start),
        spread(per_round(records, lambda m: 1000 * max(m.get("waits_seconds", [0])[1:], default=0)).values()),
        spread(per_round(records, lambda m: 1e6 * m.get("cpu_seconds", 0) / m["samples"]).values()),
        spread(m["usage"][0]["rss_bytes"] / 1e6 for m in start if m.get("usage")),
    ]


def rate(m):
    return m["samples"] / m["seconds"]


def per_round(records, value):
    """The median over the measured epochs of every round. Where the first batch is the measurement, it is the first epoch's."""
    rounds = {}
    for r in records:
        if r.get("epoch") or r["config"].get("span") == "first batch":
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
