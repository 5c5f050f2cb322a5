// Serve gives batches of images to trainers on other machines, and reads them as a
// trainer does.
//
//	go run ./examples/serve                                  # a service of the project's own images
//	go run ./examples/serve -read http://localhost:8080      # a trainer in Go
//	python torch_reader.py http://localhost:8080             # a trainer in PyTorch
//
// Trainers print how many images could not be read, and were left out, and the SHA-256 of all
// others. With -local the same plan is loaded without a service: the hash is the same. Any
// number of replicas may run; give the trainer all their addresses, separated by commas.
// docs/service.md says more, and the folder kubernetes has a Deployment.
//
// The service runs until it gets SIGINT or SIGTERM. A trainer of the project's own images takes
// less than a second. Nothing is written to the disk.
//
// The token comes from the file of -token-file or from the variable PENSTOCK_TOKEN.
//
// With -cert and -key the service serves HTTPS. If a certificate authority of one's own has
// issued the certificate, trainers need -ca with the authority's. With -ca the service accepts
// only clients that have a certificate of it, which trainers give with -cert and -key:
//
//	go run ./examples/serve -cert service.pem -key service.key -ca ca.pem
//	go run ./examples/serve -read https://localhost:8080 -cert trainer.pem -key trainer.key -ca ca.pem
package main

import (
	"context"
	"flag"
	"io/fs"
	"net"
	"net/url"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/examples/images/photos"
	"github.com/penstock-go/penstock/internal/usage"
	"github.com/penstock-go/penstock/loader"
	"github.com/penstock-go/penstock/sampler"
	"github.com/penstock-go/penstock/transform"
)

// options are what the flags say.
type options struct {
	dir         string
	size, batch int
	seed        uint64
	listen      string
	cert, key   string
	ca          string
	insecure    bool
	batches     int
	drain       time.Duration
	tokenFile   string
	read        string
	local       bool
	rank, world int
	epochs      int
}

func main() {
	var o options
	usage.Folder(&o.dir, "dir", "`folder` of images, with a folder per class; the project's own by default")
	usage.Int(&o.size, "size", 224, 1, "width and height of the images in a batch")
	usage.Int(&o.batch, "batch", 16, 1, "`images` per batch")
	flag.Uint64Var(&o.seed, "seed", 0, "seed of the order and the augmentations")
	flag.StringVar(&o.listen, "listen", "localhost:8080", "`address` of the service")
	usage.File(&o.cert, "cert", "`file` with the certificate for HTTPS: the service's, or the trainer's for a service with -ca")
	usage.File(&o.key, "key", "`file` with the key of the certificate")
	usage.File(&o.ca, "ca", "`file` with the certificates of the authorities of which the other side needs a certificate")
	flag.BoolVar(&o.insecure, "insecure", false, "be reachable from other machines without HTTPS and a token")
	usage.Int(&o.batches, "batches", 48, 1, "`batches` that the service may have in memory")
	flag.DurationVar(&o.drain, "drain", 0, "time that the service still takes requests after SIGTERM, so that balancers notice")
	usage.File(&o.tokenFile, "token-file", "`file` with the token of the service")
	flag.StringVar(&o.read, "read", "", "read from the replicas at these `URLs`, separated by commas, instead of serving")
	flag.BoolVar(&o.local, "local", false, "load the same batches without a service")
	usage.Int(&o.rank, "rank", 0, 0, "`rank` to read for")
	usage.Int(&o.world, "world", 1, 1, "number of `ranks`")
	usage.Int(&o.epochs, "epochs", 1, 1, "number of `epochs` to read")
	usage.Parse("Serve gives batches of images to trainers on other machines, and reads them as a trainer does.")
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop) // a second signal does not wait
	if err := run(ctx, o); err != nil {
		usage.Fatal(err)
	}
}

func run(ctx context.Context, o options) error {
	switch {
	case o.local && o.read != "":
		return usage.Errorf("-local and -read: want one of them")
	case o.read != "":
		for replica := range strings.SplitSeq(o.read, ",") {
			if u, err := url.Parse(replica); err != nil || u.Host == "" {
				return usage.Errorf("-read %s: want URLs such as http://localhost:8080", replica)
			}
		}
	}
	switch {
	case o.rank >= o.world:
		return usage.Errorf("-rank %d, -world %d: want a rank from 0 to %d", o.rank, o.world, o.world-1)
	case o.drain < 0:
		return usage.Errorf("-drain %v: want 0s or more", o.drain)
	case (o.cert == "") != (o.key == ""):
		return usage.Errorf("-cert and -key: want both or none")
	}
	if _, err := net.ResolveTCPAddr("tcp", o.listen); err != nil {
		return usage.Errorf("-listen %s: %w", o.listen, err)
	}
	token, err := readToken(o.tokenFile)
	if err != nil {
		return err
	}
	secure, err := secured(o)
	if err != nil {
		return err
	}
	switch {
	case o.read != "":
		return train(ctx, o, token, secure)
	case o.local:
		return trainLocally(ctx, o)
	}
	return provide(ctx, o, token)
}

// readToken reads the token, which is "" if none is given. Errors do not show it. Files and
// secrets of Kubernetes often end with a line break, which is no part of the token.
func readToken(file string) (string, error) {
	text, from := os.Getenv("PENSTOCK_TOKEN"), "PENSTOCK_TOKEN"
	if file != "" {
		b, err := os.ReadFile(file)
		if err != nil {
			return "", usage.Errorf("-token-file: %w", err)
		}
		text, from = string(b), file
	}
	token := strings.TrimSpace(text)
	if token == "" && (file != "" || text != "") {
		return "", usage.Errorf("%s is empty: want a token", from)
	}
	return token, nil
}

// plan is what decides the content of every batch: the dataset, and options of its
// loaders. All replicas, and trainers with -local, have the same.
func plan(o options) (dataset.Dataset, []loader.Option, error) {
	files := fs.FS(photos.Files)
	if o.dir != "" {
		files = os.DirFS(o.dir)
	}
	folder, err := dataset.ImageFolder(files)
	if err != nil {
		return nil, nil, err
	}
	ds, err := transform.Images(folder, transform.Train(o.size))
	return ds, []loader.Option{
		loader.BatchSize(o.batch), loader.Shuffle(true), loader.Seed(o.seed), loader.OnError(loader.Skip, loader.NoLimit),
	}, err
}

// mode is what happens to the last images if the ranks do not divide them evenly.
const mode = sampler.PadToEven
