package audio_test

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math"
	"testing"

	"github.com/penstock-go/penstock/internal/datatest"
	"github.com/penstock-go/penstock/transform/audio"
)

// golden is a row of what testdata/audio.py wrote down.
type golden struct {
	Kind    string
	Options struct {
		Frame, Hop, FFT, Mels, Rate, From, To    int
		Window, Edge, Scale, Log                 string
		Symmetric, Magnitude, Area, Straight, DC bool
		Low, High, Floor, Preemphasis, Factor    float64
	}
	Samples   int
	Shape     []int
	Sum, Most float64
	Step      int
	Values    []float32
	Hash      string
}

// step is what makes the same of a waveform.
func (g *golden) step() (audio.Step, int) {
	o := &g.Options
	mel := audio.Spectrogram{Rate: 16000, FrameLength: 400, HopLength: 200, Mel: audio.Mel{Filters: 128, HTK: true}}
	switch g.Kind {
	case "resample":
		return audio.Resample(o.To), o.From
	case "speed":
		return audio.Speed{o.Factor}, 16000
	case "mel":
		return mel, 16000
	case "db", "mfcc":
		mel.Floor, mel.Log, mel.Range = 1e-10, audio.Decibels, 80
		if g.Kind == "mfcc" {
			mel.Cepstral = 40
		}
		return mel, 16000
	case "fbank":
		return audio.Spectrogram{
			Rate: 16000, Scale: 32768, FrameLength: 400, HopLength: 160, FFTLength: 512, Edge: audio.Inside,
			RemoveDC: true, Preemphasis: 0.97, Window: audio.Povey, Symmetric: true,
			Mel:   audio.Mel{Filters: 80, Low: 20, Kaldi: true},
			Floor: 1.1920928955078125e-07, Log: audio.Natural, FramesFirst: true,
		}, 16000
	}
	s := audio.Spectrogram{
		Rate: o.Rate, FrameLength: o.Frame, HopLength: o.Hop, FFTLength: o.FFT, RemoveDC: o.DC, Preemphasis: o.Preemphasis,
		Edge:      map[string]audio.Edge{"": audio.Reflect, "constant": audio.Silence, "none": audio.Inside}[o.Edge],
		Window:    map[string]audio.Window{"": audio.Hann, "hamming": audio.Hamming, "povey": audio.Povey, "boxcar": audio.Boxcar}[o.Window],
		Symmetric: o.Symmetric, Magnitude: o.Magnitude,
		Mel: audio.Mel{Filters: o.Mels, Low: o.Low, High: o.High, Area: o.Area, HTK: o.Scale == "htk", Kaldi: o.Scale == "kaldi" && o.Straight},
		Log: map[string]audio.Log{"log": audio.Natural, "log10": audio.Log10, "dB": audio.Decibels}[o.Log],
	}
	if o.Mels > 0 {
		s.Floor = o.Floor
	}
	return s, o.Rate
}

// TestValuesAreThoseOfTransformersAndTorchaudio: those of transformers are the same bits, but where its float64 is so near to the middle
// of two float32 that the last bits of other additions decide. Those of torchaudio are computed in float32 there, so bounds say how near
// they are: in parts of the greatest value.
func TestValuesAreThoseOfTransformersAndTorchaudio(t *testing.T) {
	var rows []golden
	datatest.JSON(t, "testdata/audio.json", &rows)
	bounds := map[string]float64{"spectrogram": 1e-6, "resample": 5e-7, "speed": 5e-7, "mel": 1e-7, "db": 3e-6, "mfcc": 1e-6, "fbank": 2e-6}
	same, hashes := 0, 0
	for _, g := range rows {
		t.Run(fmt.Sprintf("%s %+v %d", g.Kind, g.Options, g.Samples), func(t *testing.T) {
			step, rate := g.step()
			c, err := audio.Compile(step)
			if err != nil {
				t.Fatal(err)
			}
			got, err := c.Append(nil, audio.Wave{Samples: datatest.Wave(g.Samples, uint32(g.Samples)), Rate: rate})
			if err != nil {
				t.Fatal(err)
			}
			want := 1
			for _, n := range g.Shape {
				want *= n
			}
			if len(got) != want {
				t.Fatalf("%d values, want %v", len(got), g.Shape)
			}
			if g.Hash != "" {
				hashes++
				if digest(got) == g.Hash {
					same++
				} else {
					t.Log("some last bits differ")
				}
			}
			bound, sum, worst := bounds[g.Kind]*g.Most, 0.0, 0.0
			for i, v := range got {
				sum += float64(v)
				if i%g.Step == 0 {
					worst = max(worst, math.Abs(float64(v)-float64(g.Values[i/g.Step])))
				}
			}
			t.Logf("greatest difference %.3g of %.3g", worst, g.Most)
			if !(worst <= bound) || !(math.Abs(sum-g.Sum) <= bound*float64(len(got))) {
				t.Errorf("greatest difference %v, want %v; sum %v, want %v", worst, bound, sum, g.Sum)
			}
		})
	}
	t.Logf("%d of %d have the same bits", same, hashes)
}

// digest is the beginning of the SHA-256 of the values.
func digest(values []float32) string {
	h := sha256.New()
	for _, v := range values {
		h.Write(binary.LittleEndian.AppendUint32(nil, math.Float32bits(v)))
	}
	return fmt.Sprintf("%x", h.Sum(nil)[:8])
}
