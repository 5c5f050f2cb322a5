"""pynrrd alone: a plain loop that decodes a patient's volumes, or copies them from memory,
into memory that every batch reuses.
"""

import nrrd
import numpy

import peer
import works


def make(o, patients):
    def read(paths):
        return [nrrd.read(paths[name], index_order="C")[0] for name in works.VOLUMES]

    kept = [read(paths) for paths in patients] if o.work == "volumes-cached" else None
    kinds = (numpy.float32, numpy.float32, numpy.uint8, numpy.uint8)
    shape = nrrd.read_header(patients[0]["ct"])["sizes"][::-1]
    out = [numpy.empty((o.batch, 1, *shape), kind) for kind in kinds]

    def epoch(number):
        for at in range(0, o.samples, o.batch):
            n = min(o.batch, o.samples - at)
            for j in range(n):
                k = (at + j) % len(patients)
                for rows, array in zip(out, kept[k] if kept else read(patients[k])):
                    rows[j, 0] = array
            yield tuple(rows[:n] for rows in out)

    return epoch


if __name__ == "__main__":
    peer.run(make, {"numpy": numpy.__version__, "pynrrd": nrrd.__version__})
