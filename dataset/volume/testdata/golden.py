"""Makes golden.json: volumes resampled by SimpleITK and SciPy.

    pip install SimpleITK==2.5.7 scipy==1.17.1 numpy
    python golden.py

Values are arithmetic, so that the tests make the same ones.
"""
import json
import os

import numpy as np
import scipy.ndimage
import SimpleITK as sitk


def values(shape):
    i = np.arange(np.prod(shape), dtype=np.int64)
    return ((i * 37 + i * i % 101) % 211 - 90).astype(np.int16).reshape(shape)


def itk(a, spacing, to, nearest):
    """Resamples to the grid that begins at the same outer edge.

    No center may lie at or beyond the old outer edge at the end: there ITK's
    extrapolator takes the nearest voxel along all axes.
    """
    im = sitk.GetImageFromArray(a.astype(np.int16 if nearest else np.float64))
    im.SetSpacing(spacing[::-1])
    im.SetOrigin([10.0, -20.0, 30.0][: a.ndim])
    size = [max(1, int(np.floor(n * s / t + 0.5))) for n, s, t in zip(a.shape, spacing, to)]
    f = sitk.ResampleImageFilter()
    f.SetInterpolator(sitk.sitkNearestNeighbor if nearest else sitk.sitkLinear)
    f.SetSize(size[::-1])
    f.SetOutputSpacing(to[::-1])
    f.SetOutputDirection(im.GetDirection())
    f.SetOutputOrigin([o + (t - s) / 2 for o, s, t in zip(im.GetOrigin(), spacing[::-1], to[::-1])])
    f.UseNearestNeighborExtrapolatorOn()
    out = f.Execute(im)
    return dict(shape=size, origin=list(out.GetOrigin()),
                values=[round(float(x), 6) for x in sitk.GetArrayFromImage(out).ravel()])


def cases():
    for shape, spacing, to in [
        ((3, 4, 5), (3.0, 1.0, 1.0), (1.0, 1.0, 1.0)),
        ((4, 6, 5), (1.0, 0.8, 0.7), (2.6, 1.1, 1.9)),
        ((2, 3, 4), (2.0, 2.0, 2.0), (0.9, 1.3, 0.61)),
        ((1, 4, 4), (5.0, 1.0, 1.0), (2.5, 3.0, 0.5)),
        ((5, 5, 5), (1.0, 1.0, 1.0), (5.0, 1.0, 2.5)),
        ((6, 7), (1.5, 0.5), (0.7, 0.9)),
    ]:
        a = values(shape)
        yield dict(shape=shape, spacing=spacing, to=to, linear=itk(a, spacing, to, False), nearest=itk(a, spacing, to, True))


def zooms():
    """SciPy agrees where sizes divide: its scale is old size / new size."""
    for shape, factor in [((3, 4, 5), (2, 3, 2)), ((4, 6), (0.5, 2))]:
        out = scipy.ndimage.zoom(values(shape).astype(np.float64), factor, order=1, mode="nearest", grid_mode=True)
        yield dict(shape=shape, to=[1 / f for f in factor], values=[round(float(x), 6) for x in out.ravel()])


here = os.path.dirname(os.path.abspath(__file__))
with open(os.path.join(here, "golden.json"), "w") as f:
    json.dump(dict(itk=list(cases()), zoom=list(zooms())), f, separators=(",", ":"))
