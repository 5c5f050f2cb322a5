"""Loads a batch of the images in a folder with the package that is installed, as its README does."""

import sys

import penstock

loader = penstock.ImageFolder(sys.argv[1], batch_size=8, on_error="skip")
batches = list(loader)
assert [tuple(batch.image.shape) for batch in batches] == [(8, 3, 224, 224)] * 3 + [(5, 3, 224, 224)], [batch.image.shape for batch in batches]
assert sorted({int(y) for batch in batches for y in batch.label}) == [0, 1, 2, 3] and len(loader.info["classes"]) == 4
print(f"penstock {penstock.__version__}: {sum(len(batch.label) for batch in batches)} images of {loader.info['classes']}")
