package share

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"net"
	"os"
	"slices"
	"strings"
	"testing"
	"unsafe"

	"go.uber.org/goleak"
	"golang.org/x/sys/unix"
	"gorgonia.org/tensor"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/loader"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// numbers is a dataset in which sample i is made of the number i, and number 13 fails.
func numbers(n int) dataset.Dataset {
	spec := dataset.Spec{
		{Name: "x", Dtype: tensor.Float32, Shape: tensor.Shape{1000}},
		{Name: "n", Dtype: tensor.Int},
		{Name: "list", Dtype: tensor.Uint16, Ragged: true},
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
	l, err := loader.New(ds, append([]loader.Option{loader.Memory(loader.Poison(m)), loader.BatchSize(4), loader.Workers(2)}, options...)...)
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

func TestReaderSeesEveryBatch(t *testing.T) {
	var m Memory
	r := served(t, t.Context(), numbers(12), &m)
	for range 3 { // epochs, or the same one again
		b := r.ask(`{"do":"begin","from":{"epoch":0}}`)
		for first := 0; first < 12; first += 4 {
			if b.Number == 0 {
				t.Fatalf("%+v, want a batch", b)
			}
			r.check(b, first)
			if got, want := b.Fields[1].Dtype, fmt.Sprintf("int%d", unsafe.Sizeof(0)*8); got != want {
				t.Errorf("dtype %s, want %s", got, want)
			}
			b = r.next(b, true)
		}
		if b.End == nil || b.End.Epoch != 1 {
			t.Errorf("%+v, want the end", b)
		}
	}
	if got := r.ask(`{"do":"len","epoch":0}`).Batches; got != 3 {
		t.Errorf("len %d, want 3", got)
	}
	if got := r.ask(`{"do":"stats"}`).Text; !strings.Contains(got, "36 samples in 9 batches") {
		t.Errorf("stats %q", got)
	}
	r.conn.Close()
	if err := <-r.done; err != nil {
		t.Error(err)
	}
	if len(m.blocks) > 0 || m.bytes > 0 {
		t.Errorf("%d blocks of %d bytes are left", len(m.blocks), m.bytes)
	}
}

func TestBatchesAreTheReadersUntilItGivesThemBack(t *testing.T) {
	r := served(t, t.Context(), numbers(12), new(Memory))
	first := r.ask(`{"do":"begin","from":{"epoch":0}}`)
	second := r.next(first, false)
	r.check(first, 0)
	r.check(second, 4)
	r.conn.Close() // it has given none back
	if err := <-r.done; err != nil {
		t.Error(err)
	}
	r.check(first, 0)
	r.check(second, 4)
}

func TestMemoryThatAForkSeesIsNotUsedAgain(t *testing.T) {
	r := served(t, t.Context(), numbers(12), new(Memory))
	var all []reply
	for range 5 {
		b := r.ask(`{"do":"begin","from":{"epoch":0}}`)
		for first := 0; b.End == nil; first += 4 {
			r.check(b, first)
			all = append(all, b)
			r.forks++
			b = r.next(b, true)
		}
	}
	for k, b := range all {
		r.check(b, k%3*4)
	}
}

func TestBlocksThatAreGoneAreNamed(t *testing.T) {
	r := served(t, t.Context(), numbers(12), new(Memory))
	b := r.ask(`{"do":"begin","from":{"epoch":0}}`)
	id := b.Fields[0].Block
	r.forks++
	for range 2 {
		b = r.next(b, true)
		for _, gone := range b.Gone {
			if gone == id {
				return
			}
		}
	}
	t.Errorf("block %d is not named", id)
}

func TestLoopsGoOnAfterAPosition(t *testing.T) {
	r := served(t, t.Context(), numbers(12), new(Memory))
	b := r.ask(`{"do":"begin","from":{"epoch":0}}`)
	position, err := json.Marshal(b.Position)
	if err != nil {
		t.Fatal(err)
	}
	r.check(r.ask(`{"do":"begin","from":%s}`, position), 4)
}

func TestOnlyTheLastLoopGoesOn(t *testing.T) {
	r := served(t, t.Context(), numbers(12), new(Memory))
	old := r.ask(`{"do":"begin","from":{"epoch":0}}`)
	b := r.ask(`{"do":"begin","from":{"epoch":1}}`)
	if got := r.next(old, true); !strings.Contains(got.Error, "another loop has begun") {
		t.Errorf("got %+v, want an error", got)
	}
	r.check(r.next(b, true), 4)
	b.Number += 7
	if got := r.next(b, false); !strings.Contains(got.Error, "this loop has ended") {
		t.Errorf("got %+v, want an error", got)
	}
}

func TestAReaderIsToldWhatToCopy(t *testing.T) {
	r := served(t, t.Context(), numbers(12), new(Memory), loader.BatchSize(2))
	b := r.ask(`{"do":"begin","from":{"epoch":0}}`)
	for k := range 3 {
		if !b.Fields[0].Copy {
			t.Errorf("batch %d: a field of %d bytes is not to be copied", k, b.Fields[0].Bytes)
		}
		b = r.next(b, true)
	}
	spec := dataset.Spec{{Name: "x", Dtype: tensor.Uint8, Shape: tensor.Shape{small}}, {Name: "y", Dtype: tensor.Int64}, {Name: "z", Dtype: tensor.Int64}}
	large := dataset.Func(40, spec, func(_ context.Context, i int, dst dataset.Slot) error {
		clear(dataset.Row[uint8](dst, 0))
		dataset.Set(dst, 1, int64(i))
		dataset.Set(dst, 2, int64(i))
		return nil
	})
	r = served(t, t.Context(), large, new(Memory), loader.InFlight(5)) // with two workers the reader may hold three batches
	b = r.ask(`{"do":"begin","from":{"epoch":0}}`)
	for k, want := range []bool{false, false, false, true} {
		if got := b.Fields[0].Copy; got != want {
			t.Errorf("batch %d: copy %v, want %v", k, got, want)
		}
		b = r.next(b, k == 3)
	}
}

func TestAnotherVersionOfTheProtocolIsNamed(t *testing.T) {
	r := served(t, t.Context(), numbers(12), new(Memory))
	if got, want := r.ask(`{"do":"hello","version":1}`).Error, "share: the program speaks version 2 of the protocol, the reader version 1"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestLoaderErrorsAreTheReaders(t *testing.T) {
	r := served(t, t.Context(), numbers(20), new(Memory))
	b := r.ask(`{"do":"begin","from":{"epoch":0}}`)
	for range 3 {
		b = r.next(b, true)
	}
	if want := "loader: sample 13, epoch 0, batch 3: bad luck"; b.Error != want || b.Index == nil || *b.Index != 13 {
		t.Errorf("%+v, want %s", b.failure, want)
	}
	if got := r.ask(`{"do":"begin","from":{"epoch":-1}}`).Error; !strings.Contains(got, "not a position") {
		t.Errorf("error %q", got)
	}
	r.check(r.ask(`{"do":"begin","from":{"epoch":1}}`), 0)
}

func TestServeEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	r := served(t, ctx, numbers(12), new(Memory))
	r.ask(`{"do":"begin","from":{"epoch":0}}`)
	want := errors.New("enough")
	cancel(want)
	if err := <-r.done; !errors.Is(err, want) {
		t.Errorf("error %v, want %v", err, want)
	}
}

func TestNonsenseEndsServing(t *testing.T) {
	for text, want := range map[string]string{
		"hello":                      "invalid character",
		`{"do":"dance"}`:             `"dance"`,
		`{"do":"stats","held":"x"}`:  "cannot unmarshal",
		`{"do":"begin","from":"me"}`: "cannot unmarshal",
	} {
		r := served(t, t.Context(), numbers(12), new(Memory))
		r.tell("%s\n", text)
		if err := <-r.done; err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, want one with %q", text, err, want)
		}
	}
}

func TestMemoryThatIsNotServedIsNamed(t *testing.T) {
	r := served(t, t.Context(), numbers(12), new(Memory), loader.Memory(loader.Heap{}))
	r.tell(`{"do":"begin","from":{"epoch":0}}`)
	if err := <-r.done; err == nil || !strings.Contains(err.Error(), `field "x" is not in the Memory`) {
		t.Error(err)
	}
}

func TestServeNeedsAReader(t *testing.T) {
	file, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if _, err := inherited(file); !errors.Is(err, ErrAlone) {
		t.Errorf("error %v, want %v", err, ErrAlone)
	}
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(fds[0])
	socket := os.NewFile(uintptr(fds[1]), "")
	defer socket.Close()
	conn, err := inherited(socket)
	if err != nil {
		t.Fatal(err)
	}
	conn.Close()
}

func TestReaderMayHoldWhatTheLoaderDoesNotNeed(t *testing.T) {
	for _, c := range []struct {
		slabs, workers int
		ragged         bool
		want           int
	}{
		{1, 0, false, 0}, {2, 0, false, 1}, {2, 8, false, 1}, {3, 8, false, 2},
		{5, 2, false, 3}, {129, 64, false, 65}, {129, 64, true, 2}, {2, 1, true, 1},
	} {
		if got := keep(loader.Stats{Slabs: c.slabs, Workers: c.workers}, c.ragged); got != c.want {
			t.Errorf("%d slabs, %d workers, ragged %v: %d, want %d", c.slabs, c.workers, c.ragged, got, c.want)
		}
	}
}

func TestMemoryIsZeroAndFreedOnce(t *testing.T) {
	var m Memory
	for _, n := range []int{1, 4096, 4097, 1 << 20} {
		b, err := m.Alloc(n)
		if err != nil {
			t.Fatal(err)
		}
		for i, v := range b {
			if v != 0 {
				t.Fatalf("byte %d of %d is %d", i, n, v)
			}
			b[i] = 1
		}
		if len(b) != n {
			t.Errorf("%d bytes, want %d", len(b), n)
		}
		if err := m.Free(b); err != nil {
			t.Error(err)
		}
		if err := m.Free(b); err == nil {
			t.Error("freed twice without an error")
		}
	}
	if math.MaxInt == math.MaxInt32 {
		return // a machine may have as many bytes as an int can count
	}
	if _, err := m.Alloc(math.MaxInt / 8); err == nil || !strings.Contains(err.Error(), "the machine has") {
		t.Errorf("error %v of 1 EiB", err)
	}
}
