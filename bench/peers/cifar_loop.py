"""NumPy alone over CIFAR's pictures: a plain loop, normalisation per batch, into memory
that every batch reuses.
"""

import numpy

import peer


def make(o, inputs):
    pictures, labels = inputs
    if o.samples > len(pictures):
        raise SystemExit(f"{o.samples} samples: there are {len(pictures)}")
    out = numpy.empty((o.batch, *pictures.shape[1:]), numpy.float32)
    factor, one = numpy.float32(2 / 255), numpy.float32(1)

    def epoch(number):
        for at in range(0, o.samples, o.batch):
            end = min(at + o.batch, o.samples)
            batch = out[: end - at]
            numpy.multiply(pictures[at:end], factor, out=batch)
            batch -= one
            yield batch, labels[at:end]

    return epoch


if __name__ == "__main__":
    peer.run(make, {"numpy": numpy.__version__})
