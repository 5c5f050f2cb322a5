// Cluster preprocesses a folder of images on many machines. It decodes and resizes them,
// and writes them as packed files.
//
//	go run ./examples/cluster -in DIR -out DIR [-size N] [-samples-per-shard N] [-skip] [-shards i/n | -check]
//
// It writes the shards and shards.json, their list, into the folder -out. With -shards 2/8 it
// makes only every eighth shard, beginning with number 2, as the tasks of a job array of Slurm
// or Kubernetes do; a last call with -check then sees to it that nothing is missing.
//
// -in has a folder per class. Which images a shard has depends on their sorted list alone. So
// the shards are the same byte for byte on one machine and on many, and after a task was killed
// and another one has done its work again. Both folders must be on a file system that all
// machines see.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"

	"github.com/penstock-go/penstock/dataset"
)

func main() {
	log.SetFlags(0)
	var j job
	flag.StringVar(&j.In, "in", "", "`folder` of images, with a folder per class")
	flag.StringVar(&j.Out, "out", "", "`folder` of the shards; made if it does not exist")
	flag.IntVar(&j.Size, "size", 256, "height and width of a sample in `pixels`: the shorter side of an image is resized to it, and the middle is kept")
	flag.IntVar(&j.PerShard, "samples-per-shard", 1000, "`images` of a shard; of 256 pixels, a thousand take 197 MB")
	flag.BoolVar(&j.Skip, "skip", false, "leave damaged images out, instead of stopping at the first")
	part := flag.String("shards", "", "`i/n`: make only the shards i, i+n, i+2n and so on")
	check := flag.Bool("check", false, "make no shards: only check that all are there, and list them in "+manifestName)
	flag.Parse()
	if flag.NArg() > 0 {
		log.Fatalf("%q is no flag: see -h", flag.Arg(0))
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	err := run(ctx, j, *part, *check)
	if ctx.Err() != nil {
		err = errors.New("interrupted; complete shards stay: run the same command again to make the others")
	}
	if err != nil {
		log.Fatal(err)
	}
}

// run makes the shards of a job and checks them, or does one of both.
func run(ctx context.Context, j job, part string, check bool) error {
	i, n := 0, 1
	if part != "" {
		if _, err := fmt.Sscanf(part+" ", "%d/%d ", &i, &n); err != nil || i < 0 || i >= n || check {
			return fmt.Errorf("-shards %s: want i/n, with i from 0 to n-1, and no -check", part)
		}
	}
	photos, err := j.prepare()
	if err != nil {
		return err
	}
	if err := os.MkdirAll(j.Out, 0o777); err != nil {
		return err
	}
	for shard := i; shard < j.shards() && !check; shard += n {
		if err := j.makeShard(ctx, photos, shard, runtime.GOMAXPROCS(0)); err != nil {
			return err
		}
	}
	if part != "" {
		return nil
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
		return nil, errors.New("-in and -out: want two folders")
	}
	if j.Size < 1 || j.PerShard < 1 {
		return nil, errors.New("-size and -samples-per-shard: want numbers from 1 on")
	}
	photos, err := dataset.ImageFolder(os.DirFS(j.In))
	if err != nil {
		return nil, fmt.Errorf("-in %s: %w", j.In, err)
	}
	j.Images = photos.Len()
	j.ID, err = j.identify(photos)
	return photos, err
}
