"""What the sides without a loader share: one process, one thread, a batch after the other,
into memory that every batch reuses.
"""

import numpy


def batches(o, shape, place):
    """An epoch of batches, (batch, *shape) float32. place(out, i) writes sample i into its row."""
    out = numpy.empty((o.batch, *shape), numpy.float32)

    def epoch(number):
        for at in range(0, o.samples, o.batch):
            n = min(o.batch, o.samples - at)
            for j in range(n):
                place(out[j], at + j)
            yield (out[:n],)

    return epoch
