"""tf.data service as a side of bench/service: a dispatcher, a worker and a client, each a process of its own.

Batches are made once and cached in the memory of the worker. They are not compressed.
"""

import argparse
import json
import os
import sys
import time

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
os.environ["CUDA_VISIBLE_DEVICES"] = "-1"

import tensorflow as tf

service = tf.data.experimental.service


def dispatch():
    server = service.DispatchServer(service.DispatcherConfig(protocol="grpc"))
    print(server.target.removeprefix("grpc://"), flush=True)
    sys.stdin.read()


def work(address):
    server = service.WorkerServer(service.WorkerConfig(dispatcher_address=address, protocol="grpc"))
    print(address, flush=True)
    sys.stdin.read()
    del server


def batches(address, o):
    def make(_):
        return tf.ones([o.rows, 3, o.side, o.side], tf.float32), tf.ones([o.rows], tf.int64)

    made = tf.data.Dataset.range(1).map(make).cache().repeat(o.batches)
    return made.apply(service.distribute(service.ShardingPolicy.OFF, f"grpc://{address}", compression=None))


def read(address, o):
    ds = batches(address, o)
    want = o.rows * (3 * o.side * o.side * 4 + 8)
    print(f"TensorFlow {tf.__version__}", flush=True)
    for _ in sys.stdin:
        begun, came = time.perf_counter(), []
        for images, labels in ds:
            came.append(time.perf_counter() - begun)
            if images.shape.num_elements() * 4 + labels.shape.num_elements() * 8 != want:
                sys.exit(f"a batch has the shapes {images.shape} and {labels.shape}")
        print(json.dumps({"batches": len(came), "first": came[0], "last": came[-1]}), flush=True)


def main():
    p = argparse.ArgumentParser(description=__doc__)
    p.add_argument("role", choices=["dispatch", "work", "read"])
    p.add_argument("-address", default="")
    p.add_argument("-rows", type=int)
    p.add_argument("-side", type=int)
    p.add_argument("-batches", type=int)
    o = p.parse_args()
    if o.role == "dispatch":
        dispatch()
    elif o.role == "work":
        work(o.address)
    else:
        read(o.address, o)


if __name__ == "__main__":
    main()
