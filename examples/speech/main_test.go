package main

import (
	"image/png"
	"os"
	"path/filepath"
	"testing"

	files "github.com/penstock-go/penstock/dataset/audio"
	"github.com/penstock-go/penstock/transform/audio"
	"github.com/penstock-go/penstock/transform/presets"
)

// TestFeaturesAreWhispers: those of a clip of 30 seconds, with a row for a frame instead of one for a filter.
func TestFeaturesAreWhispers(t *testing.T) {
	whisper, err := presets.FeatureExtractor([]byte(`{"feature_extractor_type": "WhisperFeatureExtractor"}`))
	if err != nil {
		t.Fatal(err)
	}
	clip := audio.Wave{Samples: make([]float32, 30*rate), Rate: rate}
	for i := range clip.Samples {
		clip.Samples[i] = float32(i*(i%1000)%997)/997 - 0.5
	}
	var features [2][]float32
	for k, step := range []audio.Step{whisper, logMel} {
		c, err := audio.Compile(step)
		if err != nil {
			t.Fatal(err)
		}
		if features[k], err = c.Append(nil, clip); err != nil {
			t.Fatal(err)
		}
	}
	want, got := features[0], features[1]
	if len(want) != 3000*filters || len(got) != len(want) {
		t.Fatalf("%d features, want %d", len(got), len(want))
	}
	for i, x := range want {
		if frame, filter := i%3000, i/3000; got[frame*filters+filter] != x {
			t.Fatalf("frame %d, filter %d: %v, want %v", frame, filter, got[frame*filters+filter], x)
		}
	}
}

func TestWhatItWritesCanBeRead(t *testing.T) {
	clips, err := filepath.Abs("clips")
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(t.TempDir())
	for _, *train = range []bool{false, true} {
		*dir, *epochs = clips, 1
		if err := run(); err != nil {
			t.Fatal(err)
		}
	}
	picture, err := os.Open("speech.png")
	if err != nil {
		t.Fatal(err)
	}
	defer picture.Close()
	if _, err := png.Decode(picture); err != nil {
		t.Error(err)
	}
	file, err := os.ReadFile("speech.wav")
	if err != nil {
		t.Fatal(err)
	}
	wave, info, err := files.Decode(file)
	if err != nil || info.Rate != rate || info.Channels != 1 || info.Encoding != "f32le" {
		t.Fatalf("%+v, %v", info, err)
	}
	if n := len(wave); n < rate/2 || n > rate { // 0.6 seconds, between 10% faster and 10% slower
		t.Errorf("%d samples", n)
	}
	loudest := float32(0)
	for _, x := range wave {
		loudest = max(loudest, x)
	}
	if loudest < 0.2 || loudest > 1 {
		t.Errorf("the greatest sample is %v", loudest)
	}
}
