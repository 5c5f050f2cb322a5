package main

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"

	"github.com/penstock-go/penstock/loader/live"
)

// setAddress checks the address of the page.
func (o *options) setAddress(address string) error {
	o.address = address
	_, err := net.ResolveTCPAddr("tcp", address)
	return err
}

// showPage shows a view on a page at that address until stop is called.
func showPage(view *live.View, address string) (stop func() error, err error) {
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return nil, fmt.Errorf("-http: %w", err)
	}
	fmt.Printf("the loader is shown on http://%v/ until it is done\n", listener.Addr())
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
