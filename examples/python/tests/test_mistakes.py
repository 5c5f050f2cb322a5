"""What a user sees: mistakes, and the exceptions that say what to do. `go test -run Mistakes ./examples/python/tests` runs this."""

import pathlib
import shutil
import tempfile
import unittest
import warnings

import numpy
import penstock
import torch
import torchvision
import torchvision.transforms as v1
from torchvision.transforms import v2

PHOTOS = pathlib.Path(__file__).resolve().parents[2] / "images" / "photos"
warnings.simplefilter("ignore")


class Mine(torch.utils.data.Dataset):
    def __len__(self):
        return 6

    def __getitem__(self, i):
        return torch.zeros(3, 2, 2), i


class Backwards(torch.utils.data.Sampler):
    def __iter__(self):
        return iter(range(5, -1, -1))


class Preset:
    """As in torchvision's training scripts."""

    transforms = v1.ToTensor()

    def __call__(self, image):
        return self.transforms(image)

    def __repr__(self):
        return "Preset()"


def dataset(transform=v1.ToTensor()):
    """Six images, which are named ds in the table."""
    ds = torchvision.datasets.CIFAR10.__new__(torchvision.datasets.CIFAR10)
    ds.data, ds.targets = numpy.zeros((6, 2, 2, 3), numpy.uint8), list(range(6))
    ds.transform, ds.target_transform = transform, None
    return ds


def read(loader):
    for _ in loader:
        pass


# What the user writes, the exception, and its text or the beginning of it.
MISTAKES = [
    # arguments
    ("DataLoader(ds, bach_size=8)", TypeError, "DataLoader() has no argument 'bach_size': did you mean 'batch_size'?"),
    ("DataLoader(ds, transform=v1.ToTensor())", TypeError, "DataLoader() has no argument 'transform': want it in the dataset: penstock.DataLoader(torchvision.datasets.ImageFolder(root, transform))"),
    ("DataLoader(ds, rank=0, num_replicas=2)", TypeError, "DataLoader() has no argument 'rank': pass sampler=DistributedSampler(dataset, num_replicas, rank)"),
    ("DataLoader(ds, batch_size='8')", TypeError, "batch_size='8': want an integer"),
    ("DataLoader(ds, batch_size=0)", ValueError, "batch_size=0: want 1 or more"),
    ("DataLoader(ds, batch_size=None)", ValueError, "batch_size=None: want a number: batches are made here, not by the dataset"),
    ("DataLoader(ds, num_workers=-1)", ValueError, "num_workers=-1: want 0 or more"),
    ("DataLoader(ds, timeout='10s')", TypeError, "timeout='10s': want a number"),
    ("DataLoader(ds, drop_last='no')", TypeError, "drop_last='no': want True or False"),
    ("DataLoader(ds, shuffle=True, generator=42)", TypeError, "generator=42: want a torch.Generator, or a number as seed="),
    ("DataLoader(ds, collate_fn='list')", TypeError, "collate_fn='list': want a function of a list of samples, or None"),
    ("DataLoader(ds, on_error='ignore')", ValueError, "on_error='ignore': want stop or skip"),
    ("ImageFolder(photos, dtype='int8')", ValueError, "dtype='int8': want float32, float16, bfloat16 or uint8"),
    ("ImageFolder(photos, rank=2, num_replicas=2)", ValueError, "rank=2: want less than num_replicas=2"),
    ("ImageFolder(photos, transform=v1.ToTensor())", TypeError, "ImageFolder() has no argument 'transform': want it in the dataset: penstock.DataLoader(torchvision.datasets.ImageFolder(root, transform))"),
    # datasets
    ("DataLoader(Mine(), batch_size=2)", TypeError, "dataset: __main__.Mine: datasets that work are torchvision's ImageFolder"),
    ("DataLoader(photos)", TypeError, "dataset: builtins.str: datasets that work are torchvision's ImageFolder"),
    ("DataLoader(torchvision.datasets.ImageFolder(photos, v1.ToTensor(), loader=open))", TypeError, "dataset: loader=<built-in function open>: want torchvision's default loader, with PIL"),
    # transforms
    ("DataLoader(dataset(v2.Compose([v2.Lambda(abs), v2.ToImage()])))", TypeError, "dataset.transform[0]: Lambda(abs, types=['object']) (torchvision.transforms.v2._misc.Lambda): a function cannot be translated: apply it to the batches in the loop, or write the step in Go"),
    ("DataLoader(dataset(v1.Resize(8)))", TypeError, "dataset.transform: the transform gives PIL images, which are no batch: put ToTensor() at its end"),
    ("DataLoader(dataset(v1.Compose([v1.Normalize([0.5], [0.5]), v1.ToTensor()])))", TypeError, "dataset.transform[0]: Normalize(mean=[0.5], std=[0.5]) (torchvision.transforms.transforms.Normalize): it is for tensors: put ToTensor() or ToImage() before it"),
    ("DataLoader(torchvision.datasets.ImageFolder(photos, v1.ToTensor()), batch_size=8)", penstock.Error, "penstock-images ended with status 1: transform: the size varies from image to image after the images of the dataset: add CenterCrop(n), RandomCrop(n), RandomResizedCrop(n) or Resize("),
    ("explain('resize')", TypeError, "transform: 'resize' (builtins.str): what works are the classes of torchvision.transforms and torchvision.transforms.v2, timm's create_transform, and transformers' image processors"),
    ("explain(Preset())", TypeError, "transform: Preset() (__main__.Preset): what works are the classes of torchvision.transforms and torchvision.transforms.v2, timm's create_transform, and transformers' image processors; if all that it does are its transforms, give those: Preset(…).transforms"),
    # orders
    ("DataLoader(ds, sampler=[3, 1], shuffle=True)", ValueError, "sampler: want no shuffle beside it"),
    ("DataLoader(ds, sampler=[3, 6])", ValueError, "sampler: index 6: want 0 to 5"),
    ("DataLoader(ds, sampler=Backwards())", TypeError, "sampler: __main__.Backwards: samplers that work are torch's SequentialSampler"),
    ("DataLoader(ds, sampler=torch.utils.data.DistributedSampler(range(9), 2, 0))", ValueError, "sampler: it is for 9 samples: want 6"),
    ("DataLoader(ds, sampler=torch.utils.data.SequentialSampler(range(3)))", ValueError, "sampler: it is for 3 samples: want 6"),
    ("DataLoader(ds, sampler=torch.utils.data.RandomSampler(range(3), replacement=True))", ValueError, "sampler: it is for 3 samples: want 6"),
    ("DataLoader(ds, sampler=torch.utils.data.RandomSampler(ds, num_samples=4))", ValueError, "sampler: num_samples=4 without replacement: want 6, or replacement=True"),
    ("DataLoader(ds, sampler=torch.utils.data.WeightedRandomSampler([1, 1, float('nan'), 1, 1, 1], 3))", ValueError, "sampler: the weight of sample 2 is nan: want a finite number"),
    ("DataLoader(torch.utils.data.Subset(torchvision.datasets.ImageFolder(photos, v1.ToTensor()), [-31]))", IndexError, "dataset.dataset: index -31: want -30 to 29"),
    ("DataLoader(ds, sampler=torch.utils.data.SubsetRandomSampler([6]))", IndexError, "dataset: index 6: want -6 to 5"),
    ("DataLoader(ds, batch_sampler=iter([[3, 1]]))", TypeError, "batch_sampler: want a list of lists of indices, such as list(batch_sampler), which is the same in every epoch"),
    # files
    ("ImageFolder('no/such/folder')", FileNotFoundError, "root="),
    ("ImageFolder(empty)", penstock.Error, "penstock-images ended with status 1: dataset: folder: no class: want a folder per class at the top"),
    ("read(ImageFolder(photos))", penstock.Error, "loader: sample 29 (tiles/truncated.jpg), epoch 0, batch 29: transform: decode: JPEG: jpeg: at byte 11295: entropy code: unexpected EOF: repair it, or leave such samples out by on_error='skip'"),
    ("read(DataLoader(gone()))", penstock.Error, "loader: sample 0, epoch 0, batch 0: open "),
    # programs
    ("Loader('squares')", FileNotFoundError, "[Errno 2] No such file or directory: want what go build has made, such as ./program: 'squares'"),
    ("Loader(photos)", PermissionError, "[Errno 13] Permission denied: want what go build has made, such as ./program: "),
    ("Loader('true')", penstock.Error, "true ended with status 0: no message: want a program that calls share.Serve"),
    # loaders
    ("DataLoader(ds).load_state_dict(torch.nn.Linear(1, 1).state_dict())", ValueError, "load_state_dict: want what state_dict() of a loader has returned, and not the keys ['bias', 'weight']"),
    ("read(restored(DataLoader(ds, shuffle=True, seed=1), DataLoader(ds, shuffle=True, seed=2)))", penstock.Error, "loader: From: the position was taken with Seed(2), this loader has Seed(1): want the data, the order and the seed of the loader whose state_dict() it was"),
    ("DataLoader(ds).set_epoch(-1)", ValueError, "epoch=-1: want 0 or more"),
    ("setattr(DataLoader(ds), 'batch_size', 8)", ValueError, "batch_size cannot be changed: make another DataLoader with batch_size=8"),
    ("DataLoader(ds).batch_sampler", AttributeError, "batch_sampler: the batches are made in Go: go on in an epoch with load_state_dict(), and with transformers' Trainer set ignore_data_skip=True"),
]

# Every text has words that tell what to do.
WHAT_TO_DO = r"want|did you mean|pass |put |add |what works are|that work are|make another|repair|apply it|go on"


def restored(loader, other):
    next(iter(other))
    loader.load_state_dict(other.state_dict())
    return loader


class Mistakes(unittest.TestCase):
    def test_each_has_an_exception_that_says_what_to_do(self):
        self.assertGreaterEqual(len(MISTAKES), 30)
        with tempfile.TemporaryDirectory() as folder:
            (pathlib.Path(folder) / "empty").mkdir()

            def gone():
                """An ImageFolder whose file is deleted."""
                root = pathlib.Path(folder) / "gone"
                shutil.copytree(PHOTOS / "hills", root / "hills")
                ds = torchvision.datasets.ImageFolder(root, v1.Compose([v1.CenterCrop(8), v1.ToTensor()]))
                shutil.rmtree(root)
                return ds

            names = {**vars(penstock), **globals(), "ds": dataset(), "photos": str(PHOTOS), "empty": folder + "/empty", "gone": gone}
            for written, kind, text in MISTAKES:
                with self.subTest(written):
                    with self.assertRaises(kind) as raised:
                        eval(written, names)
                    self.assertIs(type(raised.exception), kind)
                    got = str(raised.exception)
                    print(f"{written}\n    {kind.__name__}: {got}")
                    self.assertTrue(got.startswith(text), f"got {got!r}, want {text!r}")
                    self.assertRegex(got, WHAT_TO_DO)


if __name__ == "__main__":
    unittest.main()
