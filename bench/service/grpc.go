package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/mem"
	"google.golang.org/protobuf/types/known/wrapperspb"
)

// method is the path of the only call: it gives an epoch as a stream of parts of batches.
const method = "/penstock.bench.Batches/Epoch"

// A form is how a part of a batch becomes a message.
type form interface {
	// message has the bytes of part, which stay the same.
	message(part []byte) any
	// receive reads the next part into dst, which has room for it.
	receive(s grpc.ClientStream, dst []byte) (n int, err error)
}

// protobuf is what most programs use.
type protobuf struct{}

func (protobuf) message(part []byte) any { return wrapperspb.Bytes(part) }

func (protobuf) receive(s grpc.ClientStream, dst []byte) (int, error) {
	var m wrapperspb.BytesValue
	err := s.RecvMsg(&m)
	return copy(dst, m.Value), err
}

func (p protobuf) serve(ctx context.Context, l load, listening func(net.Addr)) error {
	return serveStream(ctx, l, p, listening)
}

func (p protobuf) open(_ context.Context, l load, address string) (client, error) {
	return openStream(l, p, address, grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(l.part+64))) // with protobuf's header
}

// plain is its own codec: a message is the bytes of a part. They are sent from where they
// lie, and received in their place.
type plain struct{}

const (
	window = 16 << 20 // bytes that may be sent before they are acknowledged
	buffer = 1 << 20  // bytes of a read or a write of the connection
)

func (plain) message(part []byte) any { return &part }

func (plain) receive(s grpc.ClientStream, dst []byte) (int, error) {
	err := s.RecvMsg(&dst)
	return len(dst), err
}

func (p plain) serve(ctx context.Context, l load, listening func(net.Addr)) error {
	return serveStream(ctx, l, p, listening, grpc.ForceServerCodecV2(p), grpc.WriteBufferSize(buffer), grpc.ReadBufferSize(buffer))
}

func (p plain) open(_ context.Context, l load, address string) (client, error) {
	return openStream(l, p, address, grpc.WithDefaultCallOptions(grpc.ForceCodecV2(p), grpc.MaxCallRecvMsgSize(l.part)),
		grpc.WithInitialWindowSize(window), grpc.WithInitialConnWindowSize(window), grpc.WithReadBufferSize(buffer), grpc.WithWriteBufferSize(buffer))
}

func (plain) Name() string { return "plain" }

func (plain) Marshal(v any) (mem.BufferSlice, error) {
	return mem.BufferSlice{mem.SliceBuffer(*v.(*[]byte))}, nil
}

func (plain) Unmarshal(data mem.BufferSlice, v any) error {
	dst := v.(*[]byte)
	if data.Len() > len(*dst) {
		return fmt.Errorf("a message of %d bytes, want %d or fewer", data.Len(), len(*dst))
	}
	*dst = (*dst)[:data.CopyTo(*dst)]
	return nil
}

func serveStream(ctx context.Context, l load, f form, listening func(net.Addr), options ...grpc.ServerOption) error {
	all := messages(l)
	epoch := func(_ any, s grpc.ServerStream) error {
		if err := s.RecvMsg(f.message(nil)); err != nil {
			return err
		}
		for k := range l.batches {
			for rest := all[k%len(all)]; len(rest) > 0; {
				n := min(len(rest), l.part)
				if err := s.SendMsg(f.message(rest[:n])); err != nil {
					return err
				}
				rest = rest[n:]
			}
		}
		return nil
	}
	server := grpc.NewServer(options...)
	server.RegisterService(&grpc.ServiceDesc{
		ServiceName: "penstock.bench.Batches",
		HandlerType: (*any)(nil),
		Streams:     []grpc.StreamDesc{{StreamName: "Epoch", Handler: epoch, ServerStreams: true}},
	}, nil)
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "localhost:0")
	if err != nil {
		return err
	}
	defer context.AfterFunc(ctx, server.Stop)()
	listening(listener.Addr())
	return server.Serve(listener)
}

type streamClient struct {
	load
	form
	*grpc.ClientConn
	slabs [5][]byte
}

func openStream(l load, f form, address string, options ...grpc.DialOption) (client, error) {
	conn, err := grpc.NewClient("passthrough:///"+address, append(options, grpc.WithTransportCredentials(insecure.NewCredentials()))...)
	return &streamClient{l, f, conn, slabs(l)}, err
}

func (c *streamClient) epoch(ctx context.Context, got func(...[]byte)) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	s, err := c.NewStream(ctx, &grpc.StreamDesc{ServerStreams: true}, method)
	if err != nil {
		return err
	}
	if err := errors.Join(s.SendMsg(c.message(nil)), s.CloseSend()); err != nil {
		return err
	}
	for k := range c.batches {
		slab := c.slabs[k%len(c.slabs)]
		for at := 0; at < len(slab); {
			n, err := c.receive(s, slab[at:min(at+c.part, len(slab))])
			if err != nil {
				return err
			}
			at += n
		}
		got(slab)
	}
	if _, err := c.receive(s, nil); err != io.EOF {
		return fmt.Errorf("after the last batch: got error %v, want the end", err)
	}
	return nil
}

func (c *streamClient) close() error { return c.Close() }
