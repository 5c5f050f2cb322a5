// Cluster preprocesses a folder of images on many machines. It decodes and resizes them,
// and writes them as packed files or as tar shards for WebDataset.
//
//	go run ./examples/cluster -in DIR -out DIR [-format packed|tar] [-size N] [-samples-per-shard N] [-skip]
//
// It writes the shards and shards.json, their list, into the folder -out. A shard takes a
// second or more (README.md, What it costs).
//
// -in has a folder per class. Which images a shard has depends on their sorted list alone.
// So the shards are the same byte for byte on one machine and on many, and after a worker
// was killed and another one has done its work again.
//
// The work is a pipeline of Apache Beam. Without other flags it runs in this process, on
// Beam's runner Prism; README.md shows how it runs on Flink and others. With -shards 2/8
// the program makes only every eighth shard, beginning with number 2, and without Beam, for
// the job arrays of Slurm and Kubernetes. A last call with -check then sees to it that
// nothing is missing.
//
// Both folders must be on a file system that all workers see, under the same paths.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"path/filepath"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	beamlog "github.com/apache/beam/sdks/v2/go/pkg/beam/log"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/examples/internal/usage"
)

func main() {
	var j job
	var level string
	var bundles int
	usage.Folder(&j.In, "in", "`folder` of images, with a folder per class")
	usage.NewFolder(&j.Out, "out", "", "`folder` of the shards; made if it does not exist")
	usage.Choice(&j.Format, "format", "packed", "packed: files for package packed; tar: shards for WebDataset", "packed", "tar")
	usage.Int(&j.Size, "size", 256, 1, "height and width of a sample in `pixels`: the shorter side of an image is resized to it, and the middle is kept")
	usage.Int(&j.PerShard, "samples-per-shard", 1000, 1, "`images` of a shard; of 256 pixels, a thousand take 197 MB")
	flag.BoolVar(&j.Skip, "skip", false, "leave damaged images out, instead of stopping at the first")
	usage.Int(&bundles, "bundles", 0, 0, "`collections` that the shards are dealt to; 0: one for each processor with Prism, which works on a collection in sequence, and 1 with other runners")
	part := flag.String("shards", "", "`i/n`: make only the shards i, i+n, i+2n and so on, here and without Beam")
	check := flag.Bool("check", false, "make no shards: only check that all are there, and list them in "+manifestName)
	usage.Choice(&level, "log", "none", "least level of what Beam logs; an error is printed anyway", "debug", "info", "warn", "error", "none")
	provision := flag.String("provision_endpoint", "", "given by a runner that starts this program as a worker")
	usage.Parse("Cluster preprocesses a folder of images into shards, on one machine or on many. README.md explains those of Beam's flags that matter.")

	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	registerFunctions()
	if *provision != "" {
		if err := becomeWorker(ctx, *provision); err != nil {
			usage.Fatal(err)
		}
	}
	initBeam(level) // does not return in a worker
	err := run(ctx, j, *part, *check, bundles)
	if ctx.Err() != nil {
		err = errors.New("interrupted; complete shards stay: run the same command again to make the others")
	}
	if err != nil {
		usage.Fatal(err)
	}
}

// initBeam begins Beam, which then logs what has at least this level.
func initBeam(level string) {
	if level != "none" {
		beamlog.LogLevel = level
		beam.Init()
		return
	}
	beam.Init()
	slog.SetDefault(slog.New(slog.DiscardHandler))
}

// run makes the shards of a job, or those of a part, or only checks them.
func run(ctx context.Context, j job, part string, check bool, bundles int) error {
	photos, err := j.prepare()
	if err != nil {
		return err
	}
	switch {
	case check && part != "":
		return usage.Errorf("-check and -shards: want one of them")
	case check:
	case part != "":
		return j.makePart(ctx, photos, part)
	default:
		if err := j.makeOnBeam(ctx, bundles); err != nil {
			return err
		}
	}
	m, err := j.check()
	if err != nil {
		return err
	}
	fmt.Printf("%d images in %d shards, listed in %s\n", m.Samples, len(m.Shards), filepath.Join(j.Out, manifestName))
	for _, r := range m.Shards {
		for _, s := range r.Skipped {
			fmt.Printf("left out: %s: %s\n", s.Image, s.Reason)
		}
	}
	return nil
}

// prepare completes the job by its list of images.
func (j *job) prepare() (*dataset.Folder, error) {
	if j.In == "" || j.Out == "" {
		return nil, usage.Errorf("-in and -out: want two folders")
	}
	var errs [2]error
	j.In, errs[0] = filepath.Abs(j.In) // workers have folders of their own
	j.Out, errs[1] = filepath.Abs(j.Out)
	if err := errors.Join(errs[:]...); err != nil {
		return nil, err
	}
	photos, err := dataset.ImageFolder(os.DirFS(j.In))
	if err != nil {
		return nil, err
	}
	j.Images = photos.Len()
	j.ID, err = j.identify(photos)
	return photos, err
}
