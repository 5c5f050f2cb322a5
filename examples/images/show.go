package main

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"time"

	"github.com/penstock-go/penstock/loader/live"
)

// show shows a view while the loader works: in the terminal, on a page at that address, or
// both. stop ends that.
func show(view *live.View, terminal bool, address string) (stop func() error, err error) {
	stopTerminal, stopPage := func() {}, func() error { return nil }
	if address != "" {
		listener, err := net.Listen("tcp", address)
		if err != nil {
			return nil, err
		}
		fmt.Printf("the loader is shown on http://%v/ until it is done\n\n", listener.Addr())
		server := &http.Server{Handler: view, ReadHeaderTimeout: 10 * time.Second}
		over := make(chan error)
		go func() { over <- server.Serve(listener) }()
		stopPage = func() error {
			err := server.Close()
			if served := <-over; !errors.Is(served, http.ErrServerClosed) {
				err = errors.Join(err, served)
			}
			return err
		}
	}
	if terminal {
		stopTerminal = view.Terminal(os.Stderr, 500*time.Millisecond)
	}
	return func() error {
		stopTerminal()
		return stopPage()
	}, nil
}
