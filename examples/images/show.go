package main

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"

	"github.com/penstock-go/penstock/loader/live"
)

// showPage shows a view on a page at that address, if it is not empty, until stop is called.
func showPage(view *live.View, address string) (stop func() error, err error) {
	if address == "" {
		return func() error { return nil }, nil
	}
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return nil, err
	}
	fmt.Printf("the loader is shown on http://%v/ until it is done\n\n", listener.Addr())
	server := &http.Server{Handler: view, ReadHeaderTimeout: 10 * time.Second}
	over := make(chan error)
	go func() { over <- server.Serve(listener) }()
	return func() error {
		err := server.Close()
		if served := <-over; !errors.Is(served, http.ErrServerClosed) {
			err = errors.Join(err, served)
		}
		return err
	}, nil
}
