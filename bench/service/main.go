// Service compares the data service (packages serve and remote) with other ways to send the
// same batches from one process to another over the loopback interface:
//
//	bench/service/install FOLDER                              # once, for tf.data service
//	go run ./bench/service [-python FOLDER/bin/python] [-rounds 7]
//
// The sides are
//
//	penstock             serve and remote, with their defaults
//	TCP                  a loop that writes a batch to a connection, and one that reads it
//	penstock, HTTPS      the same as the first, with TLS
//	TLS                  the same loop with TLS
//	gRPC                 a server stream of messages of 1 MiB (wrapperspb.BytesValue), with the defaults of grpc-go
//	gRPC, own codec      the same without protobuf: a codec that adds no copy, larger windows and buffers
//	tf.data service      a dispatcher and a worker, without compression; needs Python with TensorFlow
//
// Servers and clients are processes of their own, which live as long as the program. Batches
// are images of float32 and labels, and cost nothing to make. Clients have them in memory
// that is used again, except tf.data's, which has a new tensor for each; gRPC's copies them there.
// Both sides of TLS are Go's crypto/tls, with a certificate made for the run.
// In a round each side reads an epoch, one after the other; the first round is left out. The
// program prints a table in Markdown.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log"
	"os"
	"os/signal"
)

func main() {
	log.SetFlags(0)
	o, err := parse(os.Args[1:])
	if errors.Is(err, flag.ErrHelp) {
		return
	}
	if err != nil {
		log.Fatal(err)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	switch o.role {
	case serving:
		err = o.serve(ctx)
	case reading:
		err = o.read(ctx)
	default:
		err = measure(ctx, o, os.Stdout)
	}
	if err != nil {
		stop()
		log.Fatal(err)
	}
}

// The roles of the processes that the program starts of itself.
const (
	serving = "serve"
	reading = "read"
)

// options are the values of the flags.
type options struct {
	load
	rounds int
	python string

	role, name, address string // of a process that the program starts
}

// A load is what every side sends in an epoch.
type load struct {
	rows, side int // images of a batch, and pixels of a side of an image
	batches    int
	part       int    // bytes of a message of gRPC
	keys       string // the folder with the certificate and the key for TLS
}

// bytes is the size of a batch: images of 3 channels of float32, and labels of int64.
func (l load) bytes() int { return l.rows * (3*l.side*l.side*4 + 8) }

func parse(args []string) (options, error) {
	var o options
	f := flag.NewFlagSet("service", flag.ContinueOnError)
	f.IntVar(&o.rows, "rows", 64, "images of a batch")
	f.IntVar(&o.side, "side", 224, "side of an image, in pixels")
	f.IntVar(&o.batches, "batches", 48, "batches of an epoch")
	f.IntVar(&o.part, "message", 1<<20, "bytes of a message of gRPC")
	f.IntVar(&o.rounds, "rounds", 7, "number of rounds, after one that is left out")
	f.StringVar(&o.python, "python", "", "Python with TensorFlow; without it, tf.data service is left out")
	f.StringVar(&o.role, "role", "", "for the program itself: "+serving+" or "+reading)
	f.StringVar(&o.name, "name", "", "for the program itself: the process's side")
	f.StringVar(&o.keys, "keys", "", "for the program itself: the folder with the certificate and the key")
	f.StringVar(&o.address, "address", "", "for the program itself: the server's address")
	if err := f.Parse(args); err != nil {
		return o, err
	}
	if min(o.rows, o.side, o.part, o.rounds) < 1 || o.batches < 2 {
		return o, errors.New("-rows, -side, -message and -rounds: want 1 or more; -batches: 2 or more")
	}
	if f.NArg() > 0 {
		return o, fmt.Errorf("%q is not a flag", f.Arg(0))
	}
	if _, ok := sides[o.name]; o.role != "" && !ok {
		return o, fmt.Errorf("-role %s -name %q: want one of the sides that are compared", o.role, o.name)
	}
	return o, nil
}
