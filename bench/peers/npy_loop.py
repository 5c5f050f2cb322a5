"""NumPy alone over its own files: a plain loop that copies rows of a mapped array, of
np.load's result, or of arrays in memory.
"""

import numpy

import loop
import peer


def make(o, paths):
    if o.work == "npy":
        items = numpy.load(paths[0], mmap_mode="r")
    elif o.work == "npy-cached":
        items = [numpy.load(path) for path in paths]
    else:
        items = paths

    def place(out, i):
        item = items[i % len(items)]
        out[:] = numpy.load(item) if o.work == "npy-items" else item

    return loop.batches(o, (3, peer.SIZE, peer.SIZE), place)


if __name__ == "__main__":
    peer.run(make, {"numpy": numpy.__version__})
