#!/usr/bin/env python
"""Writes small files of the Python version of CIFAR, as every Python pickles them.

    python2.7 make.py DIR      # NumPy 1.16.6, protocol 2: what the original files are
    python3 make.py DIR        # protocols 2 to 5
    tar --sort=name --owner=0 --group=0 --mtime=@0 -cf - -C DIR . | gzip -9n > golden.tar.gz

Images k of file f have one colour per plane: 10 * f + k, 100 + f and 200 + k.
"""
import os
import pickle
import sys

import numpy

try:
    import cPickle as pickle  # noqa: F811
except ImportError:
    pass


def image(f, k):
    row = numpy.empty(3072, "u1")
    row[:1024], row[1024:2048], row[2048:] = 10 * f + k, 100 + f, 200 + k
    return row


def write(folder, name, value, protocol):
    if not os.path.isdir(folder):
        os.makedirs(folder)
    with open(os.path.join(folder, name), "wb") as out:
        pickle.dump(value, out, protocol)


def main(root):
    major = sys.version_info[0]
    for protocol in [2] if major == 2 else [2, 3, 4, 5]:
        top = os.path.join(root, "python%d-%d" % (major, protocol))
        ten = os.path.join(top, "cifar-10-batches-py")
        for f in range(6):
            data = numpy.array([image(f, k) for k in range(2)])
            names = ["image_%d_%d.png" % (f, k) for k in range(2)]
            write(ten, "data_batch_%d" % f if f else "test_batch", {
                "batch_label": "batch %d" % f, "labels": [f, 9 - f], "data": data, "filenames": names}, protocol)
        write(ten, "batches.meta", {
            "num_cases_per_batch": 2, "num_vis": 3072, "label_names": ["class %d" % k for k in range(10)]}, protocol)
        hundred = os.path.join(top, "cifar-100-python")
        for f, name in enumerate(["train", "test"]):
            data = numpy.array([image(f, k) for k in range(3)])
            write(hundred, name, {
                "filenames": ["a", "b", "c"], "batch_label": name, "fine_labels": [0, 50 + f, 99], "coarse_labels": [19, 7 + f, 0],
                "data": data}, protocol)
        write(hundred, "meta", {
            "fine_label_names": ["fine %d" % k for k in range(100)],
            "coarse_label_names": ["coarse %d" % k for k in range(20)]}, protocol)


if __name__ == "__main__":
    main(sys.argv[1])
