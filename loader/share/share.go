// Package share gives a loader's batches to the process that has started this
// one, as a rule Python, without copying them. It works on Linux.
//
//	var memory share.Memory
//	l, err := loader.New(ds, loader.BatchSize(128), loader.Memory(&memory))
//	if err != nil {
//		return err
//	}
//	defer l.Close()
//	return share.Serve(ctx, l, &memory)
//
// The Python package penstock, in examples/python, starts such a program and loops
// over its batches as PyTorch tensors:
//
//	for image, label in penstock.Loader("./program"):
//
// # Protocol
//
// Programs in other languages can do what the Python package does. The reader makes
// a pair of connected Unix stream sockets, keeps one end and starts the program with
// the other one, whose file descriptor's number is in the variable PENSTOCK_SHARE.
// Both sides write lines of JSON. The program begins:
//
//	{"version":1,"fields":[{"name":"image","dtype":"float32","shape":[3,224,224],"ragged":false},…],"keep":3,"info":{…}}
//
// The reader asks, one question at a time:
//
//	{"do":"begin","from":{"epoch":0}}    begins a loop: here, or at the position of a batch
//	{"do":"next"}                        goes on with it
//	{"do":"stop"}                        ends it early; there is no answer
//	{"do":"len","epoch":0}               is answered with {"len":…}, the number of batches
//	{"do":"stats"}                       is answered with {"stats":"…"}, a text for people
//
// The answer to begin and next is a batch, the end of the epoch with the next one's
// position, or an error, which ends the loop. name and index are those of the sample
// that failed, if one did:
//
//	{"batch":7,"fields":[{"name":"image","dtype":"float32","shape":[128,3,224,224],"bytes":77070336,"block":1,"offset":0},…],"position":{…}}
//	{"end":{…}}
//	{"error":"…","name":"cat/0812.jpg","index":812}
//
// A block is a file in memory (memfd_create(2)), to be mapped as a whole. Its
// descriptor comes, once and before the first batch in it, with a line of its own:
//
//	{"block":1,"size":77074432}
//
// "gone":[…] in the line of a batch names blocks that will not be mentioned again.
// A ragged field has the shape of all its elements, and "offsets", which say where
// the samples begin.
//
// The batch's memory is the reader's until it says so, at any time:
//
//	{"do":"free","batch":7}    the memory can be reused
//	{"do":"lose","batch":7}    it must not be: another process reads it as well
//
// A reader that holds more than keep batches at once slows the loader down, or has
// all its memory, so that no other batch comes. When the reader closes its end, or
// ends in whatever way, [Serve] returns.
package share

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"strconv"

	"github.com/penstock-go/penstock/loader"
)

// ErrAlone is the error of [Serve] in a program that no reader has started.
var ErrAlone = errors.New("share: nobody reads: " + environment + " is not set: start this program with penstock.Loader in Python")

// environment is the variable that holds the number of the inherited socket.
const environment = "PENSTOCK_SHARE"

// An Option configures [Serve]. The zero Option sets nothing.
type Option struct{ set func(*server) }

// Info sets something that the reader is told at the beginning, such as the names
// of classes: a value that package encoding/json can write.
func Info(name string, value any) Option {
	return Option{func(s *server) { s.info[name] = value }}
}

// Serve gives the loader's batches to the process that has started this one. The
// loader must have been made with [loader.Memory] of m, or of a [loader.Poison] over
// it. Serve returns nil when that process ends or wants no more, and an error if ctx
// is done or what the reader sends makes no sense. Errors of the loader, such as a
// damaged file, are the reader's.
//
// One call of Serve at a time may use a loader and a Memory.
func Serve(ctx context.Context, l *loader.Loader, m *Memory, options ...Option) error {
	conn, err := inherited()
	if err != nil {
		return err
	}
	s := newServer(l, m, conn)
	for _, option := range options {
		if option.set != nil {
			option.set(s)
		}
	}
	return s.serve(ctx)
}

// inherited is the socket that the reader has left for this process. It can be had once.
func inherited() (*net.UnixConn, error) {
	text := os.Getenv(environment)
	if text == "" {
		return nil, ErrAlone
	}
	fd, err := strconv.ParseUint(text, 10, 31)
	if err != nil {
		return nil, fmt.Errorf("share: %s=%s: want the number of a file descriptor", environment, text)
	}
	file := os.NewFile(uintptr(fd), "reader")
	conn, err := net.FileConn(file) // a duplicate
	if err != nil {
		return nil, fmt.Errorf("share: %s=%s: %w", environment, text, err)
	}
	file.Close()
	if unix, ok := conn.(*net.UnixConn); ok {
		return unix, nil
	}
	conn.Close()
	return nil, fmt.Errorf("share: %s=%s: want a Unix socket", environment, text)
}
