package share

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net"
	"os"
	"slices"
	"testing"
	"unsafe"

	"go.uber.org/goleak"
	"golang.org/x/sys/unix"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/loader"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// numbers is a dataset in which sample i is made of the number i, and number 13 fails.
func numbers(n int) dataset.Dataset {
	spec := dataset.Spec{
		{Name: "x", Dtype: dataset.Float32, Shape: dataset.Shape{1000}},
		{Name: "n", Dtype: dataset.Int},
		{Name: "list", Dtype: dataset.Uint16, Ragged: true},
	}
	return dataset.Func(n, spec, func(_ context.Context, i int, dst dataset.Slot) error {
		if i == 13 {
			return errors.New("bad luck")
		}
		x := dataset.Row[float32](dst, 0)
		for k := range x {
			x[k] = float32(i)
		}
		dataset.Set(dst, 1, i)
		list := dataset.Grow[uint16](dst, 2, i%3)
		for k := range list {
			list[k] = uint16(i)
		}
		return nil
	})
}

// A reader is the other side, in the same process.
type reader struct {
	t      *testing.T
	conn   *net.UnixConn
	lines  *bufio.Reader
	blocks map[int][]byte
	held   map[int]bool // blocks
	forks  int
	done   chan error // what serve returns
}

// A reply is any line.
type reply struct {
	greeting
	batchLine
	failure
	length
	statistics
	End *loader.Position `json:"end"`
}

func served(t *testing.T, ctx context.Context, ds dataset.Dataset, m *Memory, options ...loader.Option) *reader {
	t.Helper()
	l, err := loader.New(ds, append([]loader.Option{loader.Memory(m), loader.Poison(true), loader.BatchSize(4), loader.Workers(2)}, options...)...)
	if err != nil {
		t.Fatal(err)
	}
	ours, theirs := pair(t)
	r := &reader{t: t, conn: ours, blocks: map[int][]byte{}, held: map[int]bool{}, done: make(chan error, 1)}
	r.lines = bufio.NewReader(ours)
	s := newServer(l, m, theirs)
	s.info["colour"] = "red"
	go func() { r.done <- errors.Join(s.serve(ctx), l.Close()) }()
	t.Cleanup(func() {
		ours.Close()
		for _, b := range r.blocks {
			if err := unix.Munmap(b); err != nil {
				t.Error(err)
			}
		}
	})
	if got := r.ask(`{"do":"hello","version":2}`); len(got.Names) != 3 || got.Info["colour"] != "red" {
		t.Fatalf("greeting %+v", got)
	}
	return r
}

func pair(t *testing.T) (a, b *net.UnixConn) {
	t.Helper()
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	conn := func(fd int) *net.UnixConn {
		file := os.NewFile(uintptr(fd), "")
		defer file.Close()
		c, err := net.FileConn(file)
		if err != nil {
			t.Fatal(err)
		}
		return c.(*net.UnixConn)
	}
	return conn(fds[0]), conn(fds[1])
}

// read is the next line. It maps the blocks that are new.
func (r *reader) read() (got reply) {
	r.t.Helper()
	text, err := r.lines.ReadBytes('\n')
	if err != nil {
		r.t.Fatal(err)
	}
	if err := json.Unmarshal(text, &got); err != nil {
		r.t.Fatalf("%s: %v", text, err)
	}
	for _, f := range got.Fields {
		if f.Bytes == 0 {
			continue
		}
		r.held[f.Block] = true
		if r.blocks[f.Block] == nil {
			r.blocks[f.Block] = r.mapped(f.File)
		}
	}
	return got
}

func (r *reader) mapped(name string) []byte {
	r.t.Helper()
	file, err := os.OpenFile(name, os.O_RDWR, 0)
	if err != nil {
		r.t.Fatal(err)
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		r.t.Fatal(err)
	}
	bytes, err := unix.Mmap(int(file.Fd()), 0, int(info.Size()), unix.PROT_READ, unix.MAP_SHARED)
	if err != nil {
		r.t.Fatal(err)
	}
	return bytes
}

// next asks for the batch after b, and gives b back if it is told to.
func (r *reader) next(b reply, giveBack bool) reply {
	r.t.Helper()
	for _, f := range b.Fields {
		if giveBack {
			delete(r.held, f.Block)
		}
	}
	text, err := json.Marshal(slices.AppendSeq([]int{}, maps.Keys(r.held)))
	if err != nil {
		r.t.Fatal(err)
	}
	return r.ask(`{"do":"next","after":%d,"held":%s,"forks":%d}`, b.Number, text, r.forks)
}

func (r *reader) ask(format string, args ...any) reply {
	r.t.Helper()
	r.tell(format, args...)
	return r.read()
}

func (r *reader) tell(format string, args ...any) {
	r.t.Helper()
	if _, err := fmt.Fprintf(r.conn, format, args...); err != nil {
		r.t.Fatal(err)
	}
}

// values are those of a batch's field.
func values[T any](r *reader, b reply, field int) []T {
	r.t.Helper()
	f := b.Fields[field]
	if f.Bytes == 0 {
		return nil
	}
	bytes := r.blocks[f.Block][f.Offset:][:f.Bytes]
	var one T
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(bytes))), f.Bytes/int(unsafe.Sizeof(one)))
}

// check reports a batch that does not hold the samples from first on.
func (r *reader) check(b reply, first int) {
	r.t.Helper()
	x, n, list := values[float32](r, b, 0), values[int](r, b, 1), values[uint16](r, b, 2)
	offsets := b.Fields[2].Offsets
	for row := range n {
		want := first + row
		if n[row] != want || x[row*1000] != float32(want) || x[row*1000+999] != float32(want) || offsets[row+1]-offsets[row] != want%3 {
			r.t.Errorf("batch %d, row %d: %d, %g, want %d", b.Number, row, n[row], x[row*1000], want)
		}
		for _, v := range list[offsets[row]:offsets[row+1]] {
			if int(v) != want {
				r.t.Errorf("batch %d, row %d: list of %d, want %d", b.Number, row, v, want)
			}
		}
	}
}
