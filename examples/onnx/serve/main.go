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
	"net"
	"net/http"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/penstock-go/penstock/examples/internal/usage"
	"github.com/penstock-go/penstock/examples/onnx/model"
	"github.com/penstock-go/penstock/examples/onnx/ort"
	"github.com/penstock-go/penstock/transform"
)

// options are what the flags say.
type options struct {
	addr     string
	model    string
	batch    int
	wait     time.Duration
	queue    int
	maxBytes int
	sending  time.Duration
	pixels   int
	threads  int
	top      int
	drain    time.Duration
}

func main() {
	var o options
	flag.StringVar(&o.addr, "addr", "127.0.0.1:8080", "`address` to listen on")
	flag.StringVar(&o.model, "model", model.Folder(), "`folder` that examples/onnx/install filled")
	usage.Int(&o.batch, "batch", 4, 1, "`images` that the net sees at once, at most; larger batches pay on devices, not on processors")
	flag.DurationVar(&o.wait, "wait", 5*time.Millisecond, "how long a batch takes further images while the net is free")
	usage.Int(&o.queue, "queue", 64, 1, "`requests` that wait for the net; a further one gets 503")
	usage.Int(&o.maxBytes, "max-bytes", 8<<20, 1, "`bytes` of an image")
	flag.DurationVar(&o.sending, "sending", 20*time.Second, "how long a client may take to send an image")
	usage.Int(&o.pixels, "max-pixels", 50_000_000, 1, "`pixels` of an image")
	usage.Int(&o.threads, "threads", 0, 0, "`threads` of the net; 0 is one for each processor")
	usage.Int(&o.top, "top", 5, 1, "`classes` in an answer")
	flag.DurationVar(&o.drain, "drain", 10*time.Second, "how long an interrupt waits for requests that are under way")
	usage.Parse("Serve names what is on images that it gets by POST /classify.")
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop) // a second interrupt does not wait
	if err := run(ctx, o, func(addr net.Addr) { fmt.Printf("listening on http://%v/classify\n", addr) }); err != nil {
		usage.Fatal(err)
	}
}

// run serves until ctx ends, and then until the requests under way are answered. It
// calls ready when it listens.
func run(ctx context.Context, o options, ready func(net.Addr)) (err error) {
	if o.sending <= 0 {
		return usage.Errorf("-sending %v: want more than 0s", o.sending)
	}
	if _, err := net.ResolveTCPAddr("tcp", o.addr); err != nil {
		return usage.Errorf("-addr %s: %w", o.addr, err)
	}
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
	steps, err := transform.Compile(append(model.Steps(), transform.MaxPixels(o.pixels))...)
	if err != nil {
		return err
	}
	b := newBatcher(batcherConfig{net: session.Run, size: o.batch, values: session.Values(), classes: session.Classes(), wait: o.wait})
	defer b.close()
	return listen(ctx, o, newServer(&server{steps: steps, batcher: b, names: files.Classes, maxBytes: int64(o.maxBytes), sending: o.sending, top: o.top}, o.queue), ready)
}

// listen serves HTTP. The timeouts end requests of clients that send or read too
// slowly; the server sets that of an image.
func listen(ctx context.Context, o options, s *server, ready func(net.Addr)) error {
	listener, err := net.Listen("tcp", o.addr)
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
	limit, cancel := context.WithTimeout(context.Background(), o.drain)
	defer cancel()
	err = h.Shutdown(limit)
	<-served
	if err != nil {
		return errors.Join(fmt.Errorf("requests were still under way after %v: %w", o.drain, err), h.Close())
	}
	return nil
}
