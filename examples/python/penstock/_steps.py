"""Objects of torchvision, timm and transformers as steps: the JSON that transform.FromJSON reads in Go.

Pixels are those that an object makes of PIL images. A step that works on tensors, after ToImage or ToTensor, is translated only if its
pixels are there in Go: those of a resize of uint8 are, for example, and those of a ColorJitter are not.
"""

import copy
import enum
import json
import math
import numbers

import numpy

_WORKS = "what works are the classes of torchvision.transforms and torchvision.transforms.v2, timm's create_transform, and transformers' image processors"

# The arguments of classes, which are attributes of their objects by the same names. Without "antialias": PIL images always get it,
# and tensors that do not are refused.
_ARGUMENTS = {
    "Resize": "size interpolation max_size",
    "CenterCrop": "size",
    "RandomResizedCrop": "size scale ratio interpolation",
    "RandomCrop": "size padding pad_if_needed fill padding_mode",
    "Pad": "padding fill padding_mode",
    "RandomHorizontalFlip": "p",
    "RandomVerticalFlip": "p",
    "RandomZoomOut": "fill side_range p",
    "RandomResize": "min_size max_size interpolation",
    "RandomShortestSize": "min_size max_size interpolation",
    "ScaleJitter": "target_size scale_range interpolation",
    "RandomRotation": "degrees interpolation expand center fill",
    "RandomAffine": "degrees translate scale shear interpolation fill center",
    "RandomPerspective": "distortion_scale p interpolation fill",
    "ElasticTransform": "alpha sigma interpolation fill",
    "ColorJitter": "brightness contrast saturation hue",
    "Grayscale": "num_output_channels",
    "RandomGrayscale": "p",
    "GaussianBlur": "kernel_size sigma",
    "GaussianNoise": "mean sigma clip",
    "RandomAdjustSharpness": "sharpness_factor p",
    "RandomPosterize": "bits p",
    "RandomSolarize": "threshold p",
    "RandomInvert": "p",
    "RandomAutocontrast": "p",
    "RandomEqualize": "p",
    "RandomChannelPermutation": "",
    "RandomPhotometricDistort": "brightness contrast saturation hue p",
    "JPEG": "quality",
    "RandAugment": "num_ops magnitude num_magnitude_bins interpolation fill",
    "TrivialAugmentWide": "num_magnitude_bins interpolation fill",
    "AutoAugment": "policy interpolation fill",
    "AugMix": "severity mixture_width chain_depth alpha all_ops interpolation fill",
    "RandomErasing": "p scale ratio value",
    "RandomIoUCrop": "min_scale max_scale min_aspect_ratio max_aspect_ratio options trials",
    "SanitizeBoundingBoxes": "min_size min_area",
    "ClampBoundingBoxes": "",
    "ConvertBoundingBoxFormat": "format",
}
_BOXES = ("RandomIoUCrop", "SanitizeBoundingBoxes", "ClampBoundingBoxes", "ConvertBoundingBoxFormat")

# Of uint8 tensors these make what they make of PIL images, and of floats the first five as well.
_MOVING = ("CenterCrop", "RandomCrop", "RandomHorizontalFlip", "RandomVerticalFlip", "RandomIoUCrop")
_SAME = (
    *_MOVING, "Pad", "RandomZoomOut", "RandomInvert", "RandomPosterize", "RandomSolarize", "RandomEqualize", "RandomChannelPermutation",
    "GaussianBlur", "GaussianNoise", "ElasticTransform", "JPEG",
)
# These resize tensors with filters of their own.
_RESIZES = ("Resize", "RandomResizedCrop", "RandomResize", "RandomShortestSize", "ScaleJitter")

# Classes that work on tensors alone: a PIL image goes through them as it is, or is an error.
_TENSORS = ("GaussianNoise", "RandomErasing", "ToDtype", "ConvertImageDtype", "Normalize")

_FILTERS = {0: "nearest", 1: "lanczos", 2: "bilinear", 3: "bicubic", 4: "box", 5: "hamming", "nearest-exact": "nearest"}

_WITHOUT = {
    "Lambda": "a function cannot be translated: apply it to the batches in the loop, or write the step in Go",
    "LinearTransformation": "multiply the batches in the loop",
    "MixUp": "it is for batches: call it in the loop, or in collate_fn",
    "CutMix": "it is for batches: call it in the loop, or in collate_fn",
    "SetClampingMode": "boxes are always clamped to the image here, as without it",
    "ClampKeyPoints": "no dataset that is translated has keypoints: write the loop in Go",
    "SanitizeKeyPoints": "no dataset that is translated has keypoints: write the loop in Go",
}


def translated(transform, grey=False):
    """The steps of an object as {"steps": list} or {"processor": configuration}, for images that are grey or RGB.

    What has no translation is a TypeError that names it.
    """
    if type(transform).__module__.partition(".")[0] == "transformers" and hasattr(transform, "to_json_string"):
        return {"processor": json.loads(transform.to_json_string())}
    return _Plan(1 if grey else 3).of(transform, "transform")


def translated_with(transforms, *parts):
    """The steps of an object that also moves these parts of a sample: "boxes", "masks", a plane per box, or "mask".

    Beside them: whether boxes and masks are plain tensors at the end, and the format of the boxes.
    """
    plan = _Plan(3, parts)
    return plan.of(transforms, "transforms"), plan.pure, plan.format


class _Plan:
    """Steps so far, and what the image is after them: "PIL", "uint8", which is a tensor, "float" or "half"."""

    def __init__(self, channels, parts=()):
        self.image, self.result = [], []  # steps that change the image, and those that say what the result is
        self.state, self.channels, self.grey, self.normalized = "PIL", channels, channels == 1, False
        self.kind = "PIL"  # the class of the image, by which arguments may differ: or "Image", or "Tensor"
        self.crops = None  # of FiveCrop and TenCrop: a "tuple", or "stacked"
        self.parts, self.pure, self.format = parts, False, "XYXY"
        self.mask = {}  # arguments of the mask

    def of(self, t, place):
        """The steps of an object."""
        if "boxes" in self.parts:
            self.image.append({"ConvertBoundingBoxFormat": {"format": "XYXY"}})
        self.add(t, place)
        if self.state == "PIL":
            raise TypeError(f"{place}: the {place} gives PIL images, which are no batch: put ToTensor() at its end")
        if self.crops == "tuple":
            raise TypeError(f"{place}: the {place} gives a tuple of crops: put torchvision.transforms.Lambda(torch.stack) after ToImage() or ToTensor(), at its end")
        if self.grey and self.channels == 1:  # images of Go have three channels
            self.image.append({"Grayscale": {"num_output_channels": 1}})
        settings = [{part.capitalize(): {"field": part, **self.mask}} for part in self.parts if part != "boxes" and self.mask]
        end = [{"PILToTensor": {}}] if self.state == "uint8" else []
        return {"steps": {"version": 1, "steps": settings + self.image + self.result + end}}

    def add(self, t, place):
        name, module = type(t).__name__, type(t).__module__
        if t is None:
            return

        def refuse(why):
            _refuse(t, place, why)

        ours = module.startswith("torchvision.transforms.")
        v2 = module.startswith("torchvision.transforms.v2.")
        timm = module.startswith("timm.data.")
        if self.parts and not v2 and (ours or timm or module.startswith("torch.nn.")):
            refuse("it takes an image alone, and not its boxes and masks: want a class of torchvision.transforms.v2")
        if self.crops == "tuple" and (name == "function" or ours and not v2 and name == "Lambda"):
            self.stack(t if name == "function" else t.lambd, refuse)
        elif self.crops == "tuple" and ours and not v2:
            refuse("torchvision gives it a tuple of crops: " + _STACK)
        elif ours and name in ("FiveCrop", "TenCrop"):
            self.several(t, name, refuse)
        elif ours and name == "Compose" or module == "torch.nn.modules.container" and name == "Sequential":
            for k, each in enumerate(t.transforms if ours else t):
                self.add(each, f"{place}[{k}]")
        elif ours and name in ("RandomApply", "RandomChoice", "RandomOrder"):
            self.nest(t, name, place, refuse)
        elif ours and module.endswith("._presets"):
            self.preset(t, name, refuse)
        elif timm:
            self.timm(t, name, refuse)
        elif not ours:
            if hasattr(t, "transforms"):  # such as the presets of torchvision's training scripts
                refuse(f"{_WORKS}; if all that it does are its transforms, give those: {name}(…).transforms")
            refuse(_WITHOUT["Lambda"] if callable(t) and name == "function" else _WORKS)
        elif name in _WITHOUT:
            refuse(_WITHOUT[name])
        elif name == "Identity":
            pass
        elif name == "ToPureTensor":
            self.pure, self.kind = True, "PIL" if self.kind == "PIL" else "Tensor"
        elif name == "RGB":
            if self.state != "PIL" and self.channels == 1:
                refuse("want it before ToTensor() and ToImage()")
            if self.channels == 1 and not self.grey:
                self.image.append({"Grayscale": {"num_output_channels": 3}})
            self.channels = 3
        elif name == "ToPILImage":
            if self.state != "PIL":
                refuse("the image is a tensor before it: leave both conversions out")
        elif name in ("ToTensor", "PILToTensor", "ToImage"):
            if self.state != "PIL" and name != "ToImage":
                refuse("the image is a tensor before it")
            if self.state == "PIL" and name == "ToTensor":
                self.floats({"ToTensor": {}})
            elif self.state == "PIL":
                self.state = "uint8"
            self.kind = "Image" if name == "ToImage" else "Tensor"
        elif name in _TENSORS and self.state == "PIL":
            refuse("it is for tensors: put ToTensor() or ToImage() before it")
        elif name in ("ToDtype", "ConvertImageDtype"):
            self.convert(t, name, v2, refuse)
        elif name == "Normalize":
            if self.state != "float":
                refuse("want float32 before it, as ToTensor() makes it")
            self.normalize(t)
            self.normalized = True
        elif name == "RandomErasing":
            if self.state != "float" or self.crops:
                refuse("want one image of float32 before it, as ToTensor() makes it, and not float16")
            erase = _arguments(t, name, self.kind, refuse)
            if t.value is None:  # as v2 stores "random"
                erase["value"] = "random"
            self.result.append({name: erase})
        elif name in _ARGUMENTS:
            self.change(t, name, refuse)
        else:
            refuse("this class is not known here: " + _WORKS)

    def change(self, t, name, refuse):
        """A step that changes the image, or its boxes."""
        arguments = _arguments(t, name, self.kind, refuse)
        if self.crops:
            refuse("want it before FiveCrop() and TenCrop()")
        if name in _BOXES:
            self.boxes(t, name, arguments, refuse)
        if name in _RESIZES and self.state == "uint8":
            self.resize(t, arguments, refuse)
        elif name in _BOXES and name not in _SAME:
            pass
        elif self.state == "uint8" and name not in _SAME:
            refuse("after ToImage() or PILToTensor() torchvision computes with tensors, whose pixels are not those of PIL images: put it before them")
        elif self.state in ("float", "half"):
            self.move(name, arguments, refuse)
        if any("RandomErasing" in step for step in self.result):
            refuse("want it before RandomErasing()")
        if name == "Grayscale":
            self.channels = arguments["num_output_channels"]
            self.grey = self.grey and self.channels == 1
        self.pad_mask(t, name, arguments, refuse)
        self.image.append({name: arguments})

    def resize(self, t, arguments, refuse):
        """A resize of a uint8 tensor."""
        if not type(t).__module__.startswith("torchvision.transforms.v2."):
            refuse("this class resizes tensors in float32: take that of torchvision.transforms.v2, or put it before ToImage() and PILToTensor()")
        if not t.antialias:
            refuse(f"antialias={t.antialias}: want True, or put it before ToImage(): PIL images always get it")
        if arguments["interpolation"] not in ("bilinear", "bicubic", "lanczos"):
            refuse("of tensors want interpolation BILINEAR, BICUBIC or LANCZOS, or put it before ToImage()")
        arguments["interpolation"] = "torch" + arguments["interpolation"]

    def move(self, name, arguments, refuse):
        """A step after the conversion to floats."""
        pads = name == "RandomCrop" and (arguments.get("padding") is not None or arguments.get("pad_if_needed"))
        plain = arguments.get("padding_mode", "constant") == "constant" and not numpy.any(arguments.get("fill", 0))
        if name not in _MOVING or not plain:
            refuse("it computes with floats, whose values are others: put it before the conversion to float32")
        if self.normalized and (pads or name == "CenterCrop"):
            refuse("after Normalize() it pads with 0, which is no black: put it before the conversion to float32")

    def boxes(self, t, name, arguments, refuse):
        """A step for boxes."""
        if "boxes" not in self.parts:
            refuse("it is for boxes: want a CocoDetection or a VOCDetection in torchvision.datasets.wrap_dataset_for_transforms_v2")
        if "options" in arguments:
            arguments["sampler_options"] = arguments.pop("options")
        if name == "SanitizeBoundingBoxes" and t.labels_getter != "default":
            refuse("want labels_getter='default', which takes the labels")
        if name == "ClampBoundingBoxes" and getattr(t, "clamping_mode", "auto") != "auto":
            refuse("want clamping_mode='auto'")
        if name == "ConvertBoundingBoxFormat":
            self.format = arguments["format"] = str(arguments["format"]).upper()
            if self.format not in ("XYXY", "XYWH", "CXCYWH"):
                refuse("want the format XYXY, XYWH or CXCYWH")

    def pad_mask(self, t, name, arguments, refuse):
        """Notes what a step fills masks with. All steps have to agree."""
        fills = "fill" in _ARGUMENTS[name].split() or name == "CenterCrop"
        never = name == "RandomCrop" and arguments.get("padding") is None and not arguments.get("pad_if_needed")
        if not fills or never or not {"mask", "masks"} & set(self.parts):
            return
        fill = _fill(getattr(t, "fill", 0), "Mask", refuse) or 0
        if isinstance(fill, list):
            refuse(f"it fills masks with {fill}: want one number, as fill={{tv_tensors.Mask: 255, 'others': …}} says it")
        if self.mask.setdefault("fill", fill) != fill:
            refuse(f"it fills masks with {fill}, and a step before it with {self.mask['fill']}: want one number for all")

    def several(self, t, name, refuse):
        """FiveCrop and TenCrop."""
        if self.parts or self.crops or any("RandomErasing" in step for step in self.result):
            refuse("want it once, for images without boxes and masks, and before RandomErasing()")
        arguments = {"size": list(t.size)}
        if name == "TenCrop":
            arguments["vertical_flip"] = t.vertical_flip
        self.result.insert(0, {name: arguments})
        self.crops = "tuple"

    def stack(self, function, refuse):
        """The function that makes one tensor of the crops, which is called to see what it does."""
        (name, arguments), *_ = self.result[0].items()
        how = _stacking(function, (5 if name == "FiveCrop" else 10, self.channels, *arguments["size"]), self.state)
        if how is None:
            refuse("it makes something else than a tensor of the crops: " + _STACK)
        if self.state == "PIL" and how == "ToTensor":
            self.floats({"ToTensor": {}})
        elif self.state == "PIL":
            self.state = "uint8"
        self.crops, self.kind = "stacked", "Tensor"

    def nest(self, t, name, place, refuse):
        """A step that has others."""
        inner = copy.copy(self)
        inner.result, inner.mask = list(self.result), dict(self.mask)
        steps = []
        for k, each in enumerate(t.transforms):
            inner.image = []
            inner.add(each, f"{place}.{name}[{k}]")
            steps.append(inner.image[0] if len(inner.image) == 1 else {"Compose": {"transforms": inner.image}})
        if "fill" in inner.mask:
            self.mask["fill"] = inner.mask["fill"]
        before, after = ({**vars(plan), "image": None} for plan in (self, inner))
        if before != after:
            refuse("want only steps in it that change the image and not its kind")
        step = {"transforms": steps}
        if name != "RandomOrder" and t.p is not None:
            step["p"] = _plain(t.p)
        self.image.append({name: step})

    def preset(self, t, name, refuse):
        """weights.transforms()."""
        if name not in ("ImageClassification", "SemanticSegmentation", "ObjectDetection"):
            refuse("of the presets of weights those for the classification of images, for segmentation and for detection are translated")
        if self.state != "PIL" or self.crops:
            refuse("want it alone")
        size = getattr(t, "resize_size", None)
        if size is not None:
            self.image.append({"Resize": {"size": size[0] if len(size) == 1 else list(size), "interpolation": _filter(t.interpolation, refuse)}})
        if hasattr(t, "crop_size"):
            self.image.append({"CenterCrop": {"size": [t.crop_size[0], t.crop_size[-1]]}})
        self.floats({"ToTensor": {}})
        self.kind = "Tensor"
        if name != "ObjectDetection":
            self.normalize(t)

    def timm(self, t, name, refuse):
        """The classes of timm.data."""
        if name in ("MaybeToTensor", "MaybePILToTensor"):
            if self.state != "PIL":
                return
            self.kind = "Tensor"
            if name == "MaybeToTensor":
                self.floats({"ToTensor": {}})
            else:
                self.state = "uint8"
        elif name == "RandomResizedCropAndInterpolation" and self.state == "PIL":
            filters = t.interpolation if isinstance(t.interpolation, (list, tuple)) else [t.interpolation]
            crops = [
                {"RandomResizedCrop": {"size": list(t.size), "scale": list(t.scale), "ratio": list(t.ratio), "interpolation": _filter(f, refuse)}}
                for f in filters
            ]
            self.image.append(crops[0] if len(crops) == 1 else {"RandomChoice": {"transforms": crops}})
        elif name == "RandomErasing" and self.state == "float":
            if t.rand_color or t.num_splits or (t.min_count, t.max_count) != (1, 1):
                refuse("want re_mode 'const' or 'pixel', re_count=1 and re_num_splits=0")
            ratio = [math.exp(x) for x in t.log_aspect_ratio]
            value = "random" if t.per_pixel else 0
            self.result.append({name: {"p": t.probability, "scale": [t.min_area, t.max_area], "ratio": ratio, "value": value}})
        elif "Augment" in name or name == "AugMixAugment":
            refuse("timm's policies are not translated: leave auto_augment out, and put torchvision's RandAugment before the others")
        else:
            refuse("of timm's classes those are translated that create_transform uses without auto_augment, with crop_mode 'center' or 'squash'")

    def convert(self, t, name, v2, refuse):
        """ToDtype and ConvertImageDtype."""
        dtype, scale = _of_kind(t.dtype, self.kind), getattr(t, "scale", True)
        if isinstance(t.dtype, dict):
            self.convert_parts(t.dtype, refuse)
        to = str(dtype).replace("torch.", "")
        now = {"uint8": "uint8", "float": "float32"}.get(self.state, self.state)
        if to == now or dtype is None:
            return
        if now == "uint8" and to == "float32":
            if not scale:
                self.floats({"Rescale": {"factor": 1}})
            elif v2:  # multiplies by 1/255
                self.floats({"ToDtype": {"dtype": "float32", "scale": True}})
            else:  # divides
                self.floats({"ToTensor": {}})
        elif now == "float32" and to in ("float16", "bfloat16"):
            self.result.append({"ToDtype": {"dtype": to}})
            self.state = "half"
        else:
            refuse(f"{now} becomes {to}: want float32 from uint8, and then float16 or bfloat16")

    def convert_parts(self, dtypes, refuse):
        """What ToDtype says of masks and boxes."""
        of_masks, of_boxes = (str(_of_kind(dtypes, kind)).replace("torch.", "") for kind in ("Mask", "BoundingBoxes"))
        if {"mask", "masks"} & set(self.parts) and of_masks != "None":
            if of_masks not in ("uint8", "int32", "int64"):
                refuse(f"masks become {of_masks}: want uint8, int32 or int64")
            self.mask["dtype"] = of_masks
        if "boxes" in self.parts and of_boxes not in ("None", "float32"):
            refuse(f"boxes become {of_boxes}: want float32, which they are")

    def floats(self, step):
        self.result.append(step)
        self.state = "float"

    def normalize(self, t):
        mean, std = ([float(numpy.float32(x)) for x in _listed(v)] for v in (t.mean, t.std))
        self.result.append({"Normalize": {"mean": mean, "std": std}})


def _refuse(t, place, why):
    try:
        shown = " ".join(repr(t).split())
    except Exception:
        shown = type(t).__qualname__
    shown = shown if len(shown) <= 100 else shown[:100] + "…"
    raise TypeError(f"{place}: {shown} ({class_of(t)}): {why}")


def class_of(x):
    """The name of an object's class, with its module."""
    return f"{type(x).__module__}.{type(x).__qualname__}"


_STACK = "want torchvision.transforms.Lambda(torch.stack) after ToImage() or ToTensor(), or Lambda(lambda crops: torch.stack([ToTensor()(crop) for crop in crops]))"


def _stacking(function, shape, state):
    """Which conversion a function makes of every crop before it stacks them: "ToTensor", "PILToTensor" or None, if it does something else.

    It is called with four samples of noise, whose crops have the right size. Tensors are to be stacked as they are.
    """
    import torch
    from torchvision.transforms import functional

    whole = {"ToTensor": functional.to_tensor, "PILToTensor": functional.pil_to_tensor} if state == "PIL" else {"as it is": lambda crop: crop}
    noise = numpy.random.default_rng(1)
    for _ in range(4):
        crops = torch.from_numpy(noise.integers(0, 256, shape, numpy.uint8))
        crops = tuple(functional.to_pil_image(crop) if state == "PIL" else crop if state == "uint8" else crop / 255 for crop in crops)
        try:
            got = function(crops)
        except Exception:
            return None
        for name, convert in list(whole.items()):
            want = torch.stack([convert(crop) for crop in crops])
            if not isinstance(got, torch.Tensor) or got.dtype != want.dtype or not torch.equal(got, want):
                del whole[name]
    return next(iter(whole), None)


def _arguments(t, name, kind, refuse):
    """The arguments of an object for images of a kind, as JSON has them. None is left out."""
    values = {key: getattr(t, key) for key in _ARGUMENTS[name].split() if getattr(t, key, None) is not None}
    for key, v in values.items():
        v = _plain(v)
        if key == "interpolation":
            v = _filter(v, refuse)
        elif key == "fill":
            v = _fill(getattr(t, key), kind, refuse)
        elif name == "ColorJitter":
            v = _around(key, v)
        elif key in ("size", "padding") and isinstance(v, list) and len(v) == 1:
            v = v[0]
        elif name == "ElasticTransform" and isinstance(v, list):
            if len(set(v)) != 1:
                refuse(f"{key}={v}: want one number for both axes")
            v = v[0]
        values[key] = v
    if name == "Resize" and "size" not in values:
        refuse("size=None is not translated: want the size of the shorter side")
    return {key: v for key, v in values.items() if v is not None}


def _plain(v):
    """A value as JSON has it."""
    if isinstance(v, enum.Enum):
        return _plain(v.value)
    if hasattr(v, "tolist"):  # of torch and numpy
        return v.tolist()
    if isinstance(v, (list, tuple)):
        return [_plain(x) for x in v]
    return v


def _listed(v):
    v = _plain(v)
    return v if isinstance(v, list) else [v]


def _of_kind(v, kind):
    """What an argument says of images or parts of a kind, if it has a value for each class."""
    if not isinstance(v, dict):
        return v
    kinds = {("PIL" if getattr(k, "__module__", "").startswith("PIL.") else getattr(k, "__name__", k)): x for k, x in v.items()}
    return kinds.get(kind, kinds.get("others"))


def _filter(v, refuse):
    v = _plain(v)
    v = _FILTERS.get(v, v)
    if v not in _FILTERS.values():
        refuse(f"interpolation={v!r} is not known")
    return v


def _fill(v, kind, refuse):
    """The colour for images or masks of a kind, or None."""
    v = _plain(_of_kind(v, kind))
    if v is None or isinstance(v, numbers.Number):
        return v
    if not isinstance(v, list) or not all(isinstance(x, numbers.Number) for x in v):
        refuse(f"fill={v!r}: want a number or one per channel")
    return v[0] if len(v) == 1 else v


def _around(key, v):
    """The argument of ColorJitter for a range: one number if it means the same."""
    least, greatest = v
    middle = 0 if key == "hue" else 1
    x = round(greatest - middle, 12)
    low = -x if key == "hue" else max(0, 1 - x)
    return x if x >= 0 and abs(least - low) < 1e-9 else [least, greatest]
