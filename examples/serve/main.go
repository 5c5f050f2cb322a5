// Serve gives batches of images to trainers on other machines, and reads them as a trainer does.
//
//	go run ./examples/serve                                  # a service of the project's own images
//	go run ./examples/serve -read http://localhost:8080      # a trainer in Go
//	python torch_reader.py http://localhost:8080             # a trainer in PyTorch
//	go run ./examples/serve -local                           # the same batches without a service
//
// Trainers print how many images were left out, and the SHA-256 of all others, which is the same everywhere. The token
// comes from PENSTOCK_TOKEN. docs/service.md says more; the folder kubernetes has a Deployment.
package main

import (
	"context"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/binary"
	"errors"
	"flag"
	"fmt"
	"log"
	"log/slog"
	"net"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/loader"
	"github.com/penstock-go/penstock/loader/remote"
	"github.com/penstock-go/penstock/loader/serve"
	"github.com/penstock-go/penstock/sampler"
	"github.com/penstock-go/penstock/transform"
)

var (
	dir      = flag.String("dir", "examples/images/photos", "`folder` of images, with a folder per class")
	size     = flag.Int("size", 224, "width and height of the images in a batch")
	batch    = flag.Int("batch", 16, "`images` per batch")
	seed     = flag.Uint64("seed", 0, "seed of the order and the augmentations")
	listen   = flag.String("listen", "localhost:8080", "`address` of the service")
	cert     = flag.String("cert", "", "`file` with the certificate for HTTPS, of the service or of the trainer")
	key      = flag.String("key", "", "`file` with the key of the certificate")
	ca       = flag.String("ca", "", "`file` with the certificates of the authorities of which the other side needs a certificate")
	insecure = flag.Bool("insecure", false, "be reachable from other machines without HTTPS and a token")
	drain    = flag.Duration("drain", 0, "time that the service still takes requests after SIGTERM, so that balancers notice")
	read     = flag.String("read", "", "read from the replicas at these `URLs`, separated by commas, instead of serving")
	local    = flag.Bool("local", false, "load the same batches without a service")
	epochs   = flag.Int("epochs", 1, "number of `epochs` to read")
)

func main() {
	log.SetFlags(0)
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, strings.TrimSpace(os.Getenv("PENSTOCK_TOKEN"))); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context, token string) error {
	logger := slog.New(slog.NewTextHandler(os.Stderr, nil))
	if *read != "" {
		options := []remote.Option{remote.Logger(logger)} // and remote.Rank, if there are several
		if token != "" {
			options = append(options, remote.Token(token))
		}
		if *insecure {
			options = append(options, remote.Insecure())
		}
		if *ca != "" {
			secure, err := secured()
			if err != nil {
				return err
			}
			options = append(options, remote.TLS(secure))
		}
		l, err := remote.Open(ctx, strings.Split(*read, ","), options...)
		return consume(ctx, l, err)
	}
	photos, err := dataset.ImageFolder(os.DirFS(*dir))
	if err != nil {
		return err
	}
	ds, err := transform.Images(photos, transform.Train(*size))
	if err != nil {
		return err
	}
	// The plan decides the content of every batch. All replicas have the same.
	plan := []loader.Option{loader.BatchSize(*batch), loader.Shuffle(true), loader.Seed(*seed), loader.Skip(loader.NoLimit)}
	if *local {
		l, err := loader.New(ds, plan...)
		return consume(ctx, l, err)
	}
	serving := []serve.Option{serve.Loader(plan...), serve.Mode(sampler.PadToEven), serve.Logger(logger)}
	if token != "" {
		serving = append(serving, serve.Token(token))
	}
	s, err := serve.New(ctx, ds, serving...)
	if err != nil {
		return err
	}
	listening := []serve.ListenOption{serve.Grace(*drain, 30*time.Second), serve.TLS(*cert, *key),
		serve.Listening(func(a net.Addr) { fmt.Printf("plan %s at %v\n", s.Plan(), a) })}
	if *ca != "" {
		listening = append(listening, serve.ClientCA(*ca))
	}
	if *insecure {
		listening = append(listening, serve.Insecure())
	}
	return serve.ListenAndServe(ctx, *listen, s, listening...)
}

// secured is how the service is reached over HTTPS with an authority of one's own, and a certificate of it.
func secured() (*tls.Config, error) {
	text, err := os.ReadFile(*ca)
	secure := &tls.Config{RootCAs: x509.NewCertPool()}
	secure.RootCAs.AppendCertsFromPEM(text)
	if *cert != "" {
		pair, failed := tls.LoadX509KeyPair(*cert, *key)
		secure.Certificates, err = []tls.Certificate{pair}, errors.Join(err, failed)
	}
	return secure, err
}

// consume stands for a training: it prints the hash of everything that a model would see.
func consume(ctx context.Context, l *loader.Loader, err error) error {
	if err != nil {
		return err
	}
	defer l.Close()
	sum, n, samples := sha256.New(), 0, 0
	for b, err := range l.Epochs(ctx, 0, *epochs) {
		if err != nil {
			return err
		}
		for _, i := range b.Indices() {
			sum.Write(binary.LittleEndian.AppendUint64(nil, uint64(i)))
		}
		sum.Write(b.Bytes("label"))
		sum.Write(b.Bytes("image"))
		n, samples = n+1, samples+b.Len()
	}
	fmt.Printf("%d batches, %d images, %d left out, sha256 %x\n", n, samples, l.Stats().Dropped, sum.Sum(nil))
	return nil
}
