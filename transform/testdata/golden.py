"""Makes golden.json and the image files next to it with Pillow and numpy.

    pip install pillow==12.3.0 numpy
    python golden.py

and, with pillow==13.0.0, golden13.json, which has resizes alone.

The images are arithmetic, so that the tests make the same ones. Results are
kept as sha256 of their bytes: height, width, channel.
"""
import hashlib
import io
import json
import os
import zlib

import numpy as np
from PIL import Image, ImageEnhance, ImageOps
import PIL

here = os.path.dirname(os.path.abspath(__file__))
R = Image.Resampling
FILTERS = {"bilinear": R.BILINEAR, "nearest": R.NEAREST, "box": R.BOX,
           "bicubic": R.BICUBIC, "lanczos": R.LANCZOS, "hamming": R.HAMMING}


def pixels(w, h):
    x = np.arange(w, dtype=np.uint32)[None, :, None]
    y = np.arange(h, dtype=np.uint32)[:, None, None]
    c = np.arange(3, dtype=np.uint32)[None, None, :]
    v = (x * x * (7 + c) + y * y * (5 - c) + x * y * (c + 1)) >> 4
    noise = ((x * 73 + y * 151 + c * 199) * (x + 2 * y + 3 * c + 1)) & 63
    return ((v + noise) & 255).astype(np.uint8)


def image(w, h):
    return Image.fromarray(pixels(w, h))


def sha(im):
    return hashlib.sha256(np.asarray(im.convert("RGB")).tobytes()).hexdigest()


def resizes():
    sizes = [((50, 40), (20, 17)), ((20, 17), (50, 40)), ((33, 21), (33, 10)), ((33, 21), (11, 21)),
             ((64, 64), (63, 65)), ((7, 5), (1, 1)), ((1, 1), (6, 4)), ((500, 375), (341, 256)),
             ((97, 3), (10, 9)), ((200, 150), (31, 149)), ((16, 16), (16, 16)), ((301, 199), (100, 66)),
             # Whether rows or columns come first: high images, and heights that shrink more than widths.
             ((3, 301), (2, 100)), ((3, 300), (2, 100)), ((3, 350), (7, 349)), ((3, 350), (5, 400)), ((4, 500), (4, 90)),
             ((30, 90), (20, 20)), ((60, 90), (50, 69)), ((60, 90), (50, 70)), ((60, 90), (90, 89)), ((60, 90), (10, 100)),
             # Where Hamming's constants of 32 bits show.
             ((422, 209), (255, 192)), ((366, 107), (137, 67))]
    for name, f in FILTERS.items():
        for (w, h), (rw, rh) in sizes:
            full = image(w, h).resize((rw, rh), f)
            for k in range(3):
                box = [0, 0, rw, rh]
                if k and (rw < 4 or rh < 4):
                    continue
                if k == 1:
                    box = [1, 2, rw - 1, rh - 1]
                if k == 2:
                    box = [rw // 3, rh // 4, rw // 3 + rw // 2, rh // 4 + 1]
                im = full.crop(box)
                flip, upend = k == 1, k == 2
                if flip:
                    im = im.transpose(Image.Transpose.FLIP_LEFT_RIGHT)
                if upend:
                    im = im.transpose(Image.Transpose.FLIP_TOP_BOTTOM)
                yield dict(w=w, h=h, rw=rw, rh=rh, filter=name, box=box, flip=flip, upend=upend, sha=sha(im))


def evals():
    """torchvision's Resize(size) and CenterCrop(crop)."""
    for w, h, size, crop in [(50, 40, 32, 28), (40, 50, 32, 28), (51, 40, 32, 27), (500, 375, 256, 224),
                             (375, 500, 256, 224), (333, 500, 256, 224), (64, 64, 32, 40), (100, 37, 16, 33),
                             (31, 90, 20, 7), (256, 300, 256, 224), (17, 18, 9, 9), (123, 77, 60, 61)]:
        short, long = (w, h) if w <= h else (h, w)
        a, b = size, int(size * long / short)
        nw, nh = (a, b) if w <= h else (b, a)
        im = image(w, h)
        if (nw, nh) != (w, h):
            im = im.resize((nw, nh), R.BILINEAR)
        if crop > nw or crop > nh:
            left = (crop - nw) // 2 if crop > nw else 0
            top = (crop - nh) // 2 if crop > nh else 0
            right = (crop - nw + 1) // 2 if crop > nw else 0
            bottom = (crop - nh + 1) // 2 if crop > nh else 0
            canvas = Image.new("RGB", (nw + left + right, nh + top + bottom))
            canvas.paste(im, (left, top))
            im, (nw, nh) = canvas, canvas.size
        top, left = int(round((nh - crop) / 2.0)), int(round((nw - crop) / 2.0))
        yield dict(w=w, h=h, size=size, crop=crop, sha=sha(im.crop((left, top, left + crop, top + crop))))


def hue(im, factor):
    h, s, v = im.convert("HSV").split()
    a = np.asarray(h).astype(np.int32) + int(factor * 255)
    return Image.merge("HSV", (Image.fromarray((a & 255).astype(np.uint8)), s, v)).convert("RGB")


def colours():
    ops = {"brightness": lambda im, f: ImageEnhance.Brightness(im).enhance(f),
           "contrast": lambda im, f: ImageEnhance.Contrast(im).enhance(f),
           "saturation": lambda im, f: ImageEnhance.Color(im).enhance(f),
           "hue": hue}
    for name, op in ops.items():
        for f in [-0.5, -0.13, -0.001, 0.1, 0.37, 0.5] if name == "hue" else [0, 0.25, 0.6, 0.999, 1, 1.1, 1.77, 3]:
            yield dict(op=name, factor=f, sha=sha(op(image(120, 90), f)))
    yield dict(op="gray", factor=0, sha=sha(image(120, 90).convert("L")))


def cube():
    """All 2^24 colours, red fastest, to HSV and, read as HSV, back."""
    i = np.arange(1 << 24, dtype=np.uint32)
    a = np.stack([i & 255, i >> 8 & 255, i >> 16], -1).astype(np.uint8).reshape(4096, 4096, 3)
    there = np.asarray(Image.fromarray(a).convert("HSV"))
    back = np.asarray(Image.fromarray(a, "HSV").convert("RGB"))
    return [hashlib.sha256(x.tobytes()).hexdigest() for x in (there, back)]


def files():
    a = pixels(19, 13)
    rgb = Image.fromarray(a)
    alpha = np.dstack([a, (a[:, :, 0] // 2 * 2).astype(np.uint8)])
    gray16 = Image.fromarray(a[:, :, 0].astype(np.uint16) * 3)
    palette = rgb.quantize(37)
    variants = {
        "rgb.png": (rgb, {}), "gray.png": (rgb.convert("L"), {}), "rgba.png": (Image.fromarray(alpha), {}),
        "la.png": (Image.fromarray(alpha).convert("LA"), {}), "bits.png": (rgb.convert("1"), {}),
        "gray16.png": (gray16, {}), "palette.png": (palette, {}), "transparent.png": (palette, {"transparency": 3}),
        "colourkey.png": (rgb, {"transparency": tuple(int(v) for v in a[4, 4])}),
        "palette.gif": (palette, {}), "transparent.gif": (palette, {"transparency": 3}), "gray.gif": (rgb.convert("L"), {}),
        "rgb.bmp": (rgb, {}), "gray.bmp": (rgb.convert("L"), {}), "palette.bmp": (palette, {}),
        "rgb.tiff": (rgb, {}), "lzw.tiff": (rgb, {"compression": "tiff_lzw"}), "deflate.tiff": (rgb, {"compression": "tiff_adobe_deflate"}),
        "gray.tiff": (rgb.convert("L"), {}), "rgba.tiff": (Image.fromarray(alpha), {}), "palette.tiff": (palette, {}),
        "lossless.webp": (rgb, {"lossless": True}), "alpha.webp": (Image.fromarray(alpha), {"lossless": True, "exact": True}),
        "lossy.webp": (rgb, {"quality": 80}),
        "gray.jpg": (rgb.convert("L"), {"quality": 90}), "cmyk.jpg": (Image.fromarray(alpha, "CMYK"), {"quality": 95}),
        "rgb.jpg": (rgb, {"quality": 90, "subsampling": 0}), "half.jpg": (rgb, {"quality": 90, "subsampling": 2}),
    }
    for name, (im, options) in variants.items():
        path = os.path.join(here, name)
        im.save(path, **options)
        rgb_bytes = np.asarray(Image.open(path).convert("RGB")).tobytes()
        yield dict(name=name, w=im.width, h=im.height, rgb=rgb_bytes.hex())
    with open(os.path.join(here, "gray16.png"), "rb") as f:
        data = f.read()
    key = b"tRNS" + int(a[0, 1, 0] * 3).to_bytes(2, "big")
    path = os.path.join(here, "gray16key.png")
    with open(path, "wb") as f:
        f.write(data[:33] + (2).to_bytes(4, "big") + key + zlib.crc32(key).to_bytes(4, "big") + data[33:])
    yield dict(name="gray16key.png", w=19, h=13, rgb=np.asarray(Image.open(path).convert("RGB")).tobytes().hex())


def exif():
    """ImageOps.exif_transpose of half.jpg with every orientation set."""
    with open(os.path.join(here, "half.jpg"), "rb") as f:
        data = f.read()
    for o in range(1, 9):
        tiff = b"MM\0*\0\0\0\x08\0\x01\x01\x12\0\x03\0\0\0\x01\0" + bytes([o]) + b"\0\0\0\0\0\0"
        body = b"Exif\0\0" + tiff
        turned = data[:2] + b"\xff\xe1" + (len(body) + 2).to_bytes(2, "big") + body + data[2:]
        im = ImageOps.exif_transpose(Image.open(io.BytesIO(turned)))
        small = im.resize((7, 9), R.BILINEAR).crop((1, 2, 6, 9))
        yield dict(orientation=o, w=im.width, h=im.height, file=turned.hex(), sha=sha(im), small=sha(small))


def chunk(name, body):
    return len(body).to_bytes(4, "big") + name + body + zlib.crc32(name + body).to_bytes(4, "big")


def turned():
    """ImageOps.exif_transpose of files that say in other places which way up they are."""
    tiff = lambda o, kind=3: (b"II*\0\x08\0\0\0\x01\0\x12\x01" + bytes([kind]) + b"\0\x01\0\0\0" + bytes([o]) + b"\0" * 7)
    xmp = lambda o: b'<x:xmpmeta tiff:Orientation="%d"/>' % o
    app1 = lambda body: b"\xff\xe1" + (len(body) + 2).to_bytes(2, "big") + body
    digits = tiff(8).hex().encode()
    profile = b"\nexif\n      %d\n" % (len(digits) // 2) + digits[:20] + b"\n" + digits[20:] + b"\n"
    rgb = Image.fromarray(pixels(9, 5))

    def encoded(format, **options):
        out = io.BytesIO()
        rgb.save(out, format, **options)
        return out.getvalue()

    png, jpeg = encoded("PNG"), encoded("JPEG")
    adobe = b"http://ns.adobe.com/xap/1.0/\0"
    key = b"XML:com.adobe.xmp\0"
    early = lambda *c: png[:33] + b"".join(c) + png[33:]
    late = lambda *c: png[:-12] + b"".join(c) + png[-12:]
    files = {
        "PNG, eXIf": early(chunk(b"eXIf", tiff(6))),
        "PNG, eXIf at the end": late(chunk(b"eXIf", tiff(5))),
        "PNG, two of eXIf": late(chunk(b"eXIf", tiff(5)), chunk(b"eXIf", tiff(2))),
        "PNG, text named exif": early(chunk(b"tEXt", b"exif\0" + tiff(3))),
        "PNG, raw profile": early(chunk(b"tEXt", b"Raw profile type exif\0" + profile)),
        "PNG, compressed raw profile": early(chunk(b"zTXt", b"Raw profile type exif\0\0" + zlib.compress(profile))),
        "PNG, raw profile and eXIf": early(chunk(b"tEXt", b"Raw profile type exif\0" + profile), chunk(b"eXIf", tiff(4))),
        "PNG, XMP": early(chunk(b"iTXt", key + b"\0\0\0\0" + xmp(7))),
        "PNG, compressed XMP": early(chunk(b"iTXt", key + b"\1\0en\0\0" + zlib.compress(xmp(6)))),
        "PNG, XMP as plain text": early(chunk(b"tEXt", key + xmp(5))),
        "PNG, XMP and eXIf": early(chunk(b"iTXt", key + b"\0\0\0\0" + xmp(7)), chunk(b"eXIf", tiff(1))),
        "WebP, Exif": encoded("WEBP", lossless=True, exif=tiff(6)),
        "WebP, XMP": encoded("WEBP", lossless=True, xmp=xmp(8)),
        "WebP, lossy": encoded("WEBP", quality=50, exif=b"Exif\0\0" + tiff(7)),
        "JPEG, LONG": jpeg[:2] + app1(b"Exif\0\0" + tiff(6, 4)) + jpeg[2:],
        "JPEG, XMP": jpeg[:2] + app1(adobe + xmp(8)) + jpeg[2:],
        "JPEG, XMP and Exif": jpeg[:2] + app1(adobe + xmp(8)) + app1(b"Exif\0\0" + tiff(3)) + jpeg[2:],
    }
    for name, data in files.items():
        im = ImageOps.exif_transpose(Image.open(io.BytesIO(data)))
        yield dict(name=name, w=im.width, h=im.height, file=data.hex(), sha=sha(im))


if int(PIL.__version__.split(".")[0]) >= 13:
    with open(os.path.join(here, "golden13.json"), "w") as f:
        json.dump({"pillow": PIL.__version__, "resize": list(resizes())}, f, indent=0)
    raise SystemExit

golden = {"pillow": PIL.__version__, "resize": list(resizes()), "eval": list(evals()),
          "colour": list(colours()), "cube": cube(), "files": list(files()),
          "exif": list(exif()), "turned": list(turned())}
with open(os.path.join(here, "golden.json"), "w") as f:
    f.write("{\n" + ",\n".join(
        f' "{k}": ' + (json.dumps(v) if not isinstance(v, list) else "[\n  " + ",\n  ".join(map(json.dumps, v)) + "\n ]")
        for k, v in golden.items()) + "\n}\n")
