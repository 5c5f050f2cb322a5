package presets_test

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/penstock-go/penstock/internal/allocs"
	"github.com/penstock-go/penstock/internal/datatest"
	"github.com/penstock-go/penstock/transform/audio"
	"github.com/penstock-go/penstock/transform/presets"
)

// goldenFeatures is a row of what testdata/extractors.py wrote down.
type goldenFeatures struct {
	Name    string
	Config  json.RawMessage
	Samples int
	Shape   []int
	Sum     float64
	Hash    string
	Step    int
	Values  []float32
	Torch   float64
}

// compiledExtractor compiles the step of a configuration.
func compiledExtractor(t testing.TB, config []byte) *audio.Compiled {
	t.Helper()
	step, err := presets.FeatureExtractor(config)
	if err != nil {
		t.Fatal(err)
	}
	c, err := audio.Compile(step)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// TestFeaturesAreThoseOfTransformers: the same bits on the processors that were compared. On others a float64 may be so near to the middle
// of two float32 that the last bits of other functions of math decide; then they are within 1e-6. Parakeet has torch's code alone, in float32.
func TestFeaturesAreThoseOfTransformers(t *testing.T) {
	var rows []goldenFeatures
	datatest.JSON(t, "testdata/extractors.json", &rows)
	same := 0
	for _, g := range rows {
		t.Run(fmt.Sprintf("%s %d", g.Name, g.Samples), func(t *testing.T) {
			c := compiledExtractor(t, g.Config)
			got, err := c.Append(nil, audio.Wave{Samples: datatest.Wave(g.Samples, uint32(g.Samples)), Rate: c.Rate()})
			if err != nil {
				t.Fatal(err)
			}
			field, shape := c.Field(), slices.Clone(g.Shape)
			if field.Ragged {
				shape = shape[1:]
			}
			if !slices.Equal([]int(field.Shape), shape) || len(got)%field.Elements() != 0 {
				t.Fatalf("%v of %d values, want the shape %v", field, len(got), g.Shape)
			}
			hash := sha256.New()
			var sum, worst float64
			for i, v := range got {
				hash.Write(binary.LittleEndian.AppendUint32(nil, math.Float32bits(v)))
				sum += float64(v)
				if i%g.Step == 0 {
					worst = max(worst, math.Abs(float64(v)-float64(g.Values[i/g.Step]))/max(1, math.Abs(float64(v))))
				}
			}
			if fmt.Sprintf("%x", hash.Sum(nil)[:8]) == g.Hash {
				same++
				return
			}
			if t.Logf("some bits differ, by up to %.3g", worst); runtime.GOARCH == "amd64" && g.Name != "Parakeet" {
				t.Error("want the same bits, as docs/audio.md says")
			}
			bound := 1e-6
			if g.Name == "Parakeet" { // torch computes in float32
				bound = 5e-5
			}
			if !(worst <= bound) || !(math.Abs(sum-g.Sum) <= bound*float64(len(got))) {
				t.Errorf("greatest difference %v, sum %v, want %v", worst, sum, g.Sum)
			}
		})
	}
	t.Logf("%d of %d have the same bits", same, len(rows))
}

func TestFeatureExtractorSaysWhatItCannotDo(t *testing.T) {
	for _, c := range []struct{ config, want string }{
		{`[]`, "want a JSON object"},
		{`{}`, `key "feature_extractor_type": missing`},
		{`{"feature_extractor_type": "EncodecFeatureExtractor"}`, `EncodecFeatureExtractor is not supported`},
		{`{"feature_extractor_type": "WhisperFeatureExtractor", "window": 3}`, `key "window": not known`},
		{`{"feature_extractor_type": "WhisperFeatureExtractor", "dither": 0.1}`, `key "dither": want 0`},
		{`{"feature_extractor_type": "WhisperFeatureExtractor", "n_fft": 262}`, `FFTLength`},
		{`{"feature_extractor_type": "WhisperFeatureExtractor", "chunk_length": 1000, "sampling_rate": 700000}`, `Fit`},
		{`{"feature_extractor_type": "ClapFeatureExtractor", "truncation": "cut"}`, `key "truncation": want`},
		{`{"feature_extractor_type": "ClapFeatureExtractor", "padding": "repeat"}`, `key "padding": want`},
		{`{"feature_extractor_type": "SeamlessM4TFeatureExtractor", "stride": 3}`, `key "stride": want 1 or 2`},
		{`{"feature_extractor_type": "Speech2TextFeatureExtractor", "normalize_vars": false}`, `key "normalize_vars": want true`},
		{`{"feature_extractor_type": "ASTFeatureExtractor", "std": 0}`, `key "std": want another number`},
		{`{"feature_extractor": {"feature_extractor_type": "Wav2Vec2FeatureExtractor", "x": 1}}`, `key "feature_extractor.x": not known`},
	} {
		if _, err := presets.FeatureExtractor([]byte(c.config)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want %q", c.config, err, c.want)
		}
	}
}

func TestOpenFeatureExtractorFindsTheFile(t *testing.T) {
	for _, c := range []struct{ files, file, field string }{
		{`{"preprocessor_config.json": {"feature_extractor_type": "WhisperFeatureExtractor"}}`, "preprocessor_config.json", "input_features"},
		{`{"preprocessor_config.json": {"do_normalize": true}, "config.json": {"model_type": "hubert"}}`, "preprocessor_config.json", "input_values"},
		{`{"processor_config.json": {"feature_extractor": {"feature_extractor_type": "ASTFeatureExtractor"}, "processor_class": "X"},
		   "preprocessor_config.json": {}}`, "processor_config.json", "input_values"},
		{`{"processor_config.json": {"processor_class": "X"}, "preprocessor_config.json": {"feature_extractor_type": "SeamlessM4TFeatureExtractor"}}`,
			"preprocessor_config.json", "input_features"},
	} {
		var files map[string]json.RawMessage
		if err := json.Unmarshal([]byte(c.files), &files); err != nil {
			t.Fatal(err)
		}
		folder := fstest.MapFS{}
		for name, text := range files {
			folder[name] = &fstest.MapFile{Data: text}
		}
		step, file, err := presets.OpenFeatureExtractor(folder)
		if err != nil || file != c.file {
			t.Errorf("%s: %s, %v", c.files, file, err)
			continue
		}
		p, err := audio.Compile(step)
		if err != nil || p.Field().Name != c.field {
			t.Errorf("%s: %v, %v", c.files, p, err)
		}
	}
	if _, _, err := presets.OpenFeatureExtractor(fstest.MapFS{}); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("an empty folder: %v", err)
	}
	if _, file, err := presets.OpenFeatureExtractor(fstest.MapFS{"preprocessor_config.json": {Data: []byte(`{}`)}}); err == nil || file == "" {
		t.Errorf("a configuration without a class: %q, %v", file, err)
	}
}

func TestFeaturesAllocateNothing(t *testing.T) {
	for _, class := range []string{"Whisper", "Wav2Vec2", "SeamlessM4T", "Speech2Text", "AST", "Clap", "Parakeet"} {
		c := compiledExtractor(t, []byte(`{"feature_extractor_type": "`+class+`FeatureExtractor"}`))
		wave := audio.Wave{Samples: datatest.Wave(40000, 1), Rate: c.Rate()}
		dst, err := c.Append(nil, wave)
		if err != nil {
			t.Fatal(err)
		}
		if n := allocs.PerRun(0, 5, func() {
			if err := c.Into(dst, wave); err != nil {
				t.Fatal(err)
			}
		}); n != 0 {
			t.Errorf("%s: %v allocations", class, n)
		}
	}
}

func BenchmarkWhisper30Seconds(b *testing.B) {
	c := compiledExtractor(b, []byte(`{"feature_extractor_type": "WhisperFeatureExtractor"}`))
	wave := audio.Wave{Samples: datatest.Wave(480000, 1), Rate: 16000}
	for i, v := range wave.Samples { // no silence, which is skipped
		wave.Samples[i] = v + float32(i%17-8)/1024
	}
	dst := make([]float32, 80*3000)
	b.ReportAllocs()
	for b.Loop() {
		if err := c.Into(dst, wave); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(b.Elapsed().Seconds()*1000/float64(b.N), "ms/clip")
}
