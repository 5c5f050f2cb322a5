package audio_test

import (
	"fmt"
	"log"

	"github.com/penstock-go/penstock/transform/audio"
)

// Kaldi's features, as torchaudio.compliance.kaldi.fbank computes them.
func ExampleSpectrogram() {
	c, err := audio.Compile(audio.Spectrogram{
		Rate: 16000, Scale: 32768, FrameLength: 400, HopLength: 160, FFTLength: 512, Edge: audio.Inside,
		RemoveDC: true, Preemphasis: 0.97, Window: audio.Povey, Symmetric: true,
		Mel:   audio.Mel{Filters: 80, Low: 20, Kaldi: true},
		Floor: 1.1920928955078125e-07, Log: audio.Natural,
		FramesFirst: true,
	})
	if err != nil {
		log.Fatal(err)
	}
	samples := make([]float32, 16000)
	for i := range samples {
		samples[i] = float32(i*i%1000)/1000 - 0.5
	}
	features, err := c.Append(nil, audio.Wave{Samples: samples, Rate: c.Rate()})
	fmt.Println(c.Field(), len(features)/80, "frames", err)
	// Output:
	// input_features float32 (n, 80) 98 frames <nil>
}

// Coefficients as torchaudio.transforms.MFCC computes them by default.
func ExampleSpectrogram_cepstral() {
	mfcc := audio.Spectrogram{
		Rate: 16000, FrameLength: 400, HopLength: 200, Mel: audio.Mel{Filters: 128, HTK: true},
		Floor: 1e-10, Log: audio.Decibels, Range: 80, Cepstral: 40,
	}
	c, err := audio.Compile(audio.Fit(16000), mfcc)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(c.Field())
	// Output:
	// input_features float32 (40, 81)
}

// A list of steps is a step: here the one that makes training harder.
func ExampleList() {
	harder := audio.List{audio.Speed{0.9, 1, 1.1}, audio.Gain{-6, 6}, audio.Noise{10, 40}}
	c, err := audio.Compile(audio.Mono{}, audio.Resample(16000), harder, audio.RandomCrop(48000), audio.Preemphasis(0.97),
		audio.Standardize{})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Print(c)
	// Output:
	// waveform → waveform float32 (48000)
	//   Mono
	//   Resample(16000)
	//   Speed(0.9 1 1.1)
	//   Gain(-6 6)
	//   Noise(10 40)
	//   RandomCrop(48000)
	//   Preemphasis(0.97)
	//   Standardize
}
