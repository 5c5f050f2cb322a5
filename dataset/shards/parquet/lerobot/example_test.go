package lerobot_test

import (
	"context"
	"fmt"
	"log"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/dataset/shards/parquet/lerobot"
	"github.com/penstock-go/penstock/loader"
	"github.com/penstock-go/penstock/sampler"
	"github.com/penstock-go/penstock/transform"
)

// What a robot's arm does next: the action of this frame and of the three after it. Without videos nothing is decoded, and FFmpeg is not needed.
func ExampleOpen() {
	ctx := context.Background()
	ds, err := lerobot.Open(ctx, "testdata/robot", lerobot.Features("action", "task_index"), lerobot.DeltaTimestamps("action", 0, 0.1, 0.2, 0.3))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(ds.Len(), ds.Ends(), ds.Spec())
	sample, err := dataset.At(ctx, ds, 34)
	if err != nil {
		log.Fatal(err)
	}
	task := dataset.ValuesOf[int64](sample["task_index"])[0]
	fmt.Println(ds.Name(34), ds.Tasks()[task], sample["action_is_pad"])
	// Output:
	// 36 [12 21 36] action float32 (4, 2), task_index int64 (), action_is_pad bool (4)
	// episode 2, frame 13 pick [false false true true]
}

// Batches for a policy: two frames of a camera, with the same crop and colours, and the state and actions of 50 frames. The order mixes 8 episodes at a
// time, so that the files of few are open at once.
func ExampleDeltaTimestamps() {
	ctx := context.Background()
	const camera = "observation.images.cam_high"
	var chunk []float64
	for k := range 50 {
		chunk = append(chunk, float64(k)/30)
	}
	options := []lerobot.Option{
		lerobot.Features(camera, "observation.state", "action", "task_index"),
		lerobot.DeltaTimestamps(camera, -0.1, 0),
		lerobot.DeltaTimestamps("action", chunk...),
		lerobot.Episodes(0, 1, 2, 3, 4, 5, 6, 7),
		lerobot.Tolerance(1e-3),
		lerobot.Index("aloha.index"),
	}
	var frames *lerobot.Dataset
	frames, err := lerobot.Open(ctx, "aloha", options...)
	if err != nil {
		log.Fatal(err)
	}
	ds, err := transform.Images(frames, transform.Field(camera), transform.UniformTemporalSubsample(2), transform.Train(224))
	if err != nil {
		log.Fatal(err)
	}
	l, err := loader.New(ds, loader.BatchSize(8), loader.Sampler(sampler.Grouped(frames.Ends(), 1, sampler.Together(8))), loader.Skip(100))
	if err != nil {
		log.Fatal(err)
	}
	defer l.Close()
	for batch, err := range l.Epoch(ctx, 0) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(batch.Tensor(camera).Shape(), batch.Tensor("action").Shape(), loader.Values[bool](batch, "action_is_pad")) // (8, 2, 3, 224, 224) (8, 50, 14)
	}
}
