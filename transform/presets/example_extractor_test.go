package presets_test

import (
	"fmt"
	"log"
	"testing/fstest"

	"github.com/penstock-go/penstock/transform/audio"
	"github.com/penstock-go/penstock/transform/presets"
)

// The features of Whisper, of a recording with two channels and 44,100 samples per second.
func ExampleFeatureExtractor() {
	whisper, err := presets.FeatureExtractor([]byte(`{
		"chunk_length": 30, "feature_extractor_type": "WhisperFeatureExtractor", "feature_size": 80, "hop_length": 160, "n_fft": 400,
		"n_samples": 480000, "nb_max_frames": 3000, "padding_side": "right", "padding_value": 0.0, "sampling_rate": 16000
	}`))
	if err != nil {
		log.Fatal(err)
	}
	c, err := audio.Compile(audio.Mono{}, audio.Resample(16000), whisper)
	if err != nil {
		log.Fatal(err)
	}
	features := make([]float32, c.Field().Elements())
	err = c.Into(features, audio.Wave{Samples: make([]float32, 2*44100), Channels: 2, Rate: 44100})
	fmt.Println(c.Field(), err)

	_, err = presets.FeatureExtractor([]byte(`{"feature_extractor_type": "WhisperFeatureExtractor", "n_mels": 80}`))
	fmt.Println(err)
	// Output:
	// input_features float32 (80, 3000) <nil>
	// presets: FeatureExtractor: key "n_mels": not known (its value is 80)
}

// The step of a model in a folder: os.DirFS("wav2vec2-base") in a program.
func ExampleOpenFeatureExtractor() {
	folder := fstest.MapFS{
		"preprocessor_config.json": {Data: []byte(`{"do_normalize": true, "feature_size": 1, "padding_value": 0.0, "sampling_rate": 16000}`)},
		"config.json":              {Data: []byte(`{"model_type": "wav2vec2"}`)},
	}
	step, file, err := presets.OpenFeatureExtractor(folder)
	fmt.Println(step, file, err)
	// Output:
	// Resample(16000 Name:input_values Only), Standardize preprocessor_config.json <nil>
}
