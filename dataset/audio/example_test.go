package audio_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log"
	"os"
	"testing/fstest"
	"time"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/dataset/audio"
	"github.com/penstock-go/penstock/loader"
)

// speech stands for a folder of recordings: usually os.DirFS("speech").
var speech = fstest.MapFS{
	"no/1.wav":  {Data: ramp(16000, 1, 30000)},
	"no/2.wav":  {Data: ramp(16000, 2, 20000)},
	"yes/3.wav": {Data: ramp(16000, 3, 500)},
}

// Batches have one second of each clip, from a random place on.
func ExampleFolder() {
	files, err := audio.Folder(speech)
	if err != nil {
		log.Fatal(err)
	}
	clips, err := audio.Waveforms(files, audio.Rate(16000), audio.RandomCrop(16000))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(files, files.Classes())
	fmt.Println(clips.Spec())
	l, err := loader.New(clips, loader.BatchSize(3), loader.Shuffle(true))
	if err != nil {
		log.Fatal(err)
	}
	defer l.Close()
	for batch, err := range l.Epoch(context.Background(), 0) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(len(loader.Values[float32](batch, "waveform"))/batch.Len(), "frames of", batch.Len(), "clips")
	}
	// Output:
	// 3 files of 2 classes [no yes]
	// waveform float32 (16000), label int64 (), rate int64 ()
	// 16000 frames of 3 clips
}

// A dataset of another kind holds stereo files in a field named "wav", as WebDataset does.
func ExampleWaveforms() {
	stereo := dataset.Func(1, dataset.Spec{{Name: "wav", Dtype: dataset.Uint8, Ragged: true}}, func(_ context.Context, _ int, dst dataset.Slot) error {
		file := wave(8000, 2, 256, 512, -256, -512, 1024, 0)
		copy(dataset.Grow[uint8](dst, 0, len(file)), file)
		return nil
	})
	for _, options := range [][]audio.Option{
		{audio.Field("wav"), audio.Channels(2)},
		{audio.Field("wav"), audio.Mono()},
		{audio.Field("wav"), audio.Mono(), audio.CenterCrop(5), audio.MaxFrames(1000)},
	} {
		clips, err := audio.Waveforms(stereo, options...)
		if err != nil {
			log.Fatal(err)
		}
		sample, err := dataset.At(context.Background(), clips, 0)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(clips.Spec()[0], sample["waveform"].Data())
	}
	// Output:
	// waveform float32 (n, 2) [0.0078125 0.015625 -0.0078125 -0.015625 0.03125 0]
	// waveform float32 (n) [0.01171875 -0.01171875 0.015625]
	// waveform float32 (5) [0.01171875 -0.01171875 0.015625 0 0]
}

// The lengths of all files are known without decoding them.
func ExampleClips_Infos() {
	files, err := audio.Folder(speech)
	if err != nil {
		log.Fatal(err)
	}
	clips, err := audio.Waveforms(files)
	if err != nil {
		log.Fatal(err)
	}
	infos, err := clips.Infos(context.Background())
	if err != nil {
		log.Fatal(err)
	}
	for i, info := range infos {
		fmt.Println(clips.Name(i), info.Duration(), info.Encoding)
	}
	// Output:
	// no/1.wav 1.875s s16le
	// no/2.wav 1.25s s16le
	// yes/3.wav 31.25ms s16le
}

// A recording of two minutes for a model that hears thirty seconds, of which five are in the window before, too.
func ExampleClips_Windows() {
	ctx := context.Background()
	files, err := audio.Folder(fstest.MapFS{"talks/a.wav": {Data: wave(8000, 1, make([]int16, 120*8000)...)}})
	if err != nil {
		log.Fatal(err)
	}
	clips, err := audio.Waveforms(files)
	if err != nil {
		log.Fatal(err)
	}
	windows, err := clips.Windows(ctx, 30*time.Second, 25*time.Second)
	if err != nil {
		log.Fatal(err)
	}
	for i := range windows.Len() {
		sample, err := dataset.At(ctx, windows, i)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(windows.Name(i), sample["seconds"].Data(), sample["waveform"].Shape())
	}
	// Output:
	// talks/a.wav, from 0s 0 (240000)
	// talks/a.wav, from 25s 25 (240000)
	// talks/a.wav, from 50s 50 (240000)
	// talks/a.wav, from 1m15s 75 (240000)
	// talks/a.wav, from 1m40s 100 (160000)
}

// A part of a long file is read without the rest.
func ExampleOpen() {
	recording := bytes.NewReader(ramp(16000, 0, 32000)) // usually an *os.File
	f, err := audio.Open(recording, recording.Size())
	if err != nil {
		log.Fatal(err)
	}
	info := f.Info()
	fmt.Println(info.Format, info.Rate, info.Channels, info.Bits, info.Frames)
	part := make([]float32, 3*info.Channels)
	if err := f.Read(part, 16384); err != nil {
		log.Fatal(err)
	}
	fmt.Println(part)
	// Output:
	// WAV 16000 1 16 32000
	// [0.5 0.5000305 0.50006104]
}

// Podcasts are MP3 files, which ffmpeg decodes.
func ExampleFFmpeg() {
	files, err := audio.Folder(os.DirFS("podcasts"))
	if err != nil {
		log.Fatal(err)
	}
	clips, err := audio.Waveforms(files, audio.FFmpeg(), audio.Timeout(time.Minute), audio.Mono(), audio.RandomCrop(48000))
	if err != nil {
		log.Fatal(err) // without ffmpeg it says what to install
	}
	sample, err := dataset.At(context.Background(), clips, 0)
	if err != nil {
		log.Fatal(err) // it names the file, and what ffmpeg said
	}
	fmt.Println(sample["waveform"].Shape(), sample["rate"].Data())
}

// A server gets a clip in a request.
func ExampleDecode() {
	request := wave(8000, 2, 16384, 0, -16384, -32768)
	x, info, err := audio.Decode(request, audio.Mono())
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(x, info.Rate)
	// Output: [0.25 -0.75] 8000
}

// Telephones send µ-law without a header.
func ExampleRaw() {
	x, _, err := audio.Decode([]byte{0xff, 0x80, 0x00}, audio.Raw("mulaw", 8000, 1))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(x)
	// Output: [0 0.9803467 -0.9803467]
}

// A loudness makes the mean of the squares.
type loudness struct{}

func (loudness) Field() dataset.Field { return dataset.Field{Name: "power", Dtype: dataset.Float32} }

func (loudness) Open() (func(dst dataset.Slot, wave []float32, channels, rate int) error, error) {
	return func(dst dataset.Slot, wave []float32, channels, rate int) error {
		sum := 0.
		for _, x := range wave {
			sum += float64(x) * float64(x)
		}
		dataset.Set(dst, 0, float32(sum/float64(len(wave))))
		return nil
	}, nil
}

// A step makes a feature of each waveform.
func ExampleApply() {
	files, err := audio.Folder(fstest.MapFS{"a/x.wav": {Data: wave(8000, 1, 16384, -16384)}})
	if err != nil {
		log.Fatal(err)
	}
	var step audio.Step = loudness{}
	clips, err := audio.Waveforms(files, audio.Apply(step))
	if err != nil {
		log.Fatal(err)
	}
	sample, err := dataset.At(context.Background(), clips, 0)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(clips.Spec()[0], sample["power"].Data())
	// Output: power float32 () 0.25
}

// A click decodes files of another format: a mark, and the number of a frame that is 1, while all others are 0.
type click struct{ at, frames int64 }

func (c *click) Open(file io.ReaderAt, size int64) (audio.Info, error) {
	var b [2]byte
	if _, err := file.ReadAt(b[:], 5); err != nil {
		return audio.Info{}, err
	}
	c.at, c.frames = int64(b[0]), int64(b[1])
	return audio.Info{Rate: 8000, Channels: 1, Frames: c.frames}, nil
}

func (c *click) Read(dst []float32, from int64) error {
	for i := range dst {
		dst[i] = 0
		if from+int64(i) == c.at {
			dst[i] = 1
		}
	}
	return nil
}

// The program has a format of its own.
func ExampleFormats() {
	clicks := audio.Format{
		Name: "click",
		Is:   func(head []byte) bool { return bytes.HasPrefix(head, []byte("click")) },
		New:  func() audio.Decoder { return new(click) },
	}
	x, info, err := audio.Decode([]byte("click\x02\x04"), audio.Formats(clicks))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(x, info.Format)
	// Output: [0 0 1 0] click
}
