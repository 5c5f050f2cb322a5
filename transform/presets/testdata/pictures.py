"""Makes pictures.json: what image processors of transformers make of twelve small pictures, and the list of all its image processors.

    pip install torch==2.15.0 torchvision==0.29.2 pillow==12.3.0 transformers==5.23.0
    python pictures.py [CLASS ...]

The pictures are in the folder pictures, which the script makes if it is missing, of those in ../../../examples/images/photos. With names of
classes it makes only their values anew.

For every configuration there are the first 16 digits of the SHA-256 of the values of every picture: of float32 or uint8 in the order in
which the processor with the backend pil returns them, but where run says otherwise. "error" stands where that processor fails. Other fields of a result are there as
numbers, or, if they have many, as the same digits of their int64 values.
"""
import hashlib
import json
import pathlib
import sys
import warnings

import numpy as np
import PIL
import torch
import transformers
from PIL import Image
from transformers.models.auto.image_processing_auto import IMAGE_PROCESSOR_MAPPING_NAMES

warnings.filterwarnings("ignore")
here = pathlib.Path(__file__).parent
own = here / "../../../examples/images/photos"
folder = here / "pictures"


def make_pictures():
    """Sizes are width and height."""
    folder.mkdir()
    source = [Image.open(own / name).convert("RGB") for name in ("hills/1.jpg", "spheres/1.jpg", "stripes/1.jpg", "tiles/1.jpg")]

    def part(k, w, h):
        return source[k].resize((max(w, 200), max(h, 200)), 3).crop((0, 0, w, h))

    def alpha(im):
        im.putalpha(Image.linear_gradient("L").resize(im.size))
        return im

    part(0, 5, 3).save(folder / "tiny.png")
    source[1].resize((400, 24), 3).save(folder / "panorama.jpg", quality=80)
    source[2].resize((30, 333), 3).save(folder / "tower.jpg", quality=80)
    part(0, 150, 101).convert("L").save(folder / "grey.jpg", quality=80)
    part(3, 97, 120).convert("CMYK").save(folder / "cmyk.jpg", quality=80)
    alpha(part(1, 90, 61)).save(folder / "rgba.png")
    exif = Image.Exif()
    exif[0x112] = 6
    part(0, 160, 107).save(folder / "turned.jpg", quality=80, exif=exif)
    part(1, 101, 75).save(folder / "odd420.jpg", quality=75, subsampling=2)
    part(3, 75, 99).save(folder / "odd422.jpg", quality=90, subsampling=1)
    part(2, 128, 128).quantize(64).save(folder / "palette.png")
    alpha(part(1, 64, 33).convert("L")).save(folder / "la.png")
    source[1].resize((640, 427), 3).save(folder / "large.jpg", quality=60)


half = [0.5, 0.5, 0.5]


def square(n):
    return {"height": n, "width": n}


def pixels(least, most):
    return {"shortest_edge": least, "longest_edge": most}


# Without keys, configurations have the defaults of their class. "pixels" is not a key: it says which tensor counts.
CONFIGS = {
    "PPChart2Table": [{}, {"size": square(100), "resample": 1}, {"size": {"height": 60, "width": 90}, "do_normalize": False}],
    "Chameleon": [{}, {"size": 100, "crop_size": 90, "image_mean": half, "image_std": half}, {"size": square(64), "do_center_crop": False, "rescale_factor": 1 / 255}],
    "Flava": [{}, {"size": 96, "crop_size": 80, "codebook_size": 90, "return_codebook_pixels": False},
              {"size": {"height": 70, "width": 50}, "do_center_crop": False, "resample": 2, "input_size_patches": 7}],
    "VideoMAE": [{}, {"size": 96, "crop_size": 128, "resample": 3}, {"size": {"shortest_edge": 60}, "crop_size": {"height": 40, "width": 60}, "do_normalize": False}],
    "VideoLlava": [{}, {"size": 96, "crop_size": 128, "resample": 2}, {"size": {"height": 70, "width": 50}, "do_center_crop": False}],
    "Llava": [{}, {"size": 96, "crop_size": 128, "resample": 2, "do_pad": False}, {"size": {"height": 70, "width": 50}, "do_center_crop": False},
              {"size": 96, "crop_size": 90, "do_pad": True}, {"size": {"height": 60, "width": 90}, "do_pad": True, "do_center_crop": False, "image_mean": [0.1, 0.5, 1], "resample": 2}],
    "SegGpt": [{}, {"size": square(90), "resample": 2}, {"size": {"height": 60, "width": 90}, "image_mean": half, "image_std": half}],
    "LayoutLMv2": [{}, {"size": 90, "resample": 3, "ocr_lang": "deu"}, {"do_resize": True, "size": {"height": 60, "width": 90}, "do_normalize": False}],
    "LayoutLMv3": [{}, {"size": 90, "resample": 3}, {"size": {"height": 60, "width": 90}, "do_normalize": False, "tesseract_config": ""}],
    "Idefics": [{}, {"image_size": 90, "image_num_channels": 3}, {"size": {"height": 60, "width": 90}, "resample": 2}],
    "LlavaNext": [{"image_grid_pinpoints": [[112, 224], [224, 112], [224, 224], [336, 112], [112, 336]], "size": 112, "crop_size": 112},
                  {"image_grid_pinpoints": [[50, 50], [50, 100], [100, 50], [150, 250]], "size": {"shortest_edge": 50}, "crop_size": 50, "resample": 2},
                  {"image_grid_pinpoints": [[64, 640]], "size": square(64), "do_center_crop": False, "crop_size": 64, "do_normalize": False}],
    "LlavaOnevision": [{}, {"image_grid_pinpoints": [[50, 50], [50, 100], [100, 50], [150, 250]], "size": square(50), "resample": 2},
                       {"image_grid_pinpoints": [[64, 640], [640, 64]], "size": {"shortest_edge": 64}, "do_normalize": False}],
    "Idefics3": [{"size": {"longest_edge": 400}, "max_image_size": {"longest_edge": 100}}, {"size": {"longest_edge": 150}, "max_image_size": {"longest_edge": 200}, "resample": 2},
                 {"size": {"longest_edge": 300}, "max_image_size": {"longest_edge": 64}, "do_image_splitting": False}],
    "SmolVLM": [{"size": {"longest_edge": 333}, "max_image_size": {"longest_edge": 111}}, {"size": {"longest_edge": 77}, "max_image_size": {"longest_edge": 30}, "resample": 3},
                {"do_image_splitting": False, "return_row_col_info": False}],
    "Gemma3": [{}, {"size": square(96), "do_pan_and_scan": True, "pan_and_scan_min_crop_size": 20, "pan_and_scan_max_num_crops": 4, "pan_and_scan_min_ratio_to_activate": 1.2},
               {"size": {"height": 40, "width": 60}, "do_pan_and_scan": True, "pan_and_scan_min_crop_size": 7, "pan_and_scan_max_num_crops": 30,
                "pan_and_scan_min_ratio_to_activate": 2.5, "resample": 3}, {"size": square(128), "do_pan_and_scan": None, "image_seq_length": 256}, {"size": {"height": 60, "width": 90}, "resample": 3}],
    "GotOcr2": [{}, {"size": square(56), "crop_to_patches": True}, {"size": {"height": 40, "width": 60}, "crop_to_patches": True, "min_patches": 3, "max_patches": 30, "resample": 2}, {"size": square(112), "crop_to_patches": False, "max_patches": 12, "min_patches": 1}, {"size": {"height": 60, "width": 90}, "resample": 2}],
    "SuperPoint": [{}, {"size": 70, "do_grayscale": False}, {"size": {"height": 60, "width": 90}, "do_rescale": False}],
    "BridgeTower": [{}, {"size": 96, "size_divisor": 16, "crop_size": {"shortest_edge": 100}, "resample": 2},
                    {"size": {"shortest_edge": 120}, "do_center_crop": False, "image_mean": half}],
    "Vilt": [{}, {"size": 96, "size_divisor": 16, "resample": 2, "do_pad": True}, {"size": {"shortest_edge": 100}, "do_normalize": False}],
    "TextNet": [{}, {"size": 96, "size_divisor": 16, "do_center_crop": True, "crop_size": 120}, {"size": {"shortest_edge": 100}, "resample": 3}],
    "GLPN": [{}, {"size_divisor": 16, "resample": 3}, {"size_divisor": 3, "do_normalize": True, "image_mean": half, "image_std": half, "rescale_factor": 1 / 127.5}],
    "Pixtral": [{}, {"size": {"longest_edge": 200}, "patch_size": {"height": 14, "width": 14}},
                {"size": {"height": 80, "width": 150}, "patch_size": 8, "resample": 2, "do_pad": True}],
    "Idefics2": [{}, {"size": {"shortest_edge": 50, "longest_edge": 200}, "resample": 3, "do_image_splitting": False},
                 {"size": {"height": 60, "width": 90}, "do_pad": False}],
    "Donut": [{"size": [96, 128]}, {"size": {"height": 90, "width": 120}, "resample": 3, "do_thumbnail": True}, {"size": square(101), "resample": 0},
              {"size": {"height": 120, "width": 90}, "do_pad": False, "do_align_long_axis": False}],
    "Janus": [{}, {"size": square(96), "min_size": 20, "image_mean": half, "image_std": half}, {"size": 50, "do_pad": False, "resample": 2}],
    "DeepseekVL": [{}, {"size": square(101), "min_size": 5, "resample": 2}, {"size": 64, "do_normalize": False, "image_mean": [0.1, 0.5, 1]}],
    "MaskFormer": [{"size": {"shortest_edge": 96, "longest_edge": 300}}, {"size": 100, "max_size": 150, "size_divisor": 8},
                   {"size": {"height": 60, "width": 90}, "pad_size": square(128), "ignore_index": 255}],
    "Mask2Former": [{"size": {"shortest_edge": 96, "longest_edge": 300}, "num_labels": 150}, {"size": 100, "max_size": 150, "size_divisor": 8, "resample": 3},
                    {"size": {"height": 60, "width": 90}, "do_reduce_labels": True}],
    "OneFormer": [{"size": {"shortest_edge": 96, "longest_edge": 300}}, {"size": 70, "num_text": 234}, {"size": {"height": 60, "width": 90}, "do_normalize": False}],
    "Eomt": [{"do_pad": True, "size": {"shortest_edge": 96, "longest_edge": 96}}, {"size": {"shortest_edge": 80, "longest_edge": 200}},
             {"size": {"height": 60, "width": 90}, "do_split_image": False, "resample": 3}, {"size": {"shortest_edge": 80, "longest_edge": 200}, "do_pad": True},
             {"size": {"shortest_edge": 80}, "do_split_image": True}, {"size": {"shortest_edge": 50, "longest_edge": None}, "do_split_image": True, "do_pad": True, "resample": 3}],
    "Qwen2VL": [{}, {"min_pixels": 1000, "max_pixels": 40000, "resample": 2}, {"size": pixels(65536, 16777216), "patch_size": 16, "image_mean": half, "image_std": half},
                {"size": pixels(1000, 20000), "patch_size": 8, "merge_size": 3, "temporal_patch_size": 1, "do_normalize": False}],
    "CohereCompass": [{}, {"min_pixels": 1000, "max_pixels": 40000}, {"size": pixels(5000, 9000), "patch_size": 10, "merge_size": 1}],
    "Ernie4_5_VLMoe": [{}, {"size": pixels(1000, 40000), "resample": 2}, {"size": pixels(5000, 9000), "patch_size": 10, "merge_size": 3, "do_rescale": False, "do_normalize": False}],
    "VideoLlama3": [{}, {"min_pixels": 1000, "max_pixels": 40000}, {"size": pixels(5000, 9000), "patch_size": 10, "merge_size": 2}],
    "PaddleOCRVL": [{}, {"min_pixels": 1000, "max_pixels": 40000}, {"size": pixels(5000, 9000), "patch_size": 10, "merge_size": 3, "temporal_patch_size": 2}],
    "HunYuanVL": [{}, {"min_pixels": 1000, "max_pixels": 40000, "resample": 2}, {"size": pixels(5000, 9000), "patch_size": 10, "merge_size": 3}],
    "GlmImage": [{}, {"min_pixels": 20000, "max_pixels": 40000, "patch_size": 4}, {"size": pixels(5000, 9000), "patch_size": 5, "merge_size": 3}],
    "Glm4v": [{}, {"size": pixels(1000, 40000), "resample": 2}, {"size": pixels(5000, 9000), "patch_size": 10, "merge_size": 3, "temporal_patch_size": 3}],
    "Glm46V": [{}, {"size": pixels(1000, 40000)}, {"size": pixels(5000, 90000), "patch_size": 10, "merge_size": 1, "temporal_patch_size": 1}],
    "Glmga": [{}, {"size": pixels(1000, 40000), "patch_expand_factor": 1}, {"size": pixels(5000, 90000), "patch_size": 16, "merge_size": 2}],
    "Cosmos3Edge": [{}, {"size": pixels(1000, 40000)}, {"size": pixels(5000, 90000), "patch_size": 10, "merge_size": 3, "temporal_patch_size": 2}],
    "Siglip2": [{}, {"max_num_patches": 100, "patch_size": 14, "resample": 3}, {"max_num_patches": 1024, "patch_size": 8, "do_normalize": False}],
    "Gemma4": [{}, {"max_soft_tokens": 70, "pooling_kernel_size": 2, "do_normalize": True}, {"max_soft_tokens": 140, "patch_size": 8, "resample": 2}],
    "Mllama": [{}, {"size": square(112), "max_image_tiles": 2}, {"size": square(56), "max_image_tiles": 9, "resample": 3}, {"size": square(30), "do_normalize": False}],
    "Ovis2": [{}, {"size": square(112), "crop_to_patches": True}, {"size": {"height": 40, "width": 60}, "crop_to_patches": True, "max_patches": 20, "resample": 2},
              {"size": square(90), "crop_to_patches": True, "use_covering_area_grid": False, "min_patches": 2, "max_patches": 7}, {"size": 100, "do_center_crop": True, "crop_size": 80}],
    "GraniteDocling": [{"size": square(96)}, {"size": {"height": 40, "width": 60}, "min_patches": 3, "max_patches": 20, "resample": 2, "fine_route": True},
                       {"size": square(64), "max_patches": 4, "dense_max_patches": 12, "dense_max_scale": 0.7, "dense_min_aspect": 0.5},
                       {"size": square(48), "max_patches": 6, "dense_max_patches": 20, "dense_min_aspect": 1.0, "dense_max_aspect": 3.0}, {"size": square(50), "crop_to_patches": False}],
    "Aria": [{}, {"max_image_size": 490, "min_image_size": 100, "resample": 2}, {"max_image_size": 490, "split_image": True},
             {"max_image_size": 980, "split_image": True, "split_resolutions": [[980, 980], [980, 1960], [1960, 980]], "do_normalize": False}],
    "MiniCPMV4_6": [{}, {"scale_resolution": 100, "downsample_mode": "4x", "patch_size": 7}, {"scale_resolution": 120, "slice_mode": False, "resample": 2, "patch_size": 8},
                    {"scale_resolution": 60, "max_slice_nums": 30, "patch_size": 4, "do_normalize": False, "use_image_id": False},
                    {"scale_resolution": 53, "patch_size": 4}],
    "Glm5Next": [{}, {"min_image_tokens": 4, "max_image_tokens": 40, "resample": 2},
                 {"patch_size": 8, "merge_size": 3, "temporal_patch_size": 1, "min_image_tokens": 20, "max_image_tokens": 100, "image_mean": half, "image_std": half}],
    "DeepseekVLHybrid": [{}, {"high_res_size": square(200), "pixels": "high_res_pixel_values"},
                         {"size": square(96), "min_size": 20, "high_res_size": square(150), "high_res_resample": 2, "image_mean": half, "high_res_image_mean": [0.1, 0.5, 1]},
                         {"size": square(96), "min_size": 20, "high_res_size": square(150), "high_res_resample": 2, "high_res_image_mean": [0.1, 0.5, 1], "high_res_image_std": half,
                          "pixels": "high_res_pixel_values"}, {"size": 50, "high_res_size": square(120), "do_pad": False, "resample": 2}],
    "DeepseekOcr2": [{"size": square(200), "tile_size": 90}, {"size": square(200), "tile_size": 90, "pixels": "pixel_values_local"},
                     {"size": square(128), "tile_size": 60, "min_patches": 1, "max_patches": 9, "background_color": [10, 200, 3], "resample": 2},
                     {"size": square(128), "tile_size": 60, "min_patches": 1, "max_patches": 9, "resample": 2, "pixels": "pixel_values_local"},
                     {"tile_size": 100, "crop_to_patches": False, "do_normalize": False}],
    "Perceiver": [{}, {"size": square(60), "crop_size": square(100), "resample": 2}, {"size": {"height": 50, "width": 70}, "crop_size": {"height": 45, "width": 90}},
                  {"size": square(64), "do_center_crop": False}],
    "Fuyu": [{"size": {"height": 300, "width": 400}}, {"size": {"height": 60, "width": 90}, "padding_value": 200, "resample": 3, "patch_size": square(30)},
             {"size": square(100), "do_pad": False, "do_normalize": False}],
    "Tvp": [{}, {"size": {"longest_edge": 100}, "crop_size": 80, "pad_size": square(120), "image_mean": [0.485, 0.456, 0.406], "image_std": [0.229, 0.224, 0.225]},
            {"size": {"longest_edge": 90}, "do_center_crop": False, "pad_size": square(90), "do_flip_channel_order": False, "resample": 3},
            {"size": {"height": 60, "width": 90}, "crop_size": 70, "do_pad": False, "do_normalize": False}],
    "Emu3": [{"min_pixels": 10000}, {"min_pixels": 5000, "max_pixels": 20000, "spatial_factor": 14, "resample": 2}, {"min_pixels": 1000, "max_pixels": 90000, "do_normalize": False}],
    "Swin2SR": [{}, {"size_divisor": 64, "rescale_factor": 1 / 127.5}, {"pad_size": 5}, {"do_pad": False}],
    "PromptDepthAnything": [{}, {"size": square(126), "ensure_multiple_of": 14, "keep_aspect_ratio": True, "prompt_scale_to_meter": 0.001},
                            {"size": {"height": 60, "width": 90}, "resample": 2}, {"size": square(100), "keep_aspect_ratio": True, "do_pad": True, "size_divisor": 32}],
    "DPT": [{"size": square(100), "do_pad": True, "size_divisor": 14}, {"do_resize": False, "do_pad": True, "size_divisor": 14, "image_std": [0.2, 0.3, 0.4]},
            {"size": {"height": 60, "width": 90}, "keep_aspect_ratio": True, "ensure_multiple_of": 10, "do_pad": True}],
}


def digest(a):
    return hashlib.sha256(np.ascontiguousarray(a).tobytes()).hexdigest()[:16]


def run(p, im, pixels):
    """The values, and all other fields."""
    more = {"apply_ocr": False} if hasattr(p, "apply_ocr") else {}
    thin = type(p).__name__.startswith("Emu3") and im.height == 3  # as well three planes as three rows
    if "VideoLlava" in type(p).__name__ or thin:
        more = {"input_data_format": "channels_last"}  # else it takes three rows for three planes
    out = p(im, return_tensors="np", **more)
    if isinstance(out, np.ndarray):
        return out, {}
    out = dict(out)
    if "images" in out:  # Fuyu
        return np.asarray(out.pop("images")), out
    values = np.asarray(out.pop(pixels or next(k for k in out if k.startswith("pixel_values")), np.zeros(0, np.float32)))
    if thin:
        out["image_sizes"] = [values.shape[-2:]]  # which are those of other axes with this option
    if "num_tiles" in out:  # Mllama's tiles without those that are 0
        n = out["num_tiles"][0][0]
        assert not values[0, 0, n:].any()
        values = values[0, 0, :n]
    if "num_crops" in out and "pixel_mask" in out:  # Aria
        mask = np.asarray(out["pixel_mask"])[0]
        h, w = mask.any(1).sum(), mask.any(0).sum()
        assert mask[:h, :w].all()
        out["pixel_mask_size"] = [h, w]
    if "num_patches_per_image" in out:  # MiniCPM-V: a row per patch, and the sizes of the whole and of all slices
        side = values.shape[2]
        values = values[0].reshape(3, side, -1, side).transpose(2, 0, 1, 3)
        sizes = np.asarray(out["target_sizes"])
        assert all((s == sizes[1]).all() for s in sizes[1:])
        out["target_sizes"] = [sizes[0], sizes[1] if len(sizes) > 1 else [0, 0]]
    return values, out


def entry(kind, config, images):
    config = dict(config)
    pixels = config.pop("pixels", None)
    p = getattr(transformers, kind + "ImageProcessorPil", None) or getattr(transformers, kind + "ImageProcessor")
    p = p.from_dict(dict(config))
    sums, fields, text = [], [], None
    for im in images:
        try:
            values, more = run(p, im, pixels)
        except (ValueError, ZeroDivisionError, IndexError, OverflowError) as err:
            print("   ", kind, im.size, repr(err)[:100])
            sums.append("error")
            fields.append({})
            continue
        assert values.dtype in (np.float32, np.uint8), values.dtype
        text = f"{values.dtype} {values.shape} {list(more)}"
        sums.append(digest(values))
        fields.append({k: numbers(v) for k, v in more.items() if k in FIELDS})
    print(kind, config, text, flush=True)
    return dict(name=kind, config=dict(config, image_processor_type=kind + "ImageProcessor"), **({"pixels": pixels} if pixels else {}), sums=sums, **({"fields": fields} if any(fields) else {}))


# The fields of sizes that are compared.
FIELDS = ["image_grid_thw", "image_merge_sizes", "image_sizes", "spatial_shapes", "pixel_attention_mask", "image_position_ids", "num_soft_tokens_per_image", "num_patches", "num_crops", "num_local_patches",
          "aspect_ratio_ids", "aspect_ratio_mask", "num_tiles", "grids", "rows", "cols", "pixel_mask_size", "target_sizes", "image_unpadded_heights", "image_unpadded_widths"]


def numbers(v):
    v = np.asarray(v).astype(np.int64).reshape(-1)
    return [digest(v)] if len(v) > 8 else [str(n) for n in v]


def processors():
    """The model types of every class, and whether it has a processor for PIL images."""
    all = {}
    for model, classes in sorted(IMAGE_PROCESSOR_MAPPING_NAMES.items()):
        name = classes.get("torchvision") or classes["pil"]
        name = name.removesuffix("Pil").removesuffix("ImageProcessor")
        all.setdefault(name, dict(name=name, pil=bool(classes.get("pil")), models=[]))["models"].append(model)
    return [all[name] for name in sorted(all)]


def main(only):
    if not folder.exists():
        make_pictures()
    paths = sorted(folder.iterdir())
    images = [Image.open(p).convert("RGB") for p in paths]
    to = here / "pictures.json"
    before = json.loads(to.read_text())["configurations"] if only else []
    made = [e for e in before if e["name"] not in only]
    made += [entry(kind, c, images) for kind, configs in CONFIGS.items() if not only or kind in only for c in configs]
    order = list(CONFIGS)
    made.sort(key=lambda e: order.index(e["name"]))
    golden = dict(versions=dict(transformers=transformers.__version__, torch=torch.__version__, pillow=PIL.__version__, numpy=np.__version__),
                  pictures=[p.name for p in paths], processors=processors(), configurations=made)
    lines = [f'"{k}": ' + ("[\n" + ",\n".join(map(json.dumps, v)) + "\n]" if isinstance(v, list) and isinstance(v[0], dict) else json.dumps(v))
             for k, v in golden.items()]
    to.write_text("{\n" + ",\n".join(lines) + "\n}\n")


if __name__ == "__main__":
    main(sys.argv[1:])
