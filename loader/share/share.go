// Package share gives a loader's batches, without copying them, to the process that
// started this one. As a rule that is a Python program. It works on Linux.
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
// A reader in another language can do the same as the Python package. It makes a pair
// of connected Unix stream sockets and starts the program with one of them as standard
// input. Both sides write lines of JSON. The reader sends one request at a time:
//
//	{"do":"hello","version":2}           comes first; the answer has the fields' names and what [Info] was given
//	{"do":"begin","from":{"epoch":0}}    begins a loop at the start of an epoch, or at the position of a batch
//	{"do":"next","after":7}              asks for the batch after batch 7, which is the last one of its loop
//	{"do":"len","epoch":0}               the answer is {"len":…}, the number of batches, or an error
//	{"do":"stats"}                       the answer is {"stats":"…"}, a text for people
//
// A loop ends where another one begins. The answer to hello is
//
//	{"names":["image","label"],"info":{…}}
//
// The answer to begin and next is one of three lines: a batch; the end of the epoch,
// with the position of the next epoch; or an error, which ends the loop. If a sample
// failed, name and index are those of the sample:
//
//	{"batch":7,"fields":[…],"gone":[],"position":{…}}
//	{"end":{…}}
//	{"error":"…","name":"cat/0812.jpg","index":812}
//
// The fields of a batch say where they are:
//
//	{"name":"image","dtype":"float32","shape":[128,3,224,224],"bytes":77070336,
//	  "block":1,"file":"/proc/1234/fd/5","offset":0,"copy":false}
//
// The shape of a ragged field counts the elements of all samples, and "offsets" says
// where each sample begins. A block is a file in memory, to be mapped as a whole. The
// reader opens a file that is new to it before its next request. A field without
// elements has block 0 and no file. "gone" lists blocks that no later batch uses.
//
// The memory of a batch belongs to the reader as long as it holds one of the batch's
// blocks. Any request can have "held":[1,…], which lists all blocks that it holds, and
// "forks", the number of times that it has forked. After a fork the other process sees
// the batches that the reader holds, and the loader does not use their memory again.
//
// A reader should copy a field with "copy":true, and free the block. The field is small,
// or the reader holds so many batches that the loader becomes slower. When the reader
// holds all memory, no further batch comes. [Serve] returns when the reader closes its end
// of the sockets, and when it exits or is killed.
package share

import (
	"context"
	"errors"
	"net"
	"os"

	"github.com/penstock-go/penstock/loader"
)

// ErrAlone is the error of [Serve] in a program that no reader has started.
var ErrAlone = errors.New("share: nobody reads: standard input is not a Unix socket: start this program with penstock.Loader in Python")

// An Option configures [Serve]. The zero Option sets nothing.
type Option struct{ set func(*server) }

// Info adds an entry to the object "info" of the first line, such as the names of the
// classes. The value is written by package encoding/json.
func Info(name string, value any) Option {
	return Option{func(s *server) { s.info[name] = value }}
}

// Serve gives the loader's batches to the process that started this one. The loader
// must have been made with [loader.Memory] of m. Serve returns nil when that process ends
// or closes its socket. It returns an error if ctx is done, or if the reader sends a line
// that breaks the protocol. Errors of the loader, such as a damaged file, are sent to the
// reader.
//
// When the reader is gone, nobody is left to end a program that hangs. If a sample still
// keeps a worker after five seconds, Serve exits with status 1.
//
// A program calls Serve once. It must not read its standard input.
func Serve(ctx context.Context, l *loader.Loader, m *Memory, options ...Option) error {
	conn, err := inherited(os.Stdin)
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

// inherited is the socket that the reader has passed to this process.
func inherited(file *os.File) (*net.UnixConn, error) {
	conn, err := net.FileConn(file) // a duplicate
	if err != nil {
		return nil, ErrAlone
	}
	if unix, ok := conn.(*net.UnixConn); ok {
		return unix, nil
	}
	conn.Close()
	return nil, ErrAlone
}
