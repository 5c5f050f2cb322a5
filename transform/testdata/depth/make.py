"""Writes the files of this folder, and golden.json:

    files   the SHA-256 of the samples of each file, one plane after the other as float32
    steps   what torchvision makes of tensors of numbers that the test makes too
    colours the same for changes of colours

Integers are converted to float32 first, and rounded after a resize: torchvision has no
kernels for uint16, and cuts off instead. The script checks that this is at most one level.

Needs torchvision 0.29, tifffile, imagecodecs and numpy. The test needs none of them.
"""

import base64
import hashlib
import json
import pathlib
import struct
import zlib

import imagecodecs  # noqa: F401, for the compressions of tifffile
import numpy
import tifffile
import torch
import torchvision
from torchvision.transforms.v2 import InterpolationMode
from torchvision.transforms.v2 import functional as F

assert torchvision.__version__.startswith("0.29"), torchvision.__version__
here = pathlib.Path(__file__).parent
for old in here.iterdir():
    if old.suffix != ".py":
        old.unlink()
files = {}
MOST = {"uint8": 255, "uint16": 65535, "int16": 32767, "float32": 1}


def numbers(dtype, shape, seed):
    """Numbers of a linear congruential generator."""
    out, x = [], seed
    for _ in range(int(numpy.prod(shape))):
        x = (1664525 * x + 1013904223) & 0xFFFFFFFF
        out.append((x >> 8) / (1 << 24) if dtype == "float32" else x >> 16)
    return numpy.array(out, "float32" if dtype == "float32" else "uint16").astype(dtype).reshape(shape)


def keep(name, data, planes):
    """A file of which the samples are planes (c, h, w)."""
    (here / name).write_bytes(data)
    planes = numpy.ascontiguousarray(planes, "<f4")
    files[name] = {"shape": list(planes.shape), "sha256": hashlib.sha256(planes.tobytes()).hexdigest()}


def png(name, colour, depth, image, planes, extra=b""):
    """image is (h, w, c), or rows of bytes."""
    h, w = planes.shape[1:]
    rows = [r.astype(">u2" if depth == 16 else "u1").tobytes() if not isinstance(r, bytes) else r for r in image]
    chunks = [(b"IHDR", struct.pack(">IIBBBBB", w, h, depth, colour, 0, 0, 0))]
    if extra:
        chunks.append((extra[:4], extra[4:]))
    chunks += [(b"IDAT", zlib.compress(b"".join(b"\0" + r for r in rows), 9)), (b"IEND", b"")]
    data = b"\x89PNG\r\n\x1a\n"
    for kind, body in chunks:
        data += struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))
    keep(name, data, planes)


def interleaved(planes):
    return numpy.ascontiguousarray(planes.transpose(1, 2, 0))


H, W = 13, 17
for channels, colour in ((1, 0), (2, 4), (3, 2), (4, 6)):
    x = numbers("uint16", (channels, H, W), channels)
    png(f"png16-x{channels}.png", colour, 16, interleaved(x), x)
    x = numbers("uint8", (channels, H, W), channels)
    png(f"png8-x{channels}.png", colour, 8, interleaved(x), x.astype("u4") * 257)
x = numbers("uint16", (1, H, W), 1)
png("png16-x1-key.png", 0, 16, interleaved(x), x, b"tRNS" + struct.pack(">H", int(x[0, 3, 3])))
x = numbers("uint16", (3, H, W), 3)
png("png16-x3-key.png", 2, 16, interleaved(x), x, b"tRNS" + struct.pack(">HHH", *(int(v) for v in x[:, 3, 3])))
x = numbers("uint8", (1, H, W), 9) & 3
png("png2-x1.png", 0, 2, [bytes(sum(int(v) << (6 - 2 * i) for i, v in enumerate(row[at:at + 4])) for at in range(0, W, 4)) for row in x[0]], x * 21845.0)
palette = numbers("uint8", (256, 3), 7)
x = numbers("uint8", (1, H, W), 8)
png("png8-palette.png", 3, 8, interleaved(x), palette[x[0]].transpose(2, 0, 1) * 257.0, b"PLTE" + palette.tobytes())


def tiff(name, planes, expected=None, planar=False, **options):
    image = planes if planar or len(planes) == 1 else interleaved(planes)
    if len(planes) == 1:
        image = planes[0]
    tifffile.imwrite(here / name, image, planarconfig="separate" if planar else "contig" if len(planes) > 1 else None,
                     photometric=options.pop("photometric", "minisblack"), metadata=None, software=False, **options)
    data = (here / name).read_bytes()
    back = tifffile.imread(here / name)
    assert (back == image).all(), name
    keep(name, data, planes.astype("f4") if expected is None else expected)


for channels in (1, 3, 4, 12):
    x = numbers("uint16", (channels, H, W), channels)
    colours = {"photometric": "rgb"} if channels == 3 else {}
    tiff(f"tiff16-x{channels}.tif", x, **colours)
    if channels > 1:
        tiff(f"tiff16-x{channels}-planes.tif", x, planar=True, rowsperstrip=5, **colours)
tiff("tiff16-x12-deflate-predict.tif", x, compression="deflate", predictor=True, rowsperstrip=4)
tiff("tiff16-x12-lzw-planes-tiles-high.tif", x, compression="lzw", planar=True, tile=(16, 16), byteorder=">")
tiff("tiff16-x12-zstd-tiles-predict-high.tif", x, compression="zstd", predictor=True, tile=(16, 16), byteorder=">", bigtiff=True)
x = numbers("uint16", (1, H, W), 5)
tiff("tiff16-x1-white.tif", x, photometric="miniswhite")
tiff("tiff16-x1-packbits-high.tif", x, compression="packbits", byteorder=">")
tiff("tiff16-x1-orientation6.tif", x, numpy.rot90(x, -1, (1, 2)), extratags=[(274, 3, 1, 6, True)])
tiff("tiff16-x1-orientation3.tif", x, numpy.rot90(x, 2, (1, 2)), extratags=[(274, 3, 1, 3, True)], compression="deflate", tile=(16, 16))
x = numbers("uint8", (5, H, W), 6)
tiff("tiff8-x5.tif", x, x * 257.0)
tiff("tiff8-x5-planes-deflate.tif", x, x * 257.0, planar=True, compression="deflate")
x = numbers("int16", (2, H, W), 6)
tiff("tiffint16-x2.tif", x)
tiff("tiffint16-x2-lzw-high.tif", x, compression="lzw", byteorder=">")
x = (numbers("float32", (3, H, W), 6) - 0.5) * 1e6
x[0, 0, :4] = numpy.inf, -numpy.inf, -0.0, 1e-42
tiff("tiff32float-x3.tif", x)
tiff("tiff32float-x3-planes-predict.tif", x, planar=True, compression="deflate", predictor=True)
tiff("tiff32float-x3-high-predict.tif", x, compression="zstd", predictor=True, byteorder=">")

x = numbers("uint16", (1, H, W), 10)
keep("pgm16.pgm", b"P5\n%d %d\n65535\n" % (W, H) + x.astype(">u2").tobytes(), x)
keep("pgm-plain.pgm", b"P2\n%d %d\n65535\n" % (W, H) + b"\n".join(b" ".join(b"%d" % v for v in row) for row in x[0]) + b"\n", x)
x = numbers("uint16", (3, H, W), 11)
keep("ppm16.ppm", b"P6\n%d %d\n65535\n" % (W, H) + interleaved(x).astype(">u2").tobytes(), x)
x = numbers("uint16", (1, H, W), 12) & 4095
keep("pgm12.pgm", b"P5\n%d %d\n4095\n" % (W, H) + x.astype(">u2").tobytes(), numpy.rint(x.astype("f8") * 65535 / 4095))
x = numbers("uint8", (3, H, W), 13)
keep("ppm8.ppm", b"P6\n%d %d\n255\n" % (W, H) + interleaved(x).tobytes(), x * 257.0)
x = (numbers("float32", (1, H, W), 14) - 0.5) * 100
keep("low-first.pfm", b"Pf\n%d %d\n-1\n" % (W, H) + x[0, ::-1].astype("<f4").tobytes(), x)

steps = []
FILTERS = {"nearest0": InterpolationMode.NEAREST, "nearest": InterpolationMode.NEAREST_EXACT, "bilinear": InterpolationMode.BILINEAR, "bicubic": InterpolationMode.BICUBIC,
           "lanczos": InterpolationMode.LANCZOS}


def resized(image, dtype, size, name):
    """F.resize of a float32 tensor with values of dtype."""
    out = F.resize(image, size, FILTERS[name], antialias=True)
    if dtype == "float32" or out is image:
        return out
    least = -32768 if dtype == "int16" else 0
    if dtype == "uint16" and name == "bilinear":
        own = F.resize(image.to(torch.uint16), size, FILTERS[name], antialias=True).to(torch.float32)
        assert (own - out).abs().max() <= 1, "torchvision's uint16"
    return out.round().clamp(least, MOST[dtype])


def rounded(image, dtype):
    return image if dtype == "float32" else image.round()


def scaled(image, dtype):
    """to_dtype(float32, scale=True)."""
    if dtype == "float32":
        return image
    return F.to_dtype(image.to(getattr(torch, dtype)), torch.float32, scale=True)


def case(dtype, shape, seed, *todo):
    image = torch.from_numpy(numbers(dtype, shape, seed).astype("f4"))
    for name, *args in todo:
        if name == "resize":
            image = resized(image, dtype, args[:2], args[2])
        elif name == "resizedcrop":
            image = resized(F.crop(image, *args[:4]), dtype, args[4:6], args[6])
        elif name == "crop":
            image = F.crop(image, *args)
        elif name == "center":
            image = F.center_crop(image, args)
        elif name == "hflip":
            image = F.horizontal_flip(image)
        elif name == "vflip":
            image = F.vertical_flip(image)
        elif name == "pad":
            image = F.pad(image, args[:4], padding_mode=args[4])
        elif name == "rotate":
            angle, name, expand = args
            image = rounded(F.rotate(image, angle, FILTERS[name.replace("nearest", "nearest0")], bool(expand), fill=0), dtype)
        elif name == "affine":
            angle, scale, shear_x, shear_y, name = args
            image = rounded(F.affine(image, angle, [0, 0], scale, [shear_x, shear_y], FILTERS[name.replace("nearest", "nearest0")], fill=0), dtype)
        elif name == "blur":
            image = rounded(F.gaussian_blur(image, [args[1], args[0]], [args[2]] * 2), dtype)
        elif name == "totensor":
            image = scaled(image, dtype)
        elif name == "normalize":
            image = F.normalize(image, *args)
        else:
            raise ValueError(name)
    steps.append({
        "dtype": dtype, "shape": shape, "seed": seed, "steps": [[str(v) for v in s] if s[0] != "normalize" else [s[0]] + [" ".join(map(str, v)) for v in s[1:]] for s in todo],
        "result": list(image.shape), "values": base64.b64encode(image.contiguous().numpy().astype("<f4").tobytes()).decode(),
    })


for dtype in ("uint16", "float32", "int16", "uint8"):
    for name in list(FILTERS)[1:]:
        for at, (size, to) in enumerate((((2, 23, 31), (7, 9)), ((1, 9, 8), (17, 13)), ((1, 40, 7), (6, 15)), ((3, 12, 12), (12, 5)))):
            case(dtype, size, 1 + at, ("resize", *to, name))
    case(dtype, (2, 31, 29), 7, ("resizedcrop", 3, 5, 20, 17, 6, 7, "bilinear"), ("hflip",))
    case(dtype, (2, 31, 29), 8, ("crop", 4, 5, 9, 8), ("vflip",), ("totensor",))
    case(dtype, (2, 31, 29), 9, ("resize", 12, 11, "bicubic"), ("center", 8, 7), ("hflip",), ("totensor",))
    case(dtype, (5, 9, 9), 10, ("center", 12, 11), ("totensor",), ("normalize", [0.1, 0.2, 0.3, 0.4, 0.5], [0.5, 0.4, 0.3, 0.2, 0.1]))
    for mode in ("constant", "edge", "reflect", "symmetric"):
        case(dtype, (2, 6, 5), 11, ("pad", 1, 2, 3, 4, mode), ("resize", 7, 8, "bilinear"))

    for name in ("nearest", "bilinear"):
        for angle, expand in ((30, 0), (-77.5, 0), (40, 1), (90, 0), (180, 0)):
            case(dtype, (1, 10, 12), 12, ("rotate", angle, name, expand))
        case(dtype, (1, 10, 12), 13, ("affine", 20, 1.3, 10, -5, name))
        case(dtype, (1, 10, 12), 14, ("affine", -50, 0.6, 0, 0, name))
    case(dtype, (1, 10, 12), 15, ("blur", 5, 3, 0.8))
    case(dtype, (1, 10, 12), 16, ("blur", 7, 9, 2.5))

colours = []
for dtype in ("uint16", "float32", "int16", "uint8"):
    for channels in (1, 3):
        for name, arg in (("brightness", 0.7), ("brightness", 1.6), ("contrast", 0.3), ("contrast", 1.7), ("invert", 0), ("solarize", 0.4), ("autocontrast", 0)):
            image = torch.from_numpy(numbers(dtype, (channels, 5, 6), 20)) if dtype != "uint16" else torch.from_numpy(numbers(dtype, (channels, 5, 6), 20).astype("f4"))
            if name in ("brightness", "contrast"):
                if dtype == "uint16":  # torchvision with the range of uint16
                    out = image.mul(arg) if name == "brightness" else image
                    if name == "contrast":
                        grey = (image[0:1] * 0.2989 + image[1:2] * 0.587 + image[2:3] * 0.114).floor() if channels == 3 else image
                        out = image.mul(arg).add(grey.mean(), alpha=1 - arg)
                    image = out.clamp(0, 65535).trunc()
                else:
                    image = getattr(F, f"adjust_{name}")(image, arg)
            elif name == "invert":
                image = 65535 - image if dtype == "uint16" else F.invert(image)
            elif name == "solarize":
                if dtype == "uint16":
                    image = torch.where(image >= arg * 65535, 65535 - image, image)
                else:
                    image = F.solarize(image, arg * MOST[dtype])
            elif dtype == "uint16":
                least, most = image.amin((-2, -1), True), image.amax((-2, -1), True)
                image = (image - least).div(most.sub(least).mul(1 / 65535)).clamp(0, 65535).trunc()
            else:
                image = F.autocontrast(image)
            colours.append({"dtype": dtype, "channels": channels, "name": name, "arg": arg if name != "solarize" else arg * MOST[dtype],
                            "values": base64.b64encode(image.to(torch.float32).contiguous().numpy().astype("<f4").tobytes()).decode()})

(here / "golden.json").write_text(json.dumps({"files": files, "steps": steps, "colours": colours}, indent=0).replace(",\n", ",\n") + "\n")
print(len(files), "files,", len(steps), "lists of steps,", len(colours), "changes of colours,", (here / "golden.json").stat().st_size, "bytes")
