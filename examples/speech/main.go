// Speech loads a folder of sound files as batches for a model of speech, and shows how fast that is and where the time
// goes. It draws the spectrograms of the first batch in speech.png, and writes an augmented clip to speech.wav, to be
// listened to. With the project's own clips, which are synthetic, it takes less than a second.
//
//	go run ./examples/speech [-dir DIR] [-workers N] [-batch N] [-epochs N] [-train]
//
// DIR has a folder per class. One of the project's own clips is damaged, to show that it is left out and named.
package main

import (
	"context"
	"encoding/binary"
	"errors"
	"flag"
	"fmt"
	"log"
	"os"
	"runtime"
	"time"

	"github.com/penstock-go/penstock/dataset"
	files "github.com/penstock-go/penstock/dataset/audio"
	"github.com/penstock-go/penstock/loader"
	"github.com/penstock-go/penstock/transform/audio"
	"github.com/penstock-go/penstock/transform/sheet"
)

const rate, filters = 16000, 80 // samples per second, and features per frame

var (
	dir     = flag.String("dir", "examples/speech/clips", "`folder` of sound files, with a folder per class")
	workers = flag.Int("workers", runtime.GOMAXPROCS(0), "`goroutines` that assemble batches")
	size    = flag.Int("batch", 8, "`clips` per batch")
	epochs  = flag.Int("epochs", 20, "how many `times` to load all clips")
	train   = flag.Bool("train", false, "augment every clip: speed, loudness, noise and hidden parts")
	// Whisper's features, of as many frames as a clip has. Whisper itself wants 30 seconds of all clips:
	// presets.FeatureExtractor reads such steps from a model's configuration.
	logMel = audio.Spectrogram{
		Rate: rate, FrameLength: 400, HopLength: 160, Mel: audio.Mel{Filters: filters, Area: true}, Floor: 1e-10, Log: audio.Log10,
		DropLast: true, Range: 8, Mean: -4, Std: 4, FramesFirst: true,
	}
	toMono  = audio.List{audio.Mono{}, audio.Resample(rate)}
	augment = audio.List{audio.Speed{0.9, 1, 1.1}, audio.Gain{-6, 3}, audio.Noise{15, 30}}
	hide    = audio.SpecAugment{TimeMasks: 1, TimeMaskParam: 10, FreqMasks: 2, FreqMaskParam: 10, Mean: true}
)

func main() {
	log.SetFlags(0)
	flag.Parse()
	if flag.NArg() > 0 {
		log.Fatalf("%q is no flag: see -h", flag.Arg(0))
	}
	if err := run(); err != nil {
		log.Fatal(err)
	}
}

func run() error {
	folder, err := files.Folder(os.DirFS(*dir))
	if err != nil {
		return fmt.Errorf("-dir %s: %w", *dir, err)
	}
	steps := []audio.Step{toMono, logMel}
	if *train {
		steps = []audio.Step{toMono, augment, logMel, hide}
	}
	features, err := audio.Compile(steps...)
	if err != nil {
		return err
	}
	clips, err := files.Waveforms(folder, files.Apply(features))
	if err != nil {
		return err
	}
	l, err := loader.New(clips, loader.Workers(*workers), loader.BatchSize(*size), loader.Shuffle(true), loader.Skip(loader.NoLimit))
	if err != nil {
		return err
	}
	defer l.Close()
	fmt.Printf("%d clips in %d classes\n%v\n", folder.Len(), len(folder.Classes()), clips)
	var first *loader.Batch
	begun := time.Now()
	for batch, err := range l.Epochs(context.Background(), 0, *epochs) {
		if err != nil {
			return err
		}
		// (clips, frames of the longest clip, 80), and 1 where a clip has frames
		x, mask := loader.Padded(batch, "input_features", float32(0)), loader.Mask[uint8](batch, "input_features")
		if first == nil {
			first = batch.Copy() // the memory of batch is used again
			fmt.Printf("the first batch has input_features %v and a mask %v\n", x.Shape(), mask.Shape())
		}
	}
	took, s := time.Since(begun), l.Stats()
	fmt.Printf("%.0f clips/s, first batch after %v\n\n%v", float64(s.Samples)/took.Seconds(), s.FirstWait.Round(time.Microsecond), s)
	for _, failure := range s.Failures {
		if failure.Epoch == 0 {
			fmt.Println("left out:", failure)
		}
	}
	if first == nil {
		return fmt.Errorf("-dir %s -epochs %d: no clip was loaded", *dir, *epochs)
	}
	fmt.Printf("the first batch goes to speech.png, and %s, augmented, to speech.wav\n", folder.Name(0))
	return errors.Join(draw(first, folder.Classes()), hear(folder))
}

// draw draws the spectrograms of a batch with their classes: time to the right, low frequencies at the bottom.
func draw(batch *loader.Batch, classes []string) error {
	features, mask := loader.Padded(batch, "input_features", float32(0)), loader.Mask[uint8](batch, "input_features")
	values, isFrame, frames := dataset.ValuesOf[float32](features), dataset.ValuesOf[uint8](mask), mask.Shape()[1]
	width, height := 2*min(frames, 400), 2*filters // of four seconds at most
	s := sheet.New(4, (batch.Len()+3)/4, width, height+16)
	for k, label := range loader.Values[int64](batch, "label") {
		planes := make([]float32, 3*width*height)
		for i := range width * height {
			x, y := k*frames+i%width/2, filters-1-i/width/2
			if isFrame[x] == 1 { // padding stays black
				v := (values[x*filters+y] + 1) / 2.5
				planes[i], planes[i+width*height], planes[i+2*width*height] = 1.5*v, v*v, 0.4*(1-v)
			}
		}
		s.Image(k, planes, width, height)
		s.Caption(k, classes[label])
	}
	return s.Save("speech.png")
}

// hear writes the first clip as the model hears it with -train: a WAV file of float32.
func hear(folder dataset.Dataset) error {
	augmented, err := audio.Compile(toMono, augment)
	if err != nil {
		return err
	}
	clips, err := files.Waveforms(folder, files.Apply(augmented))
	if err != nil {
		return err
	}
	clip, err := dataset.At(context.Background(), clips, 0)
	if err != nil {
		return err
	}
	waveform := clip["waveform"].Data().([]float32)
	n, wav := uint32(4*len(waveform)), []byte(nil)
	format := []uint32{16, 1<<16 | 3, rate, 4 * rate, 32<<16 | 4} // one channel of float32
	for _, part := range []any{[]byte("RIFF"), 36 + n, []byte("WAVEfmt "), format, []byte("data"), n, waveform} {
		wav, _ = binary.Append(wav, binary.LittleEndian, part) // an error is about types alone
	}
	return os.WriteFile("speech.wav", wav, 0o666)
}
