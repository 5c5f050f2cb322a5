package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"time"
)

// The names of the sides.
const (
	penstock = "penstock"
	https    = "penstock, HTTPS"
	rawTCP   = "TCP"
	rawTLS   = "TLS"
	grpcName = "gRPC"
	grpcOwn  = "gRPC, own codec"
	tfdata   = "tf.data service"
)

// A side is a way to send batches, written in Go.
type side struct {
	// serve answers one client until ctx is done. It calls listening with its address.
	serve func(ctx context.Context, l load, listening func(net.Addr)) error
	open  func(ctx context.Context, l load, address string) (client, error)
}

var sides = map[string]side{
	penstock: {servePenstock, openPenstock},
	https:    {serveHTTPS, openHTTPS},
	rawTCP:   {serveTCP, openTCP},
	rawTLS:   {serveTLS, openTLS},
	grpcName: {protobuf{}.serve, protobuf{}.open},
	grpcOwn:  {plain{}.serve, plain{}.open},
}

// A client reads epochs.
type client interface {
	// epoch calls got with the parts of each batch, which are valid until it returns.
	epoch(ctx context.Context, got func(parts ...[]byte)) error
	close() error
}

// A turn is what a client reports of an epoch: its batches, and the seconds until the first
// and the last of them came.
type turn struct {
	Batches int     `json:"batches"`
	First   float64 `json:"first"`
	Last    float64 `json:"last"`
}

// serve is the process of a server. It prints its address, and ends with its input.
func (o options) serve(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() { // ends with the process
		_, _ = io.Copy(io.Discard, os.Stdin) // an error ends the input, too
		cancel()
	}()
	return sides[o.name].serve(ctx, o.load, func(a net.Addr) { fmt.Println(a) })
}

// read is the process of a client. It reads an epoch for every line of its input.
func (o options) read(ctx context.Context) error {
	c, err := sides[o.name].open(ctx, o.load, o.address)
	if err != nil {
		return err
	}
	defer c.close() // nothing is written
	about := "ready"
	if s, ok := c.(interface{ about() string }); ok {
		about = s.about()
	}
	fmt.Println(about)
	lines, out := bufio.NewScanner(os.Stdin), json.NewEncoder(os.Stdout)
	for lines.Scan() {
		t, err := o.turn(ctx, c)
		if err != nil {
			return err
		}
		if err := out.Encode(t); err != nil {
			return err
		}
	}
	return lines.Err()
}

func (l load) turn(ctx context.Context, c client) (t turn, err error) {
	begun, bytes := time.Now(), 0
	err = c.epoch(ctx, func(parts ...[]byte) {
		t.Last = time.Since(begun).Seconds()
		if t.Batches == 0 {
			t.First = t.Last
		}
		t.Batches++
		for _, p := range parts {
			bytes += len(p)
		}
	})
	if want := l.batches * l.bytes(); err == nil && bytes != want {
		err = fmt.Errorf("got %d bytes in %d batches, want %d in %d", bytes, t.Batches, want, l.batches)
	}
	return t, err
}

// messages are the batches of the servers that have no loader: as many as the service keeps
// in memory for a rank, with different content.
func messages(l load) (all [6][]byte) {
	for k := range all {
		all[k] = make([]byte, l.bytes())
		for i := range all[k] {
			all[k][i] = byte(k + i/5000)
		}
	}
	return all
}

// slabs is the memory of the clients that have no loader: for as many batches as penstock's.
func slabs(l load) (all [5][]byte) {
	for k := range all {
		all[k] = make([]byte, l.bytes())
	}
	return all
}
