// Images gives the photos of a folder, batch by batch, to the Python package
// penstock, which starts it as penstock-images:
//
//	for image, label in penstock.ImageFolder("train", train=True, batch_size=128, shuffle=True):
package main

import (
	"context"
	"flag"
	"fmt"
	"log"
	"os"
	"runtime"
	"time"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/loader"
	"github.com/penstock-go/penstock/loader/share"
	"github.com/penstock-go/penstock/sampler"
	"github.com/penstock-go/penstock/transform"
)

// settings are the flags, in PyTorch's words.
type settings struct {
	root          string
	train         bool
	size          int
	dtype         string
	batch         int
	workers       int
	prefetch      int
	timeout       float64
	shuffle       bool
	torchOrder    bool
	seed          uint64
	dropLast      bool
	rank, world   int
	uneven        string
	onError       string
	errorsAllowed int
	config        string
	explain       bool
	scan          bool
	configuration *configuration // nil without -config
}

func main() {
	var s settings
	flag.StringVar(&s.root, "root", "", "folder of images, with a folder per class")
	flag.BoolVar(&s.train, "train", false, "RandomResizedCrop and RandomHorizontalFlip, in place of Resize and CenterCrop")
	flag.IntVar(&s.size, "size", 224, "pixels of a side of the result; evaluation resizes to 256/224 of it before the crop")
	flag.StringVar(&s.dtype, "dtype", "float32", "float32, float16 or bfloat16, normalised with ImageNet's numbers, or uint8, not normalised")
	flag.IntVar(&s.batch, "batch_size", 1, "images per batch")
	flag.IntVar(&s.workers, "num_workers", runtime.GOMAXPROCS(0), "goroutines that assemble batches")
	flag.IntVar(&s.prefetch, "prefetch_factor", 0, "batches per worker ahead of the loop; 0: 2, or less where that takes over 2 GiB")
	flag.Float64Var(&s.timeout, "timeout", 0, "seconds to wait for a batch; 0: for ever")
	flag.BoolVar(&s.shuffle, "shuffle", false, "a random order of its own for every epoch")
	flag.BoolVar(&s.torchOrder, "torch_order", false, "shuffle as DataLoader(shuffle=True) does after torch.manual_seed(seed)")
	flag.Uint64Var(&s.seed, "seed", 0, "of the order and of the random crops and flips")
	flag.BoolVar(&s.dropLast, "drop_last", false, "leave out a last batch that is not full")
	flag.IntVar(&s.rank, "rank", 0, "of this process in distributed training")
	flag.IntVar(&s.world, "num_replicas", 1, "processes in distributed training")
	flag.StringVar(&s.uneven, "uneven", "pad", "if images do not divide evenly among processes: pad with repeated ones, drop the last ones, or keep")
	flag.StringVar(&s.onError, "on_error", "stop", "what to do about damaged images: stop or skip")
	flag.IntVar(&s.errorsAllowed, "max_errors", -1, "how many are skipped per loop; -1: any number")
	flag.StringVar(&s.config, "config", "", "`file` of datasets, steps and an order, in place of -root, -train, -size and -dtype")
	flag.BoolVar(&s.explain, "explain", false, "print what the steps of -config do, and end")
	flag.BoolVar(&s.scan, "scan", false, "print how many samples the shards of -config have, and their index, and end")
	flag.Parse()
	log.SetFlags(0)
	if err := s.serve(context.Background()); err != nil {
		log.Fatal(err)
	}
}

// serve gives the images to the process that has started this one.
func (s *settings) serve(ctx context.Context) error {
	if s.config != "" {
		c, err := readConfiguration(s.config)
		if err != nil {
			return err
		}
		switch {
		case s.explain:
			return c.explain()
		case s.scan:
			return c.scan()
		}
		s.configuration = c
	}
	ds, classes, err := s.dataset()
	if err != nil {
		return err
	}
	options, err := s.options(ds.Len())
	if err != nil {
		return err
	}
	var memory share.Memory
	l, err := loader.New(ds, append(options, loader.Memory(&memory))...)
	if err != nil {
		return err
	}
	defer l.Close()
	return share.Serve(ctx, l, &memory, share.Info("classes", classes), share.Info("samples", ds.Len()))
}

// dataset is the images with their steps, and the names of the classes, if they are known.
func (s *settings) dataset() (ds dataset.Dataset, classes []string, err error) {
	if s.configuration != nil {
		ds, err := s.configuration.dataset()
		return ds, nil, err
	}
	images, err := dataset.ImageFolder(os.DirFS(s.root))
	if err != nil {
		return nil, nil, err
	}
	steps, err := s.steps()
	if err != nil {
		return nil, nil, err
	}
	ds, err = transform.Images(images, steps...)
	return ds, images.Classes(), err
}

// dtypes are those of images, by name. uint8 is not normalised.
var dtypes = map[string]dataset.Dtype{
	"float32": dataset.Float32, "float16": dataset.Float16, "bfloat16": dataset.BFloat16, "uint8": dataset.Uint8,
}

func (s *settings) steps() ([]transform.Item, error) {
	dtype, ok := dtypes[s.dtype]
	switch {
	case !ok:
		return nil, fmt.Errorf("dtype %q: want float32, float16, bfloat16 or uint8", s.dtype)
	case dtype != dataset.Uint8 && s.train:
		return []transform.Item{transform.Train(s.size), transform.ToDtype(dtype)}, nil
	case dtype != dataset.Uint8:
		return []transform.Item{transform.Eval(s.size), transform.ToDtype(dtype)}, nil
	case s.train:
		return []transform.Item{transform.RandomResizedCrop(s.size), transform.RandomHorizontalFlip(0.5), transform.PILToTensor()}, nil
	}
	return []transform.Item{transform.Resize((s.size*256 + 112) / 224), transform.CenterCrop(s.size), transform.PILToTensor()}, nil
}

// options are the loader's, for n images.
func (s *settings) options(n int) ([]loader.Option, error) {
	if s.onError != "stop" && s.onError != "skip" {
		return nil, fmt.Errorf("on_error %q: want stop or skip", s.onError)
	}
	if s.errorsAllowed == -1 {
		s.errorsAllowed = loader.NoLimit
	}
	const most = 1e9 // seconds, which are for ever: infinitely many are no Duration
	timeout := time.Duration(min(s.timeout, most) * float64(time.Second))
	options := []loader.Option{loader.Workers(s.workers), loader.Seed(s.seed), loader.Timeout(timeout)}
	if c := s.configuration; c != nil && c.Batches != nil {
		options = append(options, loader.BatchSampler(c.Batches))
	} else {
		order, err := s.order(n)
		if err != nil {
			return nil, err
		}
		options = append(options, loader.BatchSize(s.batch), loader.Sampler(order), loader.DropLast(s.dropLast))
	}
	if s.onError == "skip" {
		options = append(options, loader.Skip(s.errorsAllowed))
	}
	if s.prefetch != 0 {
		options = append(options, loader.InFlight(s.prefetch*s.workers+1))
	}
	return options, nil
}

func (s *settings) order(n int) (sampler.Sampler, error) {
	order := sampler.Sequential(n)
	switch {
	case s.torchOrder:
		order = sampler.TorchManualSeed(n, s.seed)
	case s.shuffle:
		order = sampler.Shuffle(n, s.seed)
	}
	if s.configuration != nil {
		named, err := s.configuration.ordered(n, s.seed)
		if err != nil {
			return nil, err
		}
		if named != nil {
			order = named
		}
	}
	mode, ok := map[string]sampler.Mode{"pad": sampler.PadToEven, "drop": sampler.DropToEven, "keep": sampler.KeepExact}[s.uneven]
	switch {
	case !ok:
		return nil, fmt.Errorf("uneven %q: want pad, drop or keep", s.uneven)
	case s.world == 1 && s.rank == 0:
		return order, nil
	}
	return sampler.Shard(order, s.rank, s.world, mode)
}
