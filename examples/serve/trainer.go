package main

import (
	"context"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/binary"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strings"

	"github.com/penstock-go/penstock/internal/usage"
	"github.com/penstock-go/penstock/loader"
	"github.com/penstock-go/penstock/loader/remote"
)

// train reads from the service.
func train(ctx context.Context, o options, token string, secure *tls.Config) error {
	options := []remote.Option{
		remote.Rank(o.rank, o.world),
		remote.Logger(slog.New(slog.NewTextHandler(os.Stderr, nil))),
	}
	if token != "" {
		options = append(options, remote.Token(token))
	}
	if o.insecure {
		options = append(options, remote.Insecure())
	}
	if secure != nil {
		options = append(options, remote.TLS(secure))
	}
	l, err := remote.Open(ctx, strings.Split(o.read, ","), options...)
	if err != nil {
		return err
	}
	return consume(ctx, l, o.epochs)
}

// secured is how the service is reached over HTTPS, or nil if no file says so.
func secured(o options) (*tls.Config, error) {
	if o.ca == "" && o.cert == "" {
		return nil, nil
	}
	secure := new(tls.Config)
	if o.ca != "" {
		text, err := os.ReadFile(o.ca)
		if err != nil {
			return nil, usage.Errorf("-ca: %w", err)
		}
		secure.RootCAs = x509.NewCertPool()
		if !secure.RootCAs.AppendCertsFromPEM(text) {
			return nil, usage.Errorf("-ca %s: want certificates in PEM", o.ca)
		}
	}
	if o.cert != "" {
		pair, err := tls.LoadX509KeyPair(o.cert, o.key)
		if err != nil {
			return nil, usage.Errorf("-cert and -key: %w", err)
		}
		secure.Certificates = []tls.Certificate{pair}
	}
	return secure, nil
}

// trainLocally reads the same batches from the files. Only the line that makes the loader
// differs.
func trainLocally(ctx context.Context, o options) error {
	ds, options, err := plan(o)
	if err != nil {
		return err
	}
	l, err := loader.New(ds, append(options, loader.Ranks(o.rank, o.world, mode))...)
	if err != nil {
		return err
	}
	return consume(ctx, l, o.epochs)
}

// consume stands for a training: it prints the hash of everything that a model would see.
func consume(ctx context.Context, l *loader.Loader, epochs int) (err error) {
	defer func() { err = errors.Join(err, l.Close()) }()
	sum := sha256.New()
	batches, samples := 0, 0
	for b, err := range l.Epochs(ctx, 0, epochs) {
		if ctx.Err() != nil {
			return fmt.Errorf("interrupted after %d batches", batches)
		}
		if err != nil {
			return err
		}
		var indices []byte
		for _, i := range b.Indices() {
			indices = binary.LittleEndian.AppendUint64(indices, uint64(i))
		}
		sum.Write(indices)
		sum.Write(b.Bytes("label"))
		sum.Write(b.Bytes("image"))
		batches++
		samples += b.Len()
	}
	fmt.Printf("%d batches, %d images, %d left out, sha256 %x\n", batches, samples, l.Stats().Dropped, sum.Sum(nil))
	return nil
}
