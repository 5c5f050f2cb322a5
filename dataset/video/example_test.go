package video_test

import (
	"bytes"
	"context"
	"fmt"
	"image"
	"image/png"
	"log"
	"math"
	"testing/fstest"
	"time"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/dataset/video"
	"github.com/penstock-go/penstock/loader"
	"github.com/penstock-go/penstock/transform"
)

// A folder of frames per video: every clip has 4 of them, with one left out between two.
func ExampleFrames() {
	var frame bytes.Buffer
	if err := png.Encode(&frame, image.NewGray(image.Rect(0, 0, 60, 40))); err != nil {
		log.Fatal(err)
	}
	files := fstest.MapFS{}
	for k := range 30 {
		files[fmt.Sprintf("walk/first/%05d.png", k)] = &fstest.MapFile{Data: frame.Bytes()}
		files[fmt.Sprintf("run/second/%05d.png", k)] = &fstest.MapFile{Data: frame.Bytes()}
	}
	folder, err := dataset.ImageFolder(files)
	if err != nil {
		log.Fatal(err)
	}
	clips, err := video.Frames(folder, video.ClipsAtRandomIndices(3, 4, video.NumIndicesBetweenFrames(2)))
	if err != nil {
		log.Fatal(err)
	}
	ds, err := transform.Images(clips, transform.UniformTemporalSubsample(4), transform.Train(32))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(clips.Len(), clips.Classes(), clips.Labels(), clips.Name(3))
	fmt.Println(ds.Spec())
	// Output:
	// 6 [run walk] [0 0 0 1 1 1] walk/first, clip 0
	// image float32 (4, 3, 32, 32), label int64 ()
}

// Clips of 16 frames for training, and every two seconds of a video for evaluation.
func ExampleOpen() {
	ctx := context.Background()
	train, err := video.Open(ctx, "kinetics/train", video.ClipsAtRandomTimestamps(1, 16, video.SecondsBetweenFrames(0.1)), video.Index("train.index"))
	if err != nil {
		log.Fatal(err)
	}
	eval, err := video.Open(ctx, "kinetics/val", video.ClipsAtRegularTimestamps(2, 16, video.SecondsBetweenFrames(0.1), video.Wrap()), video.Index("val.index"))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(train.Len(), eval.Len())
	ds, err := transform.Images(train, transform.UniformTemporalSubsample(16), transform.Train(224))
	if err != nil {
		log.Fatal(err)
	}
	l, err := loader.New(ds, loader.BatchSize(8), loader.Shuffle(true))
	if err != nil {
		log.Fatal(err)
	}
	defer l.Close()
	for batch, err := range l.Epoch(ctx, 0) {
		if err != nil {
			log.Fatal(err) // it names the video
		}
		fmt.Println(batch.Tensor("image").Shape(), loader.Values[float64](batch, "seconds")) // (8, 16, 3, 224, 224)
	}
}

// Four clips of a video without classes, none of which begins in its first hundred frames. A clip that does not fit is an error, and so is a video that
// keeps ffmpeg for longer than a minute.
func ExampleSamplingRange() {
	var sampling video.Sampling = video.ClipsAtRegularIndices(4, 8, video.SamplingRange(100, math.NaN()), video.Error())
	options := []video.Option{video.NoClasses(), video.Timeout(time.Minute)}
	clips, err := video.Open(context.Background(), "videos", sampling, options...)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(clips.Len())
}
