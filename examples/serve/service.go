package main

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"os"
	"time"

	"github.com/penstock-go/penstock/loader/serve"
)

// provide is the service. It ends when ctx is done.
func provide(ctx context.Context, o options, token string) error {
	ds, options, err := plan(o)
	if err != nil {
		return err
	}
	s, err := serve.New(ctx, ds, serve.Loader(options...), serve.Mode(mode), serve.Batches(o.batches), serve.Token(token))
	if err != nil {
		return err
	}
	listening := []serve.ListenOption{
		serve.Grace(o.drain, 30*time.Second),
		serve.Logger(slog.New(slog.NewTextHandler(os.Stderr, nil))),
		serve.Listening(func(a net.Addr) { fmt.Printf("plan %s at %v\n", s.Plan(), a) }),
	}
	if o.cert != "" || o.key != "" {
		listening = append(listening, serve.TLS(o.cert, o.key))
	}
	if o.insecure {
		listening = append(listening, serve.Insecure())
	}
	return serve.ListenAndServe(ctx, o.listen, s, listening...)
}
