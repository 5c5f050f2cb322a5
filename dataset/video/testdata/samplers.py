"""Writes samplers.json: the frames that torchcodec's regular samplers take.

    pip install torchcodec==0.17.0 torch==2.15.0
    python samplers.py

The samplers ask a decoder for nothing but the number of frames and times, so that here it has no video, and gives the indices of frames.
"""
import json
import os
import random
from types import SimpleNamespace

import torch
import torchcodec
from torchcodec import FrameBatch
from torchcodec.samplers import clips_at_regular_indices, clips_at_regular_timestamps

here = os.path.dirname(os.path.abspath(__file__))
draw = random.Random(3)
taken = []


class Close(Exception):
    """A time is so near to a frame's that the rounding of torch.arange, which depends on the processor, says which frame it is."""


class Decoder:
    """A decoder of frames that are shown at pts, until end."""

    stream_index = 0

    def __init__(self, pts, end):
        self.pts, self.end = pts, end
        self._decoder = self
        self.metadata = SimpleNamespace(average_fps=len(pts) / (end - pts[0]), begin_stream_seconds=pts[0], end_stream_seconds=end,
                                        num_frames=len(pts))

    def __len__(self):
        return len(self.pts)

    def get_frames_at(self, indices):
        taken.extend(int(i) for i in indices)
        return frames(len(indices))

    def get_frames_played_at(self, seconds):
        for t in seconds:
            if any(0 < abs(float(t) - p) < 1e-9 for p in self.pts + [self.end]):
                raise Close
            taken.append(max(0, sum(p <= float(t) for p in self.pts) - 1))  # the frame that is shown
        return frames(len(seconds))


def frames(n):
    return FrameBatch(torch.zeros(n, 3, 1, 1), torch.zeros(n), torch.zeros(n))


def call(sampler, decoder, **arguments):
    taken.clear()
    try:
        sampler(decoder, **{k: v for k, v in arguments.items() if v is not None})
    except (ValueError, IndexError):
        return dict(Error=True)
    except Close:
        return None
    return dict(Want=list(taken))


def indices():
    for _ in range(800):
        n = draw.choice([1, 2, 5, 10, 33, 100, 1000])
        clips, per, between = draw.randrange(1, 12), draw.randrange(1, 9), draw.randrange(1, 6)
        start = draw.choice([None, None, 0, 1, 3, n // 2, -1, -3])
        end = draw.choice([None, None, None, n, n // 2 + 1, -1, 2 * n])
        policy = draw.choice(["repeat_last", "wrap", "error"])
        if (start or 0) < -n or (end or 0) < -n:
            continue  # torchcodec does not check them
        yield dict(N=n, Clips=clips, Frames=per, Between=between, Start=start, End=end, Policy=policy, **call(
            clips_at_regular_indices, Decoder(list(range(n)), n), num_clips=clips, num_frames_per_clip=per, num_indices_between_frames=between,
            sampling_range_start=start, sampling_range_end=end, policy=policy))


def times():
    for _ in range(900):
        n = draw.choice([1, 2, 5, 10, 60])
        rate = draw.choice([1, 24000 / 1001, 25, 30, 30000 / 1001])
        begin = draw.choice([0, 0, 1.5])
        pts = [begin + i / rate for i in range(n)]
        if draw.random() < 0.3:  # a variable rate
            pts = [begin]
            while len(pts) < n:
                pts.append(pts[-1] + draw.choice([0.02, 0.04, 0.1]))
        end = pts[-1] + 1 / rate
        every = draw.choice([0.1, 0.25, 0.5, 1.0, draw.random()]) * (end - begin)
        between = draw.choice([None, None, 1 / rate, 0.05, 0.2, 0.3 * draw.random() + 0.001])
        start = draw.choice([None, None, begin + 0.3 * (end - begin), end])
        stop = draw.choice([None, None, begin + 0.8 * (end - begin), 2 * end])
        per, policy = draw.randrange(1, 7), draw.choice(["repeat_last", "wrap", "error"])
        low, high = start or begin, min(stop or 2 * end, end - (per - 1) * (between or (end - begin) / n) if stop is None else end)
        if abs((high - low) / every - round((high - low) / every)) < 1e-9:
            continue  # rounding says whether there is one more
        result = call(clips_at_regular_timestamps, Decoder(pts, end), seconds_between_clip_starts=every, num_frames_per_clip=per, seconds_between_frames=between,
                      sampling_range_start=start, sampling_range_end=stop, policy=policy)
        if result is not None:
            yield dict(Pts=pts, End=end, Every=every, Between=between, Frames=per, Start=start, Stop=stop, Policy=policy, **result)


with open(os.path.join(here, "samplers.json"), "w") as f:
    json.dump(dict(torchcodec=torchcodec.__version__, Indices=list(indices()), Times=list(times())), f)
    f.write("\n")
