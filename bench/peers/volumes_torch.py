"""PyTorch over NRRD volumes: pynrrd in a Dataset, DataLoader. Whole patients are decoded
for every sample, or held in memory as slices' volumes are, decoded by the first process
before the workers start, as float32, so that a slice need not be converted.
"""

import nrrd
import torch

import peer
import works

SIDE = 128  # of a slice, in voxels


def volume(path, name):
    """A volume as (1, z, y, x): a scan as float32, a mask as uint8."""
    array, _ = nrrd.read(path, index_order="C")
    return torch.from_numpy(array)[None].to(torch.uint8 if name in works.VOLUMES[2:] else torch.float32)


def patient(paths):
    return tuple(volume(paths[name], name) for name in works.VOLUMES)


class Decoded(torch.utils.data.Dataset):
    def __init__(self, o, patients):
        self.samples = o.samples
        self.patients = patients

    def __len__(self):
        return self.samples

    def __getitem__(self, i):
        return patient(self.patients[i % len(self.patients)])


class Memory(torch.utils.data.Dataset):
    def __init__(self, o, patients):
        self.samples = o.samples
        self.patients = [patient(paths) for paths in patients]

    def __len__(self):
        return self.samples

    def __getitem__(self, i):
        return self.patients[i % len(self.patients)]


class Slices(Memory):
    """Axial, coronal and sagittal slices, patient by patient, padded around their middle."""

    def __init__(self, o, patients):
        super().__init__(o, patients)
        self.places = [
            (p, axis, k)
            for p, volumes in enumerate(self.patients)
            for axis in (1, 2, 3)
            for k in range(volumes[0].shape[axis])
        ]

    def __getitem__(self, i):
        p, axis, k = self.places[i % len(self.places)]
        return tuple(pad(v.select(axis, k)) for v in self.patients[p])


def pad(cut):
    """(1, rows, columns) with zeros around it, up to SIDE."""
    rows, columns = SIDE - cut.shape[1], SIDE - cut.shape[2]
    if rows == columns == 0:
        return cut
    return torch.nn.functional.pad(cut, (columns // 2, columns - columns // 2, rows // 2, rows - rows // 2))


def make(o, patients):
    torch.set_num_threads(1)  # workers have the processors
    dataset = {"nrrd": Decoded, "volumes-cached": Memory, "volumes": Slices}[o.work](o, patients)
    loader = torch.utils.data.DataLoader(
        dataset, batch_size=o.batch, shuffle=o.shuffle, num_workers=o.workers, persistent_workers=o.workers > 0
    )
    return lambda number: iter(loader)


if __name__ == "__main__":
    peer.run(make, {"torch": torch.__version__, "pynrrd": nrrd.__version__})
