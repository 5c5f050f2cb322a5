package main

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"os"
	"sync"
	"time"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/loader"
	"github.com/penstock-go/penstock/loader/serve"
)

// provide is the service. It ends when ctx is done.
func provide(ctx context.Context, o options, token string) error {
	ds, options, err := plan(o)
	if err != nil {
		return err
	}
	logger := slog.New(slog.NewTextHandler(os.Stderr, nil))
	serving := []serve.Option{
		serve.Loader(append(options, loader.Observe(leftOut(logger)))...), serve.Mode(mode), serve.Batches(o.batches), serve.Logger(logger),
	}
	if token != "" {
		serving = append(serving, serve.Token(token))
	}
	s, err := serve.New(ctx, ds, serving...)
	if err != nil {
		return err
	}
	listening := []serve.ListenOption{
		serve.Grace(o.drain, 30*time.Second),
		serve.Listening(func(a net.Addr) { fmt.Printf("plan %s at %v\n", s.Plan(), a) }),
	}
	if o.cert != "" || o.key != "" {
		listening = append(listening, serve.TLS(o.cert, o.key))
	}
	if o.ca != "" {
		listening = append(listening, serve.ClientCA(o.ca))
	}
	if o.insecure {
		listening = append(listening, serve.Insecure())
	}
	return serve.ListenAndServe(ctx, o.listen, s, listening...)
}

// leftOut logs every image that is left out, the first time. The Server logs why batches cannot
// be made.
func leftOut(logger *slog.Logger) loader.Trace {
	var seen sync.Map
	return loader.Trace{SampleFailed: func(e *loader.SampleError) {
		if dataset.MayPass(e) { // it ends the loop
			return
		}
		if _, again := seen.LoadOrStore(e.Index, true); !again {
			logger.Warn("an image is left out", "image", e.Name, "err", e.Err)
		}
	}}
}
