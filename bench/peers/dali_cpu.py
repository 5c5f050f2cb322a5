"""NVIDIA DALI on processors alone: a pipeline of native threads over the files.

Evaluation resizes only what the crop needs; training decodes only what its crop
needs; of videos a clip at a random place. Batches are DALI's own memory, looked at
without a copy.
"""

import numpy
from nvidia import dali
from nvidia.dali import fn, types

import peer


@dali.pipeline_def
def pipeline(o, photos):
    drawn = [photos[i % len(photos)] for i in range(o.samples)]
    files, labels = fn.readers.file(
        files=[path for path, _ in drawn],
        labels=[label for _, label in drawn],
        shuffle_after_epoch=o.shuffle,
        name="reader",
    )
    if o.work == "eval":
        images = fn.decoders.image(files, device="cpu", output_type=types.RGB)
        images = fn.resize_crop_mirror(
            images,
            resize_shorter=o.resize,
            crop=(o.size, o.size),
            antialias=True,
            # the nearest to torchvision's: a whole number of pixels, and of two middles the upper left
            subpixel_scale=False,
            rounding="truncate",
        )
        mirror = 0
    else:
        images = fn.decoders.image_random_crop(
            files,
            device="cpu",
            output_type=types.RGB,
            random_area=[0.08, 1.0],
            random_aspect_ratio=[3 / 4, 4 / 3],
            num_attempts=10,
        )
        images = fn.resize(images, size=(o.size, o.size), antialias=True)
        mirror = fn.random.coin_flip(probability=0.5)
    images = fn.crop_mirror_normalize(
        images,
        dtype=types.FLOAT,
        output_layout="CHW",
        mean=[255 * m for m in peer.MEAN],
        std=[255 * s for s in peer.STD],
        mirror=mirror,
    )
    return images, labels


@dali.pipeline_def
def clips(o, videos):
    """DALI wants to know how long the videos are. It decodes VP8, VP9 and MJPEG on processors."""
    files, labels = fn.readers.file(files=[videos[i % len(videos)] for i in range(o.samples)], shuffle_after_epoch=o.shuffle, name="reader")
    last = 300 - peer.STRIDE * (peer.FRAMES - 1)
    begin = fn.cast(fn.random.uniform(range=[0, last]), dtype=types.INT32)
    frames = fn.decoders.video(files, device="cpu", start_frame=begin, sequence_length=peer.FRAMES, stride=peer.STRIDE)
    return fn.transpose(fn.resize(frames, size=(o.size, o.size), antialias=True), perm=[0, 3, 1, 2]), labels


def make(o, files):
    pipe = (clips if o.work.startswith("clips") else pipeline)(o, files, batch_size=o.batch, num_threads=max(1, o.workers), device_id=None, seed=0)

    def epoch(number):
        if number == 0:
            pipe.build()
        for _ in range((o.samples + o.batch - 1) // o.batch):
            images, labels = pipe.run()
            yield numpy.asarray(images.as_tensor()), numpy.asarray(labels.as_tensor())

    return epoch


if __name__ == "__main__":
    peer.run(make, {"dali": dali.__version__})
