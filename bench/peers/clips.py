"""Clips of frames of videos, by torchcodec in a DataLoader: a decoder for each clip, a random clip of its sampler, and torchvision's resize."""

import sys
import warnings

import torch
import torchcodec
import torchvision
from torchcodec.decoders import VideoDecoder
from torchcodec.samplers import clips_at_random_indices
from torchvision.transforms import v2

import peer


class Clips(torch.utils.data.Dataset):
    def __init__(self, o, videos, seek):
        self.samples, self.videos, self.seek = o.samples, videos, seek
        self.resize = v2.Resize((o.size, o.size), antialias=True)

    def __len__(self):
        return self.samples

    def __getitem__(self, i):
        decoder = VideoDecoder(self.videos[i % len(self.videos)], seek_mode=self.seek, num_ffmpeg_threads=1)
        clips = clips_at_random_indices(decoder, num_clips=1, num_frames_per_clip=peer.FRAMES, num_indices_between_frames=peer.STRIDE)
        return self.resize(clips.data[0])


def make(seek):
    def made(o, videos):
        torch.set_num_threads(1)
        loader = torch.utils.data.DataLoader(Clips(o, videos, seek), batch_size=o.batch, shuffle=o.shuffle, num_workers=o.workers, persistent_workers=True)
        return lambda number: ((clips,) for clips in loader)

    return made


if __name__ == "__main__":
    warnings.filterwarnings("ignore")
    peer.run(make(sys.argv.pop(1)), {"torchcodec": torchcodec.__version__, "torch": torch.__version__, "torchvision": torchvision.__version__})
