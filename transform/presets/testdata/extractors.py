"""Makes extractors.json: what feature extractors of transformers make of waveforms, by their NumPy code.

    pip install torch==2.15.0 transformers==5.23.0
    python extractors.py

The waveforms are computed from whole numbers, as internal/datatest does, so no sound is stored. For every configuration and waveform there
are the shape, the first 16 digits of the SHA-256 of the values as float32, their sum, and about 100 of them. "torch" is the greatest
difference of torch's code from that, where a class has both. Parakeet has torch's code alone, and its frames are those that its mask has.
"""
import hashlib
import json
import pathlib

import numpy as np
import transformers
from transformers.models.whisper import feature_extraction_whisper as fw

here = pathlib.Path(__file__).parent


def wave(n, seed):
    """Sweeping triangles and noise of 16 bits, louder and quieter, with silence."""
    mask, state, phase, step = 0xFFFFFFFF, seed, 0, 40_000_000
    gains = [1024, 300, 0, 700, 20, 1, 512]
    out = np.empty(n, np.float32)
    for i in range(n):
        state = (state * 1664525 + 1013904223) & mask
        phase, step = (phase + step) & mask, (step + 3571) & 0x3FFFFFFF
        gain = gains[(i >> 12) % 7]
        tone, noise = abs((phase >> 16) - 32768) * 2 - 32768, (state >> 16) - 32768
        out[i] = ((tone * gain) >> 11) + ((noise * gain) >> 14)
    return out / np.float32(32768)


kaldi = dict(feature_size=80, num_mel_bins=80, padding_side="right", padding_value=0.0, return_attention_mask=True, sampling_rate=16000)
clap = dict(chunk_length_s=10, feature_extractor_type="ClapFeatureExtractor", feature_size=64, fft_window_size=1024, frequency_max=14000,
            frequency_min=50, hop_length=480, max_length_s=10, n_fft=1024, nb_frequency_bins=513, nb_max_frames=1000, nb_max_samples=480000,
            padding="repeatpad", padding_side="right", padding_value=0.0, processor_class="ClapProcessor", return_attention_mask=False,
            sampling_rate=48000, top_db=None, truncation="rand_trunc")
whisper = dict(chunk_length=30, feature_extractor_type="WhisperFeatureExtractor", feature_size=80, hop_length=160, n_fft=400,
               n_samples=480000, nb_max_frames=3000, padding_side="right", padding_value=0.0, processor_class="WhisperProcessor",
               return_attention_mask=False, sampling_rate=16000)
wav2vec2 = dict(do_normalize=True, feature_extractor_type="Wav2Vec2FeatureExtractor", feature_size=1, padding_side="right",
                padding_value=0.0, return_attention_mask=False, sampling_rate=16000)
ast = dict(do_normalize=True, feature_extractor_type="ASTFeatureExtractor", feature_size=1, max_length=1024, mean=-4.2677393,
           num_mel_bins=128, padding_side="right", padding_value=0.0, return_attention_mask=False, sampling_rate=16000, std=4.5689974)

# The keys are those that models were published with.
CONFIGS = {
    "Whisper": (whisper, [401, 16000, 83417, 485000]),
    "Whisper, 128 filters": (dict(whisper, feature_size=128, mel_filters=None, dither=0.0), [83417]),
    "Whisper, 10 seconds": (dict(whisper, chunk_length=10), [83417]),
    "Wav2Vec2": (wav2vec2, [7, 100, 401, 16000, 83417, 485000]),
    "Wav2Vec2, as it is": (dict(wav2vec2, do_normalize=False), [16000]),
    "SeamlessM4T": (dict(kaldi, feature_extractor_type="SeamlessM4TFeatureExtractor", stride=2), [720, 16000, 83417]),
    "Speech2Text": (dict(kaldi, feature_extractor_type="Speech2TextFeatureExtractor", do_ceptral_normalize=True, normalize_means=True,
                         normalize_vars=True), [16000, 83417]),
    "Speech2Text, as it is": (dict(kaldi, feature_extractor_type="Speech2TextFeatureExtractor", do_ceptral_normalize=False), [400, 16000]),
    "AST": (ast, [400, 16000, 176000]),
    "AST, as it is": (dict(ast, do_normalize=False, max_length=100), [8000]),
    "CLAP": (clap, [7000, 83417, 480000]),
    "Parakeet": (dict(feature_extractor_type="ParakeetFeatureExtractor", feature_size=128, hop_length=160, n_fft=512, padding_side="right",
                      padding_value=0.0, preemphasis=0.97, processor_class="ParakeetProcessor", return_attention_mask=True,
                      sampling_rate=16000, win_length=400), [16000, 83417]),
    "CLAP, fused": (dict(clap, truncation="fusion", padding="pad"), [83417]),
}


def call(config, x):
    cls = getattr(transformers, config["feature_extractor_type"])
    keys = {k: v for k, v in config.items() if k != "feature_extractor_type"}
    extractor = cls.from_dict(keys)
    out = extractor(x, sampling_rate=config["sampling_rate"], return_tensors="np")
    y = np.asarray(out[extractor.model_input_names[0]], np.float32)[0]
    if "attention_mask" in out and cls.__name__.startswith("Parakeet"):
        y = y[np.asarray(out["attention_mask"][0]).astype(bool)]
    return y


rows = []
for name, (config, lengths) in CONFIGS.items():
    for n in lengths:
        x = wave(n, n)
        fw.is_torch_available = lambda: False
        y = call(config, x)
        assert np.isfinite(y).all(), (name, n)
        row = dict(name=name, config=config, samples=n, shape=y.shape, sum=float(y.astype(np.float64).sum()),
                   hash=hashlib.sha256(np.ascontiguousarray(y, "<f4").tobytes()).hexdigest()[:16])
        step = max(y.size // 100, 1)
        row["step"], row["values"] = step, [float(v) for v in y.ravel()[::step]]
        if name.startswith("Whisper"):
            fw.is_torch_available = lambda: True
            row["torch"] = float(np.abs(call(config, x) - y).max())
        rows.append(row)
        print(name, n, y.shape, row["hash"], row.get("torch", ""))
(here / "extractors.json").write_text(json.dumps(rows, separators=(",", ":")).replace("},{", "},\n{") + "\n")
