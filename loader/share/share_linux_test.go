package share

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"strings"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/loader"
)

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
	spec := dataset.Spec{{Name: "x", Dtype: dataset.Uint8, Shape: dataset.Shape{small}}, {Name: "y", Dtype: dataset.Int64}, {Name: "z", Dtype: dataset.Int64}}
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
