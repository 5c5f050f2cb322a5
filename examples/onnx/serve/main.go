//go:build cgo

// Serve names what is on images that it gets over HTTP. Requests that arrive
// together share one run of the net. It runs until it is interrupted, and writes nothing.
//
//	examples/onnx/install
//	go run ./examples/onnx/serve
//	curl --data-binary @cat.jpg http://127.0.0.1:8080/classify
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log"
	"net"
	"net/http"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/penstock-go/penstock/examples/onnx/model"
	"github.com/penstock-go/penstock/examples/onnx/ort"
	"github.com/penstock-go/penstock/transform"
)

// options are what the flags say.
type options struct {
	addr     string
	model    string
	batch    int
	queue    int
	maxBytes int64
	pixels   int
	memory   int
	threads  int
}

func main() {
	log.SetFlags(0)
	var o options
	flag.StringVar(&o.addr, "addr", "127.0.0.1:8080", "`address` to listen on")
	flag.StringVar(&o.model, "model", model.Folder(), "`folder` that examples/onnx/install filled")
	flag.IntVar(&o.batch, "batch", 4, "`images` that the net sees at once, at most; larger batches pay on devices, not on processors")
	flag.IntVar(&o.queue, "queue", 64, "`requests` at a time; a further one gets 503")
	flag.Int64Var(&o.maxBytes, "max-bytes", 8<<20, "`bytes` of an image")
	flag.IntVar(&o.pixels, "max-pixels", 50_000_000, "`pixels` of an image")
	flag.IntVar(&o.memory, "max-memory", 1<<30, "`bytes` that all images take together while they are decoded; further ones wait")
	flag.IntVar(&o.threads, "threads", 0, "`threads` of the net; 0 is one for each processor")
	flag.Parse()
	if flag.NArg() > 0 || o.batch < 1 || o.queue < 1 || o.maxBytes < 1 {
		log.Fatal("want flags alone, and -batch, -queue and -max-bytes from 1 on: see -h")
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop) // a second interrupt does not wait
	if err := run(ctx, o, func(addr net.Addr) { fmt.Printf("listening on http://%v/classify\n", addr) }); err != nil {
		log.Fatal(err)
	}
}

// run serves until ctx ends, and then until the requests under way are answered. It
// calls ready when it listens.
func run(ctx context.Context, o options, ready func(net.Addr)) (err error) {
	files, err := model.Find(o.model)
	if err != nil {
		return err
	}
	stop, err := ort.Start(files.Library)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, stop()) }()
	session, err := ort.Open(files.Net, o.threads)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, session.Close()) }()
	steps, err := transform.Compile(append(model.Steps(), transform.MaxPixels(o.pixels), transform.MaxMemory(o.memory))...)
	if err != nil {
		return err
	}
	s := newServer(o, steps, files.Classes, session.Values(), session.Classes(), session.Run)
	defer s.close()
	return listen(ctx, o.addr, s, ready)
}

// listen serves HTTP. The timeouts end requests of clients that send or read too slowly.
func listen(ctx context.Context, addr string, s *server, ready func(net.Addr)) error {
	listener, err := net.Listen("tcp", addr)
	if err != nil {
		return err
	}
	h := &http.Server{Handler: s.handler(), ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 20 * time.Second,
		WriteTimeout: 40 * time.Second, IdleTimeout: time.Minute, MaxHeaderBytes: 16 << 10}
	ready(listener.Addr())
	served := make(chan error, 1)
	go func() { served <- h.Serve(listener) }()
	select {
	case err := <-served:
		return err
	case <-ctx.Done():
	}
	limit, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	err = h.Shutdown(limit)
	<-served
	if err != nil {
		return errors.Join(fmt.Errorf("requests are still under way: %w", err), h.Close())
	}
	return nil
}
