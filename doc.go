// Package penstock is the documentation of a parallel DataLoader like PyTorch's. It has no code: programs import the
// packages in its folders.
//
// A dataset says how a sample is read, transforms decode and augment images, and a loader makes batches of the samples
// with many goroutines. Each sample is written once, into its row of the batch.
//
//	photos, err := dataset.ImageFolder(os.DirFS("photos")) // a folder per class
//	…
//	ds, err := transform.Images(photos, transform.Train(224))
//	…
//	l, err := loader.New(ds, loader.BatchSize(128), loader.Shuffle(true))
//	…
//	defer l.Close()
//	for batch, err := range l.Epochs(ctx, 0, 3) {
//		if err != nil {
//			return err // it names the file
//		}
//		// float32 (128, 3, 224, 224) and int64 (128); the last batch of an epoch may be smaller
//		x, y := batch.Tensor("image"), batch.Tensor("label")
//		…
//	}
//
// # What to read first
//
//  1. Package [loader]: New and its options, Batch and how long it is valid, Loader.From to resume a run, Stats to see
//     what makes the loop wait.
//  2. Package [dataset]: ImageFolder and other datasets, splits, Map, and what a dataset of your own has to do: see
//     Dataset and Reader.
//  3. Package [transform]: steps with torchvision's names. Images compiles them for a dataset, and Compile for single
//     images.
//  4. Package [sampler]: orders of samples, PyTorch's own among them, and shards for the ranks of distributed training.
//
// # Other packages
//
//   - CIFAR, MNIST and what has their formats: dataset/classic.
//   - Annotated images: dataset/coco, dataset/voc and dataset/masks.
//   - Sound: dataset/audio.
//   - Arrays, tables and volumes: dataset/npy, dataset/idx, dataset/csv, dataset/jsonl and dataset/volume.
//   - Preprocessed samples in one file: dataset/packed.
//   - WebDataset, TFRecord and MosaicML's MDS: dataset/shards. Parquet files: dataset/shards/parquet, and dataset/shards/parquet/lerobot
//     for robots. Arrow files of Hugging Face: dataset/shards/arrow.
//   - Clips of videos and of folders of frames: dataset/video.
//   - Tokens for language models: dataset/tokens.
//   - Web servers and buckets: dataset/objects, with dataset/objects/prefetch, dataset/objects/cache, dataset/objects/s3,
//     dataset/objects/gcs and dataset/objects/azure.
//   - Data that is read once, such as a queue: dataset/stream.
//   - Waveforms, and features of speech and sound: transform/audio.
//   - The preprocessing of a published model: transform/presets. Pictures of batches: transform/sheet. TIFF files with zstd:
//     transform/zstd.
//   - What a loader does: loader/trace draws a timeline, loader/live has a page, and loader/otel exports metrics.
//   - Batches for others: loader/serve and loader/remote for other machines, loader/share for Python, loader/gomlx for
//     GoMLX, loader/tensors for gorgonia.
//   - Page-locked memory and CUDA: gpu, gpu/feed and gpu/cuda.
//
// The stores s3, gcs and azure, parquet, arrow, otel, gomlx and all of gpu are modules of their own, so that the others need few
// dependencies.
//
// The repository has programs in its folder examples. In its folder docs, training.md has a training program with
// validation that resumes, tasks.md a list of tasks, pytorch.md PyTorch's names with their counterparts, and
// transforms.md the classes of torchvision that have the same bits.
//
// [loader]: https://pkg.go.dev/github.com/penstock-go/penstock/loader
// [dataset]: https://pkg.go.dev/github.com/penstock-go/penstock/dataset
// [transform]: https://pkg.go.dev/github.com/penstock-go/penstock/transform
// [sampler]: https://pkg.go.dev/github.com/penstock-go/penstock/sampler
package penstock
