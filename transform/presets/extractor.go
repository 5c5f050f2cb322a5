package presets

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/penstock-go/penstock/transform/audio"
	"github.com/penstock-go/penstock/transform/internal/extractor"
)

// FeatureExtractor makes the step of package transform/audio that a feature extractor of Hugging Face's transformers is. The argument is the
// content of preprocessor_config.json, or of a processor_config.json with an object feature_extractor. The result is that of the NumPy code of
// transformers for one waveform; docs/audio.md says for which classes, and how far torch's code is from it.
//
// Waveforms must have one channel and the number of samples per second of the configuration: put [audio.Mono] and [audio.Resample] before
// the step. Keys that are missing have the defaults of their class. A key that is not known, and a value that cannot be met, are errors
// that name the key.
func FeatureExtractor(config []byte) (audio.Step, error) { return extractorOf(config, "") }

// OpenFeatureExtractor is [FeatureExtractor] of the model in a folder: of processor_config.json with an object feature_extractor, or else of
// preprocessor_config.json. It returns the name of the file, too. A configuration that does not name its class has that of the model_type
// in config.json. Without any of the files the error is [fs.ErrNotExist].
func OpenFeatureExtractor(folder fs.FS) (step audio.Step, file string, err error) {
	for _, name := range []string{"processor_config.json", "preprocessor_config.json"} {
		config, err := readConfig(folder, name)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			continue
		case err != nil:
			return nil, name, fmt.Errorf("presets: OpenFeatureExtractor: %w", err)
		case name == "processor_config.json" && !keysOf(config).has("feature_extractor"):
			continue
		}
		step, err := extractorOf(config, modelType(folder))
		return step, name, err
	}
	return nil, "", fmt.Errorf("presets: OpenFeatureExtractor: want preprocessor_config.json, or processor_config.json with feature_extractor: %w", fs.ErrNotExist)
}

// A featureExtractor is one of transformers, with its defaults: those of version 5.23.
type featureExtractor struct {
	name   string                    // without FeatureExtractor
	models string                    // values of model_type in the config.json of its models
	list   func(o object) audio.List // takes the keys
}

// extractors are all that can be read.
var extractors = []featureExtractor{
	{"Whisper", "whisper audioflamingo3 glmasr qwen2_5_omni qwen2_audio qwen3_omni_moe voxtral", whisper},
	{"Wav2Vec2", "wav2vec2 data2vec-audio hubert moonshine sew sew-d unispeech unispeech-sat wav2vec2-bert wav2vec2-conformer wavlm", wav2vec2},
	{"SeamlessM4T", "seamless_m4t seamless_m4t_v2", seamless},
	{"Speech2Text", "speech_to_text", speech2Text},
	{"AST", "audio-spectrogram-transformer", ast},
	{"Clap", "clap", clap},
	{"Parakeet", "canary parakeet_ctc parakeet_encoder parakeet_rnnt parakeet_tdt", parakeet},
}

// extractorOf makes the step of a configuration of a model of that model_type.
func extractorOf(config []byte, model string) (audio.Step, error) {
	var errs []error
	var list audio.List
	if o := parseObject(config, &errs); errs == nil {
		if inner, ok := o.object("feature_extractor"); ok {
			o.without("processor_class", "image_processor", "video_processor", "tokenizer", "chat_template", "auto_map")
			o.end()
			o = inner
		}
		if c, ok := extractorClass(o, model); ok {
			list = c.list(o)
			o.without(withoutSound...)
			o.end()
		}
	}
	if errs == nil {
		_, err := audio.Compile(list...)
		errs = append(errs, err)
	}
	for k, err := range errs {
		if err != nil {
			errs[k] = fmt.Errorf("presets: FeatureExtractor: %w", err)
		}
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	return list, nil
}

// extractorClass is the class that the configuration names, or that of the model.
func extractorClass(o object, model string) (c featureExtractor, ok bool) {
	const key = "feature_extractor_type"
	is := func(e featureExtractor) bool { return slices.Contains(strings.Fields(e.models), model) }
	name := o.word(key)
	switch {
	case name != "":
		is = func(e featureExtractor) bool { return e.name+"FeatureExtractor" == name }
	case model == "":
		o.fail(key, "missing; OpenFeatureExtractor also reads the model_type of config.json")
		return c, false
	default:
		name = fmt.Sprintf("missing, and that of model_type %q", model)
	}
	k := slices.IndexFunc(extractors, is)
	if k < 0 {
		o.fail(key, "%s is not supported", name)
		return c, false
	}
	return extractors[k], true
}

// withoutSound are keys that do not change what is made of one waveform: names, what follows from other keys, and how batches are made.
var withoutSound = []string{
	"_processor_class", "auto_map", "feature_size", "mel_filters", "model_input_names", "n_samples", "nb_frequency_bins", "nb_max_frames",
	"nb_max_samples", "padding_side", "padding_value", "processor_class", "return_attention_mask", "return_tensors", "transformers_version",
}

// rate takes the number of samples per second.
func (o object) rate(other int) int { return o.wholeOr("sampling_rate", other) }

// noDither takes the noise that transformers would draw.
func (o object) noDither() {
	if o.number("dither", 0) != 0 {
		o.fail("dither", "want 0: its noise depends on NumPy's random numbers")
	}
}

// A step is one of package audio with what only feature extractors ask of it.
type step struct {
	audio.Step
	extra extractor.Extra
}

// Extra tells package audio.
func (s step) Extra() (any, extractor.Extra) { return s.Step, s.extra }

// String is that of a list of one step.
func (s step) String() string { return audio.List{s}.String() }

func whisper(o object) audio.List {
	o.noDither()
	rate, filters := o.rate(16000), o.few("feature_size", 80)
	return audio.List{
		step{audio.Fit(o.few("chunk_length", 30) * rate), extractor.Extra{Value: float32(o.number("padding_value", 0))}},
		audio.Spectrogram{
			Rate: rate, FrameLength: o.wholeOr("n_fft", 400), HopLength: o.wholeOr("hop_length", 160),
			Mel:   audio.Mel{Filters: filters, High: 8000, Area: true},
			Floor: 1e-10, Log: audio.Log10, DropLast: true, Range: 8, Mean: -4, Std: 4,
		},
	}
}

func wav2vec2(o object) audio.List {
	list := audio.List{step{audio.Resample(o.rate(16000)), extractor.Extra{Only: true, Name: "input_values"}}}
	if o.flag("do_normalize", true) {
		list = append(list, audio.Standardize{})
	}
	return list
}

// kaldi is a bank of filters as Kaldi's.
func kaldi(rate, filters int, window audio.Window) audio.Spectrogram {
	return audio.Spectrogram{
		Rate: rate, FrameLength: 400, HopLength: 160, FFTLength: 512, Edge: audio.Inside,
		RemoveDC: true, Preemphasis: 0.97, Window: window, Symmetric: true,
		Mel:   audio.Mel{Filters: filters, Low: 20, High: float64(rate / 2), Kaldi: true},
		Floor: 1.192092955078125e-07, Log: audio.Natural, FramesFirst: true,
	}
}

func seamless(o object) audio.List {
	extra := extractor.Extra{PerFilter: extractor.Unbiased, Multiple: 2, Value: float32(o.number("padding_value", 0)), Stack: o.few("stride", 2)}
	if extra.Stack > 2 {
		o.fail("stride", "want 1 or 2, not %d", extra.Stack)
	}
	s := kaldi(o.rate(16000), o.few("num_mel_bins", 80), audio.Povey)
	s.Scale = 1 << 15
	return audio.List{step{s, extra}}
}

func speech2Text(o object) audio.List {
	o.noDither()
	var extra extractor.Extra
	means, vars := o.flag("normalize_means", true), o.flag("normalize_vars", true)
	if o.flag("do_ceptral_normalize", true) {
		if extra.PerFilter = extractor.CMVN; !means || !vars {
			o.fail("normalize_vars", "want true, and normalize_means true, with do_ceptral_normalize")
		}
	}
	s := kaldi(o.rate(16000), o.few("num_mel_bins", 80), audio.Povey)
	s.Scale = 1 << 15
	return audio.List{step{s, extra}}
}

func ast(o object) audio.List {
	s := kaldi(o.rate(16000), o.few("num_mel_bins", 128), audio.Hann)
	mean, std := o.number("mean", -4.2677393), o.number("std", 4.5689974)
	if o.flag("do_normalize", true) {
		if s.Mean, s.Std = mean, 2*std; std == 0 {
			o.fail("std", "want another number than 0")
		}
	}
	return audio.List{step{s, extractor.Extra{Frames: o.wholeOr("max_length", 1024), Name: "input_values"}}}
}

func clap(o object) audio.List {
	o.without("n_fft", "chunk_length_s", "top_db") // transformers does not read them
	rate := o.rate(48000)
	fit := step{audio.Fit(o.few("max_length_s", 10) * rate), extractor.Extra{Whole: true}}
	mel := audio.Mel{Filters: o.few("feature_size", 64), Low: o.number("frequency_min", 0), High: o.number("frequency_max", 14000)}
	copies := 1
	switch pad := o.wordOr("padding", "repeatpad"); pad {
	case "repeatpad":
		fit.extra.Repeat = true
	case "pad":
	default:
		o.fail("padding", "want \"repeatpad\" or \"pad\", not %q", pad)
	}
	switch cut := o.wordOr("truncation", "fusion"); cut {
	case "fusion":
		mel.HTK, copies = true, 4
	case "rand_trunc":
		mel.Area = true
	default:
		o.fail("truncation", "want \"fusion\" or \"rand_trunc\", not %q", cut)
	}
	return audio.List{fit, step{audio.Spectrogram{
		Rate: rate, FrameLength: o.wholeOr("fft_window_size", 1024), HopLength: o.wholeOr("hop_length", 480), Mel: mel,
		Floor: 1e-10, Log: audio.Decibels, FramesFirst: true,
	}, extractor.Extra{Copies: copies}}}
}

// wordOr takes a string.
func (o object) wordOr(key, other string) string { return read(o, key, "a string", other) }

func parakeet(o object) audio.List {
	rate, filters := o.rate(16000), o.few("feature_size", 80)
	var list audio.List
	if c := o.number("preemphasis", 0.97); c != 0 {
		list = append(list, audio.Preemphasis(c))
	}
	return append(list, step{audio.Spectrogram{
		Rate: rate, FrameLength: o.wholeOr("n_fft", 512), HopLength: o.wholeOr("hop_length", 160), WindowLength: o.wholeOr("win_length", 400),
		Symmetric: true, Edge: audio.Silence, Mel: audio.Mel{Filters: filters, Area: true},
		Offset: 1.0 / (1 << 24), Log: audio.Natural, DropLast: true, FramesFirst: true,
	}, extractor.Extra{PerFilter: extractor.NeMo}})
}
