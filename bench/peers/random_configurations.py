"""Makes random configurations of models, and what transformers, timm, open_clip and OpenCV make of random pictures with them.

    python random_configurations.py FOLDER [CASES] [SEED]
    PENSTOCK_RANDOM=FOLDER go test -run TestRandomConfigurations -v ../../transform/presets

A configuration is legal if its library takes it and prepares one picture at least. FOLDER gets the pictures and cases.jsonl, with a case in
a line: the name of its library and, for each of its pictures, what transform/presets/testdata/pictures.py, processors.py and
others.py write down. They also say which versions are needed. Another run with another seed adds cases.
"""
import contextlib
import io
import json
import pathlib
import random
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent / "../../transform/presets/testdata"))
import numpy as np
import others
import pictures
import processors
import transformers
from PIL import Image

CLASSES = sorted(set(pictures.CONFIGS) | set(processors.CLASSES))
MODES = ["RGB", "RGB", "RGB", "L", "RGBA", "CMYK", "P"]


def make_picture(r, path):
    """Waves and noise, of any sides up to 400 pixels, with or without an Exif orientation."""
    w, h = (int(4 + 396 * r.random() ** 2) for _ in range(2))
    y, x = np.mgrid[:h, :w]
    planes = [127 + 90 * np.sin(x * r.uniform(0, 0.6) + y * r.uniform(0, 0.6) + k) for k in range(3)]
    noise = np.random.default_rng(r.randrange(1 << 30)).normal(0, r.choice([1, 20, 60]), (h, w, 3))
    im = Image.fromarray(np.clip(np.stack(planes, 2) + noise, 0, 255).astype(np.uint8))
    mode = r.choice(MODES)
    name = f"{path}.png"
    more = {}
    if mode in ("RGB", "L", "CMYK") and r.random() < 0.7:
        name, more = f"{path}.jpg", dict(quality=r.randrange(40, 98))
        if mode != "L":
            more["subsampling"] = r.randrange(3)
        exif = Image.Exif()
        exif[0x112] = r.choice([1, 1, 3, 6, 8, 5])
        more["exif"] = exif
    elif mode == "CMYK":
        mode = "RGB"
    im.convert(mode).save(name, **more)
    return pathlib.Path(name)


def side(r):
    return r.randrange(8, 200)


def area(r):
    return r.choice([side(r), {"height": side(r), "width": side(r)}])


def size(r, usual):
    """One of the forms in which sizes are written, most often that of the class."""
    if usual and max(usual.values()) > 3000:  # pixels
        low = r.randrange(500, 5000)
        return {"shortest_edge": low, "longest_edge": low + r.randrange(3000, 60000)}
    n = side(r)
    forms = [n, [n, side(r)], {"height": n, "width": side(r)}, {"shortest_edge": n}, {"longest_edge": n},
             {"shortest_edge": n, "longest_edge": n + r.randrange(200)}, {"max_height": n, "max_width": side(r)}]
    same = [f for f in forms if isinstance(f, dict) and set(f) == set(usual or {})]
    return r.choice(same) if same and r.random() < 0.7 else r.choice(forms)


def value(r, key, usual):
    """Another value of the kind that a class has for a key, or None."""
    if key == "size":
        return size(r, dict(usual) if usual else None)
    if key in ("crop_size", "pad_size"):
        return area(r)
    if key == "resample":
        return r.randrange(6)
    if key == "rescale_factor":
        return r.choice([1 / 255, 1 / 127.5, 0.01, 1.0])
    if key in ("image_mean", "image_std"):
        return [round(r.uniform(0.1, 0.9), 3) for _ in range(3)]
    if isinstance(usual, bool):
        return r.random() < 0.5
    if isinstance(usual, int):
        return r.randrange(max(1, usual // 2), 2 * usual + 2)
    if isinstance(usual, float):
        return round(r.uniform(0.5, 1), 3)
    return None


def of_transformers(r, images):
    kind = r.choice(CLASSES)
    p = getattr(transformers, kind + "ImageProcessorPil", None) or getattr(transformers, kind + "ImageProcessor")
    config = dict(r.choice(pictures.CONFIGS.get(kind, [{}])))
    usual = p().to_dict()
    for key in sorted(usual):
        if key == "size" or r.random() < 0.3:
            v = value(r, key, usual[key])
            if v is not None:
                config[key] = v
    config.pop("image_processor_type", None)
    return dict(pictures.entry(kind, config, images), library="transformers")


def of_timm(r, images):
    config = dict(input_size=[3, side(r), side(r)], interpolation=r.choice(["bilinear", "bicubic", "nearest", "box", "hamming", "lanczos"]),
                  crop_pct=round(r.uniform(0.4, 1), 3), crop_mode=r.choice(["center", "squash", "border"]))
    if r.random() < 0.5:
        config["input_size"][2] = config["input_size"][1]
    for key in ("mean", "std"):
        if r.random() < 0.6:
            config[key] = value(r, "image_" + key, None)
    return dict(processors.timm_entry("timm", config, images, False), library="timm")


def of_open_clip(r):
    config = dict(size=r.choice([side(r), [side(r), side(r)]]), interpolation=r.choice(["bilinear", "bicubic", "random"]),
                  resize_mode=r.choice(["shortest", "longest", "squash"]), fill_color=r.choice([r.randrange(256), [r.randrange(256) for _ in range(3)]]))
    for key in ("mean", "std"):
        if r.random() < 0.6:
            config[key] = value(r, "image_" + key, None)
    if r.random() < 0.3:
        config = dict(model_cfg=dict(vision_cfg=dict(image_size=side(r))), preprocess_cfg=config)
    return dict(others.open_clip("open_clip", config), library="open_clip")


def of_opencv(r):
    return dict(others.yolo([side(r), side(r)]), name="YOLO", library="opencv")


def case(r, paths):
    while True:
        others.paths = r.sample(paths, 3)
        images = [Image.open(p).convert("RGB") for p in others.paths]
        pick = r.random()
        try:
            with contextlib.redirect_stdout(io.StringIO()):
                c = of_opencv(r) if pick < 0.08 else of_open_clip(r) if pick < 0.2 else of_timm(r, images) if pick < 0.3 else of_transformers(r, images)
        except Exception as err:  # it is not legal
            print("not legal:", repr(err)[:120])
            continue
        if set(c["sums"]) != {"error"}:
            return dict(c, pictures=[p.name for p in others.paths])


def main(folder, cases=500, seed=1):
    folder, r = pathlib.Path(folder), random.Random(int(seed))
    folder.mkdir(parents=True, exist_ok=True)
    paths = [make_picture(r, folder / f"{seed}-{k}") for k in range(40)]
    with open(folder / "cases.jsonl", "a") as f:
        for k in range(int(cases)):
            f.write(json.dumps(case(r, paths)) + "\n")
            f.flush()


if __name__ == "__main__":
    main(*sys.argv[1:])
