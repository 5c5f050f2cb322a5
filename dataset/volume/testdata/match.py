"""Makes match.json: volumes put onto the grid of another by SimpleITK, and match/,
a patient whose files lie on three grids, one of them in RAS.

    pip install SimpleITK==2.5.7 numpy
    python match.py

Values are arithmetic, so that the tests make the same ones. No center may lie
on an outer edge or, of masks, on the edge between two voxels: there rounding tells.
"""
import json
import os

import numpy as np
import SimpleITK as sitk

FILL = -7


def values(shape):
    i = np.arange(np.prod(shape), dtype=np.int64)
    return ((i * 37 + i * i % 101) % 211 - 90).astype(np.int16).reshape(shape)


def turn(a, b, c):
    """Directions, the world's axes of x, y and z in columns, turned by three angles."""
    rx = np.array([[1, 0, 0], [0, np.cos(a), -np.sin(a)], [0, np.sin(a), np.cos(a)]])
    ry = np.array([[np.cos(b), 0, np.sin(b)], [0, 1, 0], [-np.sin(b), 0, np.cos(b)]])
    rz = np.array([[np.cos(c), -np.sin(c), 0], [np.sin(c), np.cos(c), 0], [0, 0, 1]])
    return rz @ ry @ rx


def place(im, g):
    im.SetSpacing(g["spacing"])
    im.SetOrigin(g["origin"])
    im.SetDirection(np.ravel(g["direction"]).tolist())
    return im


def grid(shape, spacing, origin, direction):
    return dict(shape=shape, spacing=list(map(float, spacing)), origin=list(map(float, origin)), direction=np.ravel(direction).tolist())


def match(moving, fixed):
    a = values(moving["shape"])
    to = place(sitk.Image(fixed["shape"][::-1], sitk.sitkInt16), fixed)
    return dict(moving=moving, fixed=fixed, fill=FILL, **{
        name: [round(float(x), 6) for x in sitk.GetArrayFromImage(sitk.Resample(
            place(sitk.GetImageFromArray(a.astype(kind)), moving), to, sitk.Transform(), how, FILL)).ravel()]
        for name, kind, how in [("linear", np.float64, sitk.sitkLinear), ("nearest", np.int16, sitk.sitkNearestNeighbor)]})


I = np.eye(3)
fixed = grid([4, 5, 6], (1.1, 1.3, 2.7), (10, -20, 30), I)
coarse = ([3, 4, 5], (1.9, 2.3, 3.1))


def cases():
    yield match(grid(*coarse, (9.3, -21.1, 28.7), I), fixed)  # beside
    yield match(grid(*coarse, (12.15, -18.3, 33.4), I), fixed)  # begins within
    yield match(grid(*coarse, (17.11, -14.3, 38.9), np.diag([-1, -1, -1])), fixed)  # all axes run back
    yield match(grid(*coarse, (9.3, -14.3, 28.7), np.diag([1, -1, 1])), fixed)
    sagittal = np.array([[0, 0, 1], [1, 0, 0], [0, -1, 0]], float)  # x runs with y, y against z, z with x
    yield match(grid(*coarse, (9.3, -21.1, 37.7), sagittal), fixed)
    yield match(grid(*coarse, (9.3, -21.1, 28.7), np.array([[0, 1, 0], [1, 0, 0], [0, 0, 1]], float)), fixed)
    yield match(grid(*coarse, (9.3, -21.1, 28.7), turn(0.31, -0.2, 0.47)), fixed)
    yield match(grid(*coarse, (9.4, -14.7, 37.9), turn(2.9, 0.13, 0.5)), fixed)
    yield match(grid(*coarse, (9.3, -21.1, 28.7), turn(0, 0, 0.6)), fixed)
    # Both oblique and parallel to each other, but for the order of axes.
    t = turn(0.4, 0.5, 0.6)
    yield match(grid([4, 3, 5], (0.9, 1.7, 0.61), (1.03, 2.01, 3.07), t @ sagittal),
                grid([3, 4, 5], (1.3, 0.7, 1.1), (0.4, 2.2, 2.9), t))
    yield match(grid([5, 5, 5], (0.37, 0.41, 0.43), (11.0, -19.0, 32.2), turn(0.1, 0.2, 0.3)), fixed)  # fine
    yield match(grid([1, 5, 4], (3.1, 2.9, 4.7), (9.3, -21.1, 34.9), turn(0.02, 0.05, 0.1)), fixed)  # one slice
    yield match(grid([1, 5, 4], (3.1, 2.9, 9.7), (9.3, -21.1, 34.9), I), grid([1, 4, 3], (1.1, 1.3, 1.0), (10, -20, 32.1), I))  # beside its center
    yield match(grid([6, 7, 8], (1.1, 1.2, 1.3), (5.17, -24.11, 26.37), I), grid([2, 3, 4], (0.9, 1.0, 0.8), (7.9, -20, 29), I))  # within
    yield match(grid([6, 7, 8], (1.1, 1.2, 1.3), (12.87, -24.11, 26.37), np.diag([-1, 1, 1])), grid([2, 3, 4], (0.9, 1.0, 0.8), (7.9, -20, 29), I))
    yield match(grid(*coarse, (9.3, -21.1, 28.7), I), grid([1, 3, 2], (1.1, 1.3, 4.0), (10, -20, 31.3), turn(0.3, 0, 0)))


here = os.path.dirname(os.path.abspath(__file__))
ct, pet, tumour = fixed, grid([3, 4, 5], (1.9, 2.3, 3.1), (9.3, -21.1, 28.7), I), grid([4, 4, 4], (1.7, 1.6, 2.3), (9.9, -20.3, 29.1), turn(0.31, -0.2, 0.47))
for name, g, kind in [("ct.nrrd", ct, np.int16), ("pet.nii", pet, np.float32), ("tumour.nii", tumour, np.uint8)]:
    a = values(g["shape"])
    sitk.WriteImage(place(sitk.GetImageFromArray((a & 3 if kind == np.uint8 else a).astype(kind)), g), os.path.join(here, "match", name))


def read(name):
    return sitk.ReadImage(os.path.join(here, "match", name))


patient = dict(
    pet=[round(float(x), 6) for x in sitk.GetArrayFromImage(sitk.Resample(read("pet.nii"), read("ct.nrrd"), sitk.Transform(), sitk.sitkLinear, FILL)).ravel()],
    tumour=sitk.GetArrayFromImage(sitk.Resample(read("tumour.nii"), read("ct.nrrd"), sitk.Transform(), sitk.sitkNearestNeighbor, 0)).ravel().tolist())
with open(os.path.join(here, "match.json"), "w") as f:
    json.dump(dict(cases=list(cases()), patient=patient), f, separators=(",", ":"))
