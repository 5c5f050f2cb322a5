"""Makes sounds.zip, small files of sound, and sounds.json, what libsndfile and FFmpeg read from them.

    pip install numpy==2.4.6 soundfile==0.14.0 av==18.1.0
    python sounds.py

For every file there are the rate, the channels, the frames, the first 16 digits of the SHA-256 of all values as
little-endian float32, a value per channel side by side, and the readers that gave these bits: "libsndfile"
(soundfile), "ffmpeg" (PyAV, converted to float by libswresample, as torchcodec does it), or "source" where the values
are those from which this script has made the file.
"""
import hashlib
import io
import json
import pathlib
import struct
import zipfile

import av
import numpy as np
import soundfile

here = pathlib.Path(__file__).parent
random = np.random.default_rng(34)
files, expected = {}, {}

KINDS = [("WAV", "PCM_U8"), ("WAV", "PCM_16"), ("WAV", "PCM_24"), ("WAV", "PCM_32"), ("WAV", "FLOAT"), ("WAV", "DOUBLE"),
         ("WAV", "ULAW"), ("WAV", "ALAW"), ("WAVEX", "PCM_16"), ("WAVEX", "FLOAT"), ("RF64", "PCM_16"),
         ("FLAC", "PCM_S8"), ("FLAC", "PCM_16"), ("FLAC", "PCM_24")]


def sound(frames, channels, rate):
    """A chord with some noise, and full scale in both directions."""
    t = np.arange(frames)[:, None] / rate
    x = 0.4 * np.sin(2 * np.pi * 440 * (1 + np.arange(channels)) * t) + 0.05 * random.standard_normal((frames, channels))
    x[1], x[2] = 1, -1
    return x


def sndfile(data):
    with soundfile.SoundFile(io.BytesIO(data)) as f:
        return f.samplerate, f.read(dtype="float32", always_2d=True)


def ffmpeg(data):
    with av.open(io.BytesIO(data)) as box:
        stream = box.streams.audio[0]
        resampler = av.AudioResampler(format="flt", layout=stream.layout, rate=stream.rate)
        parts = [np.asarray(g.to_ndarray()) for f in box.decode(stream) for g in resampler.resample(f)]
        return stream.rate, np.concatenate(parts, 1).reshape(-1, stream.channels)


def digest(values):
    return hashlib.sha256(np.ascontiguousarray(values, "<f4").tobytes()).hexdigest()[:16]


def add(name, data, source=None):
    """Keeps a file, and what its readers say, which must be the same."""
    said = dict(source=source) if source is not None else {}
    for reader, read in ("libsndfile", sndfile), ("ffmpeg", ffmpeg):
        try:
            said[reader] = read(data)
        except Exception as e:
            print(f"{name}: {reader}: {e}")
    first = next(iter(said.values()))
    same = [r for r, (rate, x) in said.items() if rate == first[0] and digest(x) == digest(first[1])]
    for r, (rate, x) in said.items():
        if r not in same:
            n = min(len(x), len(first[1]))
            print(f"{name}: {r} says {x.shape} at {rate}, not {first[1].shape}: {np.abs(x[:n] - first[1][:n]).max() if n else ''}")
    files[name] = data
    rate, x = first
    expected[name] = dict(rate=rate, channels=x.shape[1], frames=x.shape[0], sha256=digest(x), readers=same)


def chunk(name, content):
    return name + struct.pack("<I", len(content)) + content + b"\0" * (len(content) % 2)


def fmt(tag, channels, rate, bits, more=b""):
    size = channels * ((bits + 7) // 8)
    return chunk(b"fmt ", struct.pack("<HHIIHH", tag, channels, rate, rate * size, size, bits) + more)


def riff(*chunks, size=None):
    body = b"WAVE" + b"".join(chunks)
    return b"RIFF" + struct.pack("<I", len(body) if size is None else size) + body


def odd_waves():
    """Headers that programs write, and that are not the usual 44 bytes."""
    x = np.round(sound(300, 1, 8000) * 32767).astype("<i2").tobytes()
    pcm, data = fmt(1, 1, 8000, 16), chunk(b"data", x)
    add("odd/chunk.wav", riff(chunk(b"LIST", b"odd"), pcm, chunk(b"fact", struct.pack("<I", 300)), data, chunk(b"id3 ", b"end")))
    add("odd/cbsize.wav", riff(fmt(1, 1, 8000, 16, b"\0\0"), data))
    add("odd/unknown.wav", riff(pcm, b"data\xff\xff\xff\xff", x, size=0xffffffff))
    add("odd/sox.wav", riff(pcm, b"data" + struct.pack("<I", 0x7ffff000), x, size=0x7ffff024))
    add("odd/unclosed.wav", riff(pcm, b"data\0\0\0\0", x, size=8))
    add("odd/empty.wav", riff(pcm, b"data\0\0\0\0", chunk(b"LIST", b"even")))
    add("odd/frame.wav", riff(pcm, b"data" + struct.pack("<I", 101), x[:102]))
    add("odd/12bits.wav", riff(fmt(1, 1, 8000, 12), chunk(b"data", (np.frombuffer(x, "<i2") & -16).astype("<i2").tobytes())))
    guid = bytes.fromhex("000000001000800000aa00389b71")
    wide = (np.round(sound(200, 2, 48000) * 8388607).astype("<i4") << 8).astype("<i4").tobytes()
    add("odd/24in32.wav", riff(fmt(0xfffe, 2, 48000, 32, struct.pack("<HHIH", 22, 24, 3, 1) + guid), chunk(b"data", wide)))
    add("odd/extensible-alaw.wav", riff(fmt(0xfffe, 1, 8000, 8, struct.pack("<HHIH", 22, 8, 4, 6) + guid), chunk(b"data", bytes(range(256)))))
    add("all/alaw.wav", riff(fmt(6, 1, 8000, 8, b"\0\0"), chunk(b"data", bytes(range(256)))))
    add("all/mulaw.wav", riff(fmt(7, 1, 8000, 8, b"\0\0"), chunk(b"data", bytes(range(256)))))
    add("all/u8.wav", riff(fmt(1, 1, 8000, 8), chunk(b"data", bytes(range(256)))))


class Bits:
    """Writes bits, the highest of a number first."""

    def __init__(self):
        self.text = []

    def put(self, value, n):
        if n:
            self.text.append(format(value & ((1 << n) - 1), f"0{n}b"))

    def unary(self, n):
        self.text.append("0" * n + "1")

    def bytes(self):
        text = "".join(self.text)
        text += "0" * (-len(text) % 8)
        return int("1" + text, 2).to_bytes(len(text) // 8 + 1, "big")[1:]


def crc(data, polynomial, width):
    value = 0
    for b in data:
        value ^= b << (width - 8)
        for _ in range(8):
            value = value << 1 ^ (polynomial if value >> (width - 1) else 0)
            value &= (1 << width) - 1
    return value


def coded(n):
    """A number as UTF-8 codes a character."""
    if n < 0x80:
        return bytes([n])
    extra = []
    lead, room = 0x80, 0x3f
    while n > room:
        extra.insert(0, 0x80 | n & 0x3f)
        n >>= 6
        lead, room = lead >> 1 | 0x80, room >> 1
    return bytes([lead | n] + extra)


def residual(b, x, order, rice, parts, method):
    largest = max([abs(int(v)) for v in x] + [1]).bit_length()
    method = method or int(largest > 16)
    b.put(method, 2)
    b.put(parts, 4)
    size = (len(x) + order) >> parts
    for p in range(1 << parts):
        part = x[max(p * size - order, 0):(p + 1) * size - order]
        escape = rice == "escape" or rice == "mixed" and p % 2
        k = max(5 + p % 7, largest - 4) if not escape else (1 << (4 + method)) - 1
        b.put(k, 4 + method)
        if escape:
            n = max([int(v).bit_length() + 1 for v in part] + [0]) if any(part) else 0
            b.put(n, 5)
            for v in part:
                b.put(int(v), n)
            continue
        for v in part:
            u = int(v) << 1 if v >= 0 else (-int(v) << 1) - 1
            b.unary(u >> k)
            b.put(u, k)


def subblock(b, x, depth, how):
    """One channel: how has the kind, and perhaps the order, the wasted bits and the coding of residuals."""
    x = [int(v) for v in x]
    kind, order, wasted = how["kind"], how.get("order", 0), how.get("wasted", 0)
    if order > len(x):
        kind = "verbatim"
    b.put({"constant": 0, "verbatim": 1, "fixed": 8 + order, "lpc": 31 + order}[kind], 7)
    b.put(1 if wasted else 0, 1)
    if wasted:
        b.unary(wasted - 1)
    x, depth = [v >> wasted for v in x], depth - wasted
    for v in x[:{"constant": 1, "verbatim": len(x)}.get(kind, order)]:
        b.put(v, depth)
    if kind in ("constant", "verbatim"):
        return
    shift, coeffs = 0, [[], [1], [2, -1], [3, -3, 1], [4, -6, 4, -1]][order] if kind == "fixed" else None
    if kind == "lpc":
        shift = 9
        coeffs = [int(c) for c in random.integers(-100, 100, order)]
        coeffs[0] = 480
        b.put(10, 4)
        b.put(shift, 5)
        for c in coeffs:
            b.put(c, 11)
    left = [x[i] - (sum(c * x[i - 1 - j] for j, c in enumerate(coeffs)) >> shift) for i in range(order, len(x))]
    parts = how.get("parts", 0)
    if len(x) % (1 << parts) or len(x) >> parts < order:
        parts = 0
    residual(b, left, order, how.get("rice", "rice"), parts, how.get("method", 0))


def flac(x, depth, sizes, how, layout=None, variable=False, total=True, known=True):
    """A FLAC file of integers, in blocks of these sizes, where a channel is coded as how says, in turn."""
    frames, channels = x.shape
    out = b"fLaC\x80\0\0\x22" + struct.pack(">HH", min(sizes) if variable else sizes[0], max(sizes)) + b"\0" * 6
    out += ((16000 << 44) | (channels - 1) << 41 | (depth - 1) << 36 | (frames if total else 0)).to_bytes(8, "big") + b"\0" * 16
    at = number = 0
    while at < frames:
        n = min(sizes[number % len(sizes)], frames - at)
        part = x[at:at + n]
        head = Bits()
        head.put(0x7ffc, 15)
        head.put(1 if variable else 0, 1)
        head.put(7, 4)
        head.put(0, 4)
        at_layout = (layout or [channels - 1])[number % len(layout or [0])]
        head.put(at_layout, 4)
        head.put({8: 1, 12: 2, 16: 4, 20: 5, 24: 6, 32: 7}.get(depth, 0) if known else 0, 3)
        head.put(0, 1)
        head = head.bytes() + coded(at if variable else number) + struct.pack(">H", n - 1)
        head += bytes([crc(head, 0x107, 8)])
        b = Bits()
        planes = [part[:, c].astype(object) for c in range(channels)]
        if at_layout >= 8:
            left, right = planes
            side = left - right
            planes = {8: [left, side], 9: [side, right], 10: [(left + right) // 2, side]}[at_layout]
        for c, plane in enumerate(planes):
            wide = at_layout >= 8 and c == (0 if at_layout == 9 else 1)
            subblock(b, plane, depth + wide, how[(number + c) % len(how)])
        body = head + b.bytes()
        out += body + struct.pack(">H", crc(body, 0x18005, 16))
        at, number = at + n, number + 1
    return out


def odd_flacs():
    """What no encoder writes together."""
    def ints(frames, channels, depth, wasted=0):
        x = np.round(sound(frames, channels, 16000) * (2. ** (depth - 1) - 1)).astype(object)
        return np.array([[int(v) >> wasted << wasted for v in row] for row in x], object)

    def keep(name, x, depth, *args, **kw):
        source = x.astype(np.int64).astype(np.int32).astype("f4") * np.float32(2. ** (1 - depth))
        add(name, flac(x, depth, *args, **kw), (16000, source))

    fixed = [dict(kind="fixed", order=o, parts=o) for o in range(5)]
    linear = [dict(kind="lpc", order=o, parts=p, method=p % 2) for o, p in ((1, 0), (4, 2), (8, 3), (12, 1), (32, 1))]
    keep("flac/fixed.flac", ints(900, 1, 16), 16, [160], fixed)
    keep("flac/linear.flac", ints(900, 1, 16), 16, [192], linear)
    keep("flac/verbatim.flac", ints(300, 2, 16), 16, [100], [dict(kind="verbatim")])
    keep("flac/constant.flac", np.full((300, 2), -77, object), 16, [100], [dict(kind="constant")])
    keep("flac/escape.flac", ints(600, 1, 16), 16, [128], [dict(kind="fixed", order=2, parts=2, rice=r, method=m) for r in ("escape", "mixed") for m in (0, 1)])
    keep("flac/silence.flac", np.zeros((200, 1), object), 16, [100], [dict(kind="fixed", order=1, rice="escape")])
    keep("flac/wasted.flac", ints(300, 1, 16, 3), 16, [100], [dict(kind="fixed", order=2, wasted=3), dict(kind="verbatim", wasted=3), dict(kind="lpc", order=3, wasted=2)])
    keep("flac/layouts.flac", ints(700, 2, 16), 16, [96], fixed[1:], layout=[1, 8, 9, 10])
    keep("flac/variable.flac", ints(900, 2, 16), 16, [100, 17, 256, 16, 64], fixed, layout=[1, 10], variable=True)
    keep("flac/unknown.flac", ints(500, 1, 16), 16, [96], fixed, total=False)
    keep("flac/8channels.flac", ints(200, 8, 16), 16, [96], fixed)
    for depth in 4, 8, 12, 20, 24, 32:
        keep(f"flac/{depth}bits.flac", ints(200, 2, min(depth, 29)), depth, [96], [fixed[1], dict(kind="verbatim"), linear[1]], layout=[1, 8, 9, 10])
    keep("flac/32verbatim.flac", ints(200, 2, 32), 32, [96], [dict(kind="verbatim")], layout=[1, 8, 9, 10])
    keep("flac/17bits.flac", ints(200, 1, 17), 17, [96], [fixed[2]], known=False)
    tag = b"ID3\x04\0\0\0\0\0\x0a" + b"\0" * 10
    add("flac/id3.flac", tag + flac(np.zeros((50, 1), object), 16, [50], [dict(kind="constant")]), (16000, np.zeros((50, 1), "f4")))


for form, kind in KINDS:
    for rate, channels in ((8000, 1), (16000, 2), (22050, 1), (44100, 2), (44100, 6), (48000, 6)):
        out = io.BytesIO()
        soundfile.write(out, sound(130 if form != "FLAC" else 400, channels, rate), rate, format=form, subtype=kind)
        add(f"{form.lower()}/{kind.lower()}-{rate}-{channels}.{'flac' if form == 'FLAC' else 'wav'}", out.getvalue())
out = io.BytesIO()
soundfile.write(out, sound(20000, 1, 8000) * .9, 8000, format="FLAC", subtype="PCM_16", compression_level=1)
add("flac/long.flac", out.getvalue())
odd_waves()
odd_flacs()

with zipfile.ZipFile(here / "sounds.zip", "w", zipfile.ZIP_DEFLATED) as z:
    for name, data in sorted(files.items()):
        z.writestr(zipfile.ZipInfo(name), data, zipfile.ZIP_DEFLATED)
versions = dict(soundfile=soundfile.__version__, libsndfile=soundfile.__libsndfile_version__, av=av.__version__, ffmpeg=av.ffmpeg_version_info)
lines = ",\n".join(f"  {json.dumps(name)}: {json.dumps(e)}" for name, e in sorted(expected.items()))
(here / "sounds.json").write_text(f'{{"versions": {json.dumps(versions)},\n "files": {{\n{lines}\n}}}}\n')
print(len(files), "files,", sum(map(len, files.values())), "bytes")
