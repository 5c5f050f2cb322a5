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
// of connected Unix stream sockets and starts the program with one of them. The
// environment variable PENSTOCK_SHARE holds the number of that socket's file
// descriptor. Both sides write lines of JSON. The program writes the first line, in
// which a ragged field also has "ragged":true:
//
//	{"version":1,"fields":[{"name":"image","dtype":"float32","shape":[3,224,224]},…],"keep":3,"info":{…}}
//
// The reader sends one request at a time:
//
//	{"do":"begin","from":{"epoch":0}}    begins a loop at the start of an epoch, or at the position of a batch
//	{"do":"next"}                        asks for the next batch of the loop
//	{"do":"stop"}                        ends the loop early; there is no answer
//	{"do":"len","epoch":0}               the answer is {"len":…}, the number of batches, or an error
//	{"do":"stats"}                       the answer is {"stats":"…"}, a text for people
//
// The answer to begin and next is one of three lines: a batch; the end of the epoch,
// with the position of the next epoch; or an error, which ends the loop. If a sample
// failed, name and index are those of the sample:
//
//	{"batch":7,"fields":[{"name":"image","dtype":"float32","shape":[128,3,224,224],"bytes":77070336,"block":1,"offset":0},…],"position":{…}}
//	{"end":{…}}
//	{"error":"…","name":"cat/0812.jpg","index":812}
//
// A block is a file in memory (memfd_create(2)), to be mapped as a whole. The program
// sends its file descriptor once, before the first batch that lies in it, together with
// the line
//
//	{"block":1,"size":77074432}
//
// "gone":[…] in the line of a batch lists blocks that no later batch uses. The shape of
// a ragged field counts the elements of all samples, and "offsets" says where each
// sample begins. A field without elements has block 0, which is not sent.
//
// The memory of a batch belongs to the reader until it sends one of these lines, which
// it may do at any time:
//
//	{"do":"free","batch":7}    the loader may reuse the memory
//	{"do":"lose","batch":7}    the loader must not reuse it, because another process still reads it
//
// A reader should hold at most as many batches at once as "keep" says. With more, the
// loader becomes slower, and when the reader holds all memory no further batch comes.
// [Serve] returns when the reader closes its end of the sockets, and when it exits or is
// killed.
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

// Info adds an entry to the object "info" of the first line, such as the names of the
// classes. The value is written by package encoding/json.
func Info(name string, value any) Option {
	return Option{func(s *server) { s.info[name] = value }}
}

// Serve gives the loader's batches to the process that started this one. The loader
// must have been made with [loader.Memory] of m, or of a [loader.Poison] over m. Serve
// returns nil when that process ends or closes its socket. It returns an error if ctx is
// done, or if the reader sends a line that breaks the protocol. Errors of the loader,
// such as a damaged file, are sent to the reader.
//
// A program calls Serve once.
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

// inherited is the socket that the reader has passed to this process. Only one call can
// take it.
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
