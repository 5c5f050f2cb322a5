"""Writes the files of this folder and, to golden.json, what Pillow 12.3 makes of them."""

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
draw = random.Random(2)
W, H = 13, 11
files = {}


def noise(n, most=256):
    return bytes(draw.randrange(most) for _ in range(n))


def runs(n, most):
    """Pixels that repeat, so that strings of several are found."""
    out = b""
    while len(out) < n:
        out += out[-7:] if out and draw.random() < 0.5 else noise(1, most) * draw.randrange(1, 9)
    return out[:n]


def lzw(pixels, bits, clear_at=None, end=True, clears=1):
    """Codes, cleared when the table is full, when clear_at are in it, or never where that is 0."""
    clear, codes = 1 << bits, []
    table, size, string = {}, bits + 1, b""

    def reset():
        nonlocal table, size
        table, size = {bytes((i,)): i for i in range(min(clear, 256))}, bits + 1

    reset()
    codes += [(clear, size)] * clears
    free = clear + 2
    for p in pixels:
        p = bytes((p,))
        if string + p in table:
            string += p
            continue
        codes.append((table[string], size))
        if free < 4096:
            table[string + p] = free
            if free == 1 << size and size < 12:
                size += 1
            free += 1
        if clear_at != 0 and free >= (clear_at or 4096):
            codes.append((clear, size))
            reset()
            free = clear + 2
        string = p
    if string:
        codes.append((table[string], size))
        if free == 1 << size and size < 12:
            size += 1
    if end:
        codes.append((clear + 1, size))
    acc, n, out = 0, 0, bytearray()
    for c, s in codes:
        acc |= c << n
        n += s
        while n >= 8:
            out.append(acc & 255)
            acc, n = acc >> 8, n - 8
    if n:
        out.append(acc)
    return bytes(out)


def blocks(data, size=255):
    return b"".join(bytes((len(data[i:i + size]),)) + data[i:i + size] for i in range(0, len(data), size)) + b"\0"


def palette(n):
    return noise(3 * n)


def frame(pixels, w=W, h=H, x=0, y=0, bits=8, local=b"", interlaced=False, data=None, split=255):
    flags = 64 if interlaced else 0
    if local:
        flags |= 128 | (len(local) // 3).bit_length() - 2
    data = lzw(pixels, bits) if data is None else data
    return b"," + struct.pack("<4HB", x, y, w, h, flags) + local + bytes((bits,)) + blocks(data, split)


def gif(*parts, w=W, h=H, table=None, background=0, version=b"GIF89a", end=b";"):
    flags = 0 if table is None else 128 | (len(table) // 3).bit_length() - 2
    return version + struct.pack("<2H3B", w, h, flags, background, 0) + (table or b"") + b"".join(parts) + end


def control(transparent=None, disposal=0):
    return b"!\xf9" + blocks(bytes((disposal << 2 | (transparent is not None), 0, 0, transparent or 0)))


full, four = palette(256), palette(4)
image = runs(W * H, 256)
files["plain.gif"] = gif(frame(image), table=full)
files["version87.gif"] = gif(frame(image), table=full, version=b"GIF87a")
files["noise.gif"] = gif(frame(noise(W * H)), table=full)
files["local.gif"] = gif(frame(image, local=full))
files["local-and-global.gif"] = gif(frame(image, local=four + full[12:]), table=full)
files["no-table.gif"] = gif(frame(image))
files["gray.gif"] = gif(frame(image), table=bytes(i for i in range(256) for _ in range(3)))
files["not-cleared.gif"] = gif(frame(b"", data=lzw(runs(W * H, 4), 2, clears=0), bits=2), table=full)
files["index-beyond.gif"] = gif(frame(image), table=four)
files["gray-beyond.gif"] = gif(frame(image), table=bytes(i for i in range(16) for _ in range(3)))
files["gray-local.gif"] = gif(frame(image, local=bytes(i for i in range(16) for _ in range(3))), table=full)
files["no-trailer.gif"] = gif(frame(image), table=full, end=b"")
files["trailing.gif"] = gif(frame(image), table=full, end=b";trailing")
files["animation.gif"] = gif(control(disposal=2), frame(image), control(3), frame(noise(20), 5, 4, 2, 2), table=full)
for name, extra in {"": b"", "-transparent": control(7), "-background": b""}.items():
    files["small%s.gif" % name] = gif(extra, frame(image[:20], 5, 4, 3, 2), table=full, background=9)
    files["outside%s.gif" % name] = gif(extra, frame(image[:20], 5, 4, W - 2, H - 1), table=full, background=9)
files["small-gray.gif"] = gif(frame(image[:20], 5, 4, 3, 2))
files["small-gray-transparent.gif"] = gif(control(7), frame(image[:20], 5, 4, 3, 2))
files["small-beyond.gif"] = gif(control(200), frame(runs(20, 4), 5, 4, 3, 2), table=four)
files["apart.gif"] = gif(frame(image[:20], 5, 4, 40, 30), table=full)
files["no-screen.gif"] = gif(frame(image), w=0, h=0, table=full)
files["control-twice.gif"] = gif(control(7), control(9), frame(image[:20], 5, 4, 3, 2), table=full)
files["control-off.gif"] = gif(control(7), control(), frame(image[:20], 5, 4, 3, 2), table=full)
for h in 1, 2, 3, 4, 5, 6, 8, 9, 17:
    files["interlaced%d.gif" % h] = gif(frame(runs(6 * h, 256), 6, h, interlaced=True), w=6, h=h, table=full)
files["interlaced-small.gif"] = gif(frame(runs(42, 256), 6, 7, 2, 3, interlaced=True), table=full)
for bits in range(1, 9):
    files["bits%d.gif" % bits] = gif(frame(runs(W * H, 1 << bits), bits=bits), table=full)
files["bits0.gif"] = gif(frame(b"", data=bytes(W * H // 8 + 9), bits=0), table=full)
files["bits9.gif"] = gif(frame(noise(W * H), bits=9), table=full)
files["bits13.gif"] = gif(frame(b"", data=bytes(99), bits=13), table=full)
long = runs(150 * 100, 16)
files["full-table.gif"] = gif(frame(long, 150, 100, bits=4), w=150, h=100, table=full)
files["never-cleared.gif"] = gif(frame(b"", 150, 100, bits=4, data=lzw(long, 4, clear_at=0)), w=150, h=100, table=full)
files["often-cleared.gif"] = gif(frame(b"", data=lzw(image, 8, clear_at=270)), table=full)
files["cleared-twice.gif"] = gif(frame(b"", data=lzw(runs(W * H, 4), 2, clears=3), bits=2), table=full)
files["one-colour.gif"] = gif(frame(bytes(90 * 70), 90, 70, bits=2), w=90, h=70, table=full)
for split in 1, 2, 7:
    files["blocks%d.gif" % split] = gif(frame(image, split=split), table=full)
data = lzw(image, 8)
inner = blocks(data[:40]) + blocks(data[40:])
files["empty-block.gif"] = gif(frame(image).replace(blocks(data), inner), table=full)
files["no-end-code.gif"] = gif(frame(b"", data=lzw(image, 8, end=False)), table=full)
files["no-last-block.gif"] = gif(frame(image)[:-1], table=full, end=b"")
files["more-pixels.gif"] = gif(frame(image + image), table=full)
files["fewer-pixels.gif"] = gif(frame(image[:-1]), table=full)
files["cut-in-block.gif"] = gif(frame(image)[:-4], table=full, end=b"")
files["bad-first.gif"] = gif(frame(b"", data=b"\x00\x07\xff\xff\xff" + bytes(200)), table=full)
files["bad-code.gif"] = gif(frame(b"", data=data[:20] + b"\xff\xff\xff\xff" + data[24:]), table=full)
files["comment.gif"] = gif(b"!\xfe" + blocks(b"a comment" * 40), b"!\xfe\0", frame(image), table=full)
files["application.gif"] = gif(b"!\xff" + blocks(b"NETSCAPE2.0")[:-1] + blocks(b"\1\0\0"), b"!\x01" + blocks(b"text"), frame(image), table=full)
files["xmp.gif"] = gif(b"!\xff" + blocks(b"XMP DataXMP")[:-1] + b'tiff:Orientation="6"\1' + bytes(range(255, -1, -1)) + b"\0", frame(image), table=full)
files["empty-extension.gif"] = gif(b"!\xf9\0", frame(image), table=full)
files["short-control.gif"] = gif(b"!\xf9" + blocks(b"\1\0"), frame(image), table=full)
files["stray-bytes.gif"] = gif(b"\0\0\1stray", frame(image), table=full)
files["no-frame.gif"] = gif(control(3), table=full)
files["empty.gif"] = gif(table=full)
files["no-pixels.gif"] = gif(frame(b"", 0, 4), table=full)
files["short-table.gif"] = gif(table=full, end=b"")[:400]

golden = {}
for name, data in files.items():
    (here / name).write_bytes(data)
    try:
        rgb = Image.open(io.BytesIO(data)).convert("RGB")
        golden[name] = {"W": rgb.width, "H": rgb.height, "RGB": hashlib.sha256(rgb.tobytes()).hexdigest()}
    except Exception as e:
        golden[name] = {"Error": f"{type(e).__name__}: {e}"}
for name in "bits0.gif", "bits9.gif":  # Pillow reads them
    golden[name] = {"Error": "pixels of 2 to 8 bits are in the format"}
(here / "golden.json").write_text(json.dumps(golden, indent=1))
print(len(files), "files,", sum("Error" in g for g in golden.values()), "that Pillow refuses")


def animation():
    """Frames in parts of the canvas, with all that extensions may say of them. Pillow takes the colours of a palette for greys in a file that
    begins without one."""
    w, h = draw.randrange(4, 14), draw.randrange(4, 12)
    table = palette(1 << draw.randrange(2, 9)) if draw.random() < 0.9 else None
    parts = []
    for k in range(draw.randrange(2, 7)):
        fw, fh = (w, h) if draw.random() < 0.4 else (draw.randrange(1, w + 1), draw.randrange(1, h + 1))
        local = palette(1 << draw.randrange(2, 9)) if table and draw.random() < 0.3 else b""
        colours = len(local or table or bytes(768)) // 3
        clear = draw.randrange(colours) if draw.random() < 0.6 else None
        few = [draw.randrange(colours) for _ in range(3)] + ([clear] if clear is not None else [])
        image = bytes(draw.choice(few) for _ in range(fw * fh))
        if draw.random() < 0.9:
            parts.append(control(clear, draw.choice([0, 1, 1, 2, 2, 3, 3])))
        parts.append(frame(image, fw, fh, draw.randrange(w - fw + 1), draw.randrange(h - fh + 1), local=local, interlaced=draw.random() < 0.2))
    return gif(*parts, w=w, h=h, table=table, background=draw.randrange(4))


animations, refused = [], 0
while len(animations) < 150:
    data = animation()
    try:
        im = Image.open(io.BytesIO(data))
        sums = []
        for k in range(im.n_frames):
            im.seek(k)
            sums.append(hashlib.sha256(im.convert("RGB").tobytes()).hexdigest()[:16])
        animations.append({"Data": base64.b64encode(data).decode(), "W": im.width, "H": im.height, "Frames": sums})
    except ValueError:
        refused += 1
(here / "animations.json").write_text(json.dumps(animations, indent=1))
print(len(animations), "animations, and", refused, "that Pillow refuses")
