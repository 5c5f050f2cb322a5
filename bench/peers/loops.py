"""Loops without a loader: one process, one thread, a batch after the other, into memory that every
batch reuses. NumPy reads its own files, CIFAR's images and volumes in memory; pynrrd decodes.
"""

import numpy

import peer
import works


def make(o, inputs):
    if o.work == "cifar100":
        shapes, place = [(3, 32, 32)], None
        images, labels = inputs
        factor, one = numpy.float32(2 / 255), numpy.float32(1)
    elif o.work in ("nrrd", "volumes-cached"):
        import nrrd

        def read(paths):
            return [nrrd.read(paths[name], index_order="C")[0] for name in works.VOLUMES]

        kept = [read(paths) for paths in inputs] if o.work == "volumes-cached" else None
        shapes = [(1, *nrrd.read_header(inputs[0]["ct"])["sizes"][::-1])] * 4

        def place(i):
            return kept[i % len(inputs)] if kept else read(inputs[i % len(inputs)])

    else:
        items = inputs
        if o.work == "npy":
            items = numpy.load(inputs[0], mmap_mode="r")
        elif o.work == "npy-cached":
            items = [numpy.load(path) for path in inputs]
        shapes = [(3, 224, 224)]

        def place(i):
            item = items[i % len(items)]
            return [numpy.load(item) if o.work == "npy-items" else item]

    dtypes = (numpy.float32, numpy.float32, numpy.uint8, numpy.uint8)
    out = [numpy.empty((o.batch, *shape), dtype) for shape, dtype in zip(shapes, dtypes)]

    def epoch(number):
        for at in range(0, o.samples, o.batch):
            n = min(o.batch, o.samples - at)
            if place is None:  # operations over whole batches, which only data in one array allows
                numpy.multiply(images[at : at + n], factor, out=out[0][:n])
                out[0][:n] -= one
            else:
                for j in range(n):
                    for rows, array in zip(out, place(at + j)):
                        rows[j] = array
            yield tuple(rows[:n] for rows in out)

    return epoch


if __name__ == "__main__":
    peer.run(make, {"numpy": numpy.__version__})
