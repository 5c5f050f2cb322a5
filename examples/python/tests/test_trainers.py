"""Runs the programs of trainers.md, with the packages that are installed. `go test -run Trainers ./examples/python/tests` runs this."""

import hashlib
import importlib.util
import pathlib
import re
import tempfile
import unittest
import warnings

import numpy
import penstock
import torch
import torchvision
from torchvision.transforms import v2

PAGE = (pathlib.Path(__file__).resolve().parents[1] / "trainers.md").read_text()
EPOCHS, STEPS, CUT = 3, 6, 9  # of 22 images in batches of 4; the training ends in the middle of the second epoch
warnings.simplefilter("ignore")
torch.set_num_threads(1)


def program(title):
    """The block of Python under a heading of the page."""
    return compile(re.search(rf"## {title}\n.*?```python\n(.*?)```", PAGE, re.S)[1], f"trainers.md, {title}", "exec")


def dataset():
    ds = torchvision.datasets.CIFAR10.__new__(torchvision.datasets.CIFAR10)
    ds.data = numpy.random.default_rng(1).integers(0, 256, (22, 20, 20, 3), numpy.uint8)
    ds.targets, ds.target_transform = list(range(22)), None
    ds.transform = v2.Compose([v2.RandomResizedCrop(8), v2.RandomHorizontalFlip(), v2.ToImage(), v2.ToDtype(torch.float32, scale=True)])
    return ds


def seen(image, label):
    """What a batch is known by."""
    return label.tolist(), hashlib.sha256(image.numpy().tobytes()).hexdigest()


class Trainers(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        torch.manual_seed(0)
        sampler = torch.utils.data.DistributedSampler(dataset(), 1, 0)
        loader = penstock.DataLoader(dataset(), batch_size=4, sampler=sampler)
        self.want = [[seen(*batch) for batch in loader] for _ in range(EPOCHS)]
        self.assertNotEqual(self.want[0], self.want[1])
        self.want = sum(self.want, [])
        self.assertEqual(len(self.want), EPOCHS * STEPS)

    def need(self, package):
        if not importlib.util.find_spec(package):
            self.skipTest(f"no {package}")

    def same(self, run):
        """run(steps, checkpoint) trains up to a step, and returns the batches and the checkpoint at its end."""
        self.assertEqual(run(EPOCHS * STEPS, None)[0], self.want)
        for cut in (CUT, STEPS):  # at the end of an epoch, too
            first, checkpoint = run(cut, None)
            self.assertEqual(first, self.want[:cut])
            second, _ = run(EPOCHS * STEPS, checkpoint)
            self.assertEqual(second, self.want[cut:])

    def test_lightning(self):
        self.need("lightning")
        import lightning
        from lightning.pytorch.callbacks import ModelCheckpoint

        class Model(lightning.LightningModule):
            def __init__(self):
                super().__init__()
                self.layer, self.seen = torch.nn.Linear(3 * 8 * 8, 22), []

            def training_step(self, batch, index):
                self.seen.append(seen(batch.image, batch.label))
                return torch.nn.functional.cross_entropy(self.layer(batch.image.flatten(1)), batch.label)

            def configure_optimizers(self):
                return torch.optim.SGD(self.parameters(), 0.01)

        def run(steps, checkpoint):
            with tempfile.TemporaryDirectory() as root:
                save = ModelCheckpoint(self.folder, "{step}", every_n_train_steps=1, save_top_k=-1)
                trainer = lightning.Trainer(
                    accelerator="cpu", max_epochs=EPOCHS, max_steps=steps, callbacks=[save], default_root_dir=root, logger=False,
                    enable_progress_bar=False, enable_model_summary=False,
                )
                model = Model()
                exec(program("Lightning"), {"train": dataset(), "model": model, "trainer": trainer, "checkpoint": checkpoint})
                return model.seen, f"{self.folder}/step={steps}.ckpt"

        self.same(run)

    def test_accelerate(self):
        self.need("accelerate")

        def run(steps, checkpoint):
            got, folder = [], f"{self.folder}/{steps}"
            begun = int(pathlib.Path(checkpoint).name) if checkpoint else 0

            class Model(torch.nn.Module):
                def __init__(self):
                    super().__init__()
                    self.layer = torch.nn.Linear(3 * 8 * 8, 22)

                def forward(self, image):
                    got.append(image)
                    return self.layer(image.flatten(1))

            class Ended(Exception):
                pass

            def after(accelerator):
                if begun + len(got) == steps:
                    accelerator.save_state(folder)
                    raise Ended

            model = Model()
            names = {"train": dataset(), "model": model, "optimizer": torch.optim.SGD(model.parameters(), 0.01), "checkpoint": checkpoint, "epochs": EPOCHS, "after": after}
            with self.assertRaises(Ended):
                exec(program("accelerate"), names)
            digests = {digest: label for label, digest in self.want}
            batches = [seen(image, torch.zeros(0))[1] for image in got]
            return [(digests[each], each) for each in batches], folder

        self.same(run)

    def test_transformers(self):
        self.need("accelerate")
        self.need("transformers")
        import transformers

        class Model(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.layer, self.seen = torch.nn.Linear(3 * 8 * 8, 22), []

            def forward(self, pixel_values, labels):
                self.seen.append(seen(pixel_values, labels))
                return {"loss": torch.nn.functional.cross_entropy(self.layer(pixel_values.flatten(1)), labels)}

        def run(steps, checkpoint):
            model = Model()
            arguments = transformers.TrainingArguments(
                self.folder, num_train_epochs=EPOCHS, max_steps=steps if steps < EPOCHS * STEPS else -1, per_device_train_batch_size=4,
                save_strategy="steps", save_steps=1, use_cpu=True, report_to=[], disable_tqdm=True, logging_steps=100,
            )
            exec(program("transformers"), {"train": dataset(), "model": model, "args": arguments, "checkpoint": checkpoint})
            return model.seen, f"{self.folder}/checkpoint-{steps}"

        self.same(run)


if __name__ == "__main__":
    unittest.main()
