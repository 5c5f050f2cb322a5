package main

import (
	"context"
	"io"
	"net"
)

func serveTCP(ctx context.Context, l load, listening func(net.Addr)) error {
	return serveLoop(ctx, l, listening, func(c net.Conn) net.Conn { return c })
}

// serveLoop sends an epoch for each byte that it receives, over a connection that wrap may change.
func serveLoop(ctx context.Context, l load, listening func(net.Addr), wrap func(net.Conn) net.Conn) error {
	all := messages(l)
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "localhost:0")
	if err != nil {
		return err
	}
	defer listener.Close()
	defer context.AfterFunc(ctx, func() { listener.Close() })()
	listening(listener.Addr())
	accepted, err := listener.Accept()
	if err != nil {
		return ended(ctx, err)
	}
	c := wrap(accepted)
	defer c.Close()
	defer context.AfterFunc(ctx, func() { c.Close() })()
	for request := make([]byte, 1); ; {
		if _, err := c.Read(request); err != nil {
			return ended(ctx, err)
		}
		for k := range l.batches {
			if _, err := c.Write(all[k%len(all)]); err != nil {
				return ended(ctx, err)
			}
		}
	}
}

// ended is err, or nil if there is no more to do: the client has left, or ctx is done.
func ended(ctx context.Context, err error) error {
	if err == io.EOF || ctx.Err() != nil {
		return nil
	}
	return err
}

type tcpClient struct {
	load
	net.Conn
	slabs [5][]byte
}

func openTCP(ctx context.Context, l load, address string) (client, error) {
	conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", address)
	return &tcpClient{l, conn, slabs(l)}, err
}

func (c *tcpClient) epoch(_ context.Context, got func(...[]byte)) error {
	if _, err := c.Write([]byte{1}); err != nil {
		return err
	}
	for k := range c.batches {
		slab := c.slabs[k%len(c.slabs)]
		if _, err := io.ReadFull(c, slab); err != nil {
			return err
		}
		got(slab)
	}
	return nil
}

func (c *tcpClient) close() error { return c.Close() }
