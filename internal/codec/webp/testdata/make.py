"""Writes the files of this folder, to golden.json what Pillow 12.3 makes of them, and to animations.json animations with Pillow's frames."""

import base64
import hashlib
import io
import json
import pathlib
import random
import struct

import PIL
from PIL import Image

assert PIL.__version__.startswith("12.3"), PIL.__version__
here = pathlib.Path(__file__).parent
draw = random.Random(3)
files = {}


def synthetic(w, h, mode="RGB", smooth=True):
    n = len(mode)
    if not smooth:
        return Image.frombytes(mode, (w, h), bytes(draw.randrange(256) for _ in range(n * w * h)))
    a, b, c = (draw.randrange(3, 40) for _ in range(3))
    data = bytes((x * a // 4 + y * b // 5 + x * y * c // 64 + 60 * k) & 255 for y in range(h) for x in range(w) for k in range(n))
    return Image.frombytes(mode, (w, h), data)


def webp(image, **options):
    out = io.BytesIO()
    image.save(out, "WEBP", **options)
    return out.getvalue()


def chunks(data):
    at, out = 12, []
    while at < len(data):
        n = struct.unpack("<I", data[at + 4:at + 8])[0]
        out.append((data[at:at + 4], data[at + 8:at + 8 + n]))
        at += 8 + n + n % 2
    return out


def frame(image, **options):
    """The chunks of a still image that are its frame."""
    return [c for c in chunks(webp(image, **options)) if c[0] in (b"ALPH", b"VP8 ", b"VP8L")]


def join(parts):
    return b"".join(name + struct.pack("<I", len(body)) + body + bytes(len(body) % 2) for name, body in parts)


def riff(parts, size=None):
    body = b"WEBP" + join(parts)
    return b"RIFF" + struct.pack("<I", len(body) if size is None else size) + body


def u24(*values):
    return b"".join(struct.pack("<I", v)[:3] for v in values)


ANIMATION, XMP, EXIF, ALPHA = 2, 4, 8, 16


def canvas(w, h, flags):
    return b"VP8X", bytes((flags, 0, 0, 0)) + u24(w - 1, h - 1)


def anim(colour=0xff336699):
    return b"ANIM", struct.pack("<IH", colour, 0)


def anmf(x, y, w, h, parts, flags=0):
    return b"ANMF", u24(x // 2, y // 2, w - 1, h - 1, 100) + bytes((flags,)) + join(parts)


for w, h in (1, 1), (2, 1), (1, 2), (3, 3), (16, 16), (17, 15), (33, 50):
    files["lossy-%d-%d.webp" % (w, h)] = webp(synthetic(w, h), quality=70)
    files["lossless-%d-%d.webp" % (w, h)] = webp(synthetic(w, h), lossless=True)
for quality in 0, 10, 50, 90, 100:
    for method in 0, 4, 6:
        files["lossy-q%d-m%d.webp" % (quality, method)] = webp(synthetic(40, 35, smooth=method != 4), quality=quality, method=method)
files["lossless-noise.webp"] = webp(synthetic(30, 20, smooth=False), lossless=True)
files["lossless-few.webp"] = webp(synthetic(40, 30).quantize(5).convert("RGB"), lossless=True)
files["lossless-plain.webp"] = webp(Image.new("RGB", (300, 200), (9, 200, 50)), lossless=True)
files["alpha-lossy.webp"] = webp(synthetic(30, 20, "RGBA"), quality=60)
files["alpha-lossy-exact.webp"] = webp(synthetic(30, 20, "RGBA"), quality=60, exact=True, alpha_quality=20)
files["alpha-lossless.webp"] = webp(synthetic(30, 20, "RGBA"), lossless=True)
files["alpha-lossless-exact.webp"] = webp(synthetic(30, 20, "RGBA"), lossless=True, exact=True)
files["metadata.webp"] = webp(synthetic(20, 10), exif=b"Exif\0\0II*\0\x08\0\0\0\0\0", xmp=b"<x/>", icc_profile=b"profile")
three = [synthetic(24, 18, smooth=i != 1) for i in range(3)]
for name, options in {"lossy": {}, "lossless": {"lossless": True}, "mixed": {"allow_mixed": True}}.items():
    files["animation-%s.webp" % name] = webp(three[0], save_all=True, append_images=three[1:], duration=50, **options)
seen = [synthetic(24, 18, "RGBA", smooth=i != 1) for i in range(3)]
files["animation-alpha.webp"] = webp(seen[0], save_all=True, append_images=seen[1:], background=(10, 20, 30, 255))
files["animation-alpha-lossless.webp"] = webp(seen[0], save_all=True, append_images=seen[1:], lossless=True)
small = synthetic(10, 8)
for name, parts in {"lossy": frame(small), "lossless": frame(small, lossless=True),
                    "alpha": frame(synthetic(10, 8, "RGBA")), "alpha-lossless": frame(synthetic(10, 8, "RGBA"), lossless=True)}.items():
    for flags in 0, 3:
        files["small-%s-%d.webp" % (name, flags)] = riff(
            [canvas(24, 18, ANIMATION | ALPHA), anim(), anmf(6, 4, 10, 8, parts, flags), anmf(0, 0, 24, 18, frame(three[0]))])
files["small-corner.webp"] = riff([canvas(24, 18, ANIMATION), anim(), anmf(14, 10, 10, 8, frame(small))])
files["one-frame.webp"] = riff([canvas(24, 18, ANIMATION), anim(), anmf(0, 0, 24, 18, frame(three[0]))])
files["unknown-chunks.webp"] = riff([canvas(24, 18, ANIMATION), (b"what", b"odd"), anim(), (b"ICCP", b"p"),
                                     anmf(0, 0, 10, 8, [(b"what", b"no frame")]), anmf(4, 2, 10, 8, frame(small))])
files["wrong-frame-size.webp"] = riff([canvas(24, 18, ANIMATION), anim(), anmf(0, 0, 5, 5, frame(small))])
still = frame(small)
files["extended.webp"] = riff([canvas(10, 8, 0)] + still)
files["trailing.webp"] = riff(still) + b"trailing"
files["trailing-chunk.webp"] = riff(still + [(b"what", b"ever")])
files["two-simple.webp"] = riff(still + frame(synthetic(6, 6)))
# What libwebp refuses.
files["no-anim.webp"] = riff([canvas(24, 18, ANIMATION), anmf(0, 0, 10, 8, still)])
files["not-animated.webp"] = riff([canvas(24, 18, 0), anim(), anmf(0, 0, 10, 8, still)])
files["beyond.webp"] = riff([canvas(24, 18, ANIMATION), anim(), anmf(16, 0, 10, 8, still)])
files["animated-still.webp"] = riff([canvas(10, 8, ANIMATION), anim()] + still)
files["other-size.webp"] = riff([canvas(11, 8, 0)] + still)
files["flags.webp"] = riff([canvas(10, 8, 64)] + still)
files["two-stills.webp"] = riff([canvas(10, 8, 0)] + still + still)
files["no-frame.webp"] = riff([canvas(10, 8, 0)])
files["no-frames.webp"] = riff([canvas(10, 8, ANIMATION), anim()])
files["size-beyond.webp"] = riff(still, size=len(join(still)) + 5)
files["size-short.webp"] = riff(still, size=len(join(still)) + 2)
files["junk.webp"] = riff(still, size=len(join(still)) + 7) + b"abc"
files["two-canvases.webp"] = riff([canvas(10, 8, 0), canvas(10, 8, 0)] + still)
files["not-first.webp"] = riff([(b"VP8 ", bytes((still[0][1][0] | 1,)) + still[0][1][1:])])
files["no-code.webp"] = riff([(b"VP8 ", still[0][1][:9])])
files["bad-lossless.webp"] = riff([(b"VP8L", b"\x2f\x09\x40\x01\x00" + bytes(draw.randrange(256) for _ in range(60)))])

golden = {}
for name, data in files.items():
    (here / name).write_bytes(data)
    try:
        rgb = Image.open(io.BytesIO(data)).convert("RGB")
        golden[name] = {"W": rgb.width, "H": rgb.height, "RGB": hashlib.sha256(rgb.tobytes()).hexdigest()}
    except Exception as e:
        golden[name] = {"Error": f"{type(e).__name__}: {e}"}
(here / "golden.json").write_text(json.dumps(golden, indent=1))
print(len(files), "files, refused:", *(n for n, g in golden.items() if "Error" in g))


def transparent(w, h):
    """A picture whose pixels are opaque, transparent or between."""
    image = synthetic(w, h, smooth=draw.random() < 0.5)
    some = [0, 255, 255, draw.randrange(256), draw.randrange(6)]
    image.putalpha(Image.frombytes("L", (w, h), bytes(draw.choice(some) for _ in range(w * h))))
    return image


def stored_alpha(w, h):
    """A lossy frame whose alpha is stored, with any filter."""
    head = draw.randrange(4) << 2 | draw.randrange(2) << 4
    return [(b"ALPH", bytes((head,)) + bytes(draw.choice([0, 1, 255, draw.randrange(256)]) for _ in range(w * h)))] + frame(synthetic(w, h))


def any_frame(w, h):
    kind = draw.randrange(5)
    if kind == 0:
        return frame(synthetic(w, h), quality=draw.randrange(100))
    if kind == 1:
        return frame(synthetic(w, h, smooth=False), lossless=True)
    if kind == 2:
        return frame(transparent(w, h), quality=draw.randrange(100), alpha_quality=draw.choice([0, 50, 100]), exact=draw.random() < 0.5)
    if kind == 3:
        return frame(transparent(w, h), lossless=True, exact=draw.random() < 0.5)
    return stored_alpha(w, h)


def animation():
    """Frames in parts of the canvas, of all kinds, blended and disposed of in all ways."""
    w, h = draw.randrange(4, 20), draw.randrange(4, 16)
    parts = []
    for k in range(draw.randrange(2, 8)):
        fw, fh = (w, h) if draw.random() < 0.4 else (draw.randrange(1, w + 1), draw.randrange(1, h + 1))
        x, y = draw.randrange((w - fw) // 2 + 1) * 2, draw.randrange((h - fh) // 2 + 1) * 2
        parts.append(anmf(x, y, fw, fh, any_frame(fw, fh), draw.randrange(4)))
    return riff([canvas(w, h, ANIMATION | ALPHA * draw.randrange(2)), anim(draw.randrange(1 << 32))] + parts)


def written():
    """An animation as Pillow writes it, in which a square moves."""
    w, h = draw.randrange(20, 50), draw.randrange(20, 40)
    ground = transparent(w, h) if draw.random() < 0.5 else synthetic(w, h)
    frames = []
    for k in range(5):
        one = ground.copy()
        one.paste(tuple(draw.randrange(256) for _ in ground.mode), (2 * k + 1, 3 * k, 2 * k + 9, 3 * k + 8))
        frames.append(one)
    options = {"lossless": draw.random() < 0.3, "allow_mixed": draw.random() < 0.3, "minimize_size": draw.random() < 0.3, "quality": draw.randrange(100)}
    return webp(frames[0], save_all=True, append_images=frames[1:], **options)


animations = []
while len(animations) < 180:
    data = written() if len(animations) % 6 == 5 else animation()
    im = Image.open(io.BytesIO(data))
    sums = []
    for k in range(im.n_frames):
        im.seek(k)
        sums.append(hashlib.sha256(im.convert("RGB").tobytes()).hexdigest()[:16])
    animations.append({"Data": base64.b64encode(data).decode(), "W": im.width, "H": im.height, "Frames": sums})
(here / "animations.json").write_text(json.dumps(animations, indent=1))
print(len(animations), "animations")
