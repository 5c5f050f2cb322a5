package bulk_test

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"math"
	"runtime"
	"slices"
	"testing"
	"testing/fstest"
	"testing/iotest"
	"unsafe"

	"github.com/penstock-go/penstock/internal/bulk"
)

func TestMemoryIsAligned(t *testing.T) {
	for n := range 300 {
		b := bulk.Make(n)
		if len(b) != n || cap(b) != n {
			t.Errorf("Make(%d): length %d, capacity %d", n, len(b), cap(b))
		}
		if n > 0 && uintptr(unsafe.Pointer(&b[0]))%bulk.Align != 0 {
			t.Errorf("Make(%d) is not aligned", n)
		}
	}
}

func TestSizeNoticesOverflow(t *testing.T) {
	for _, c := range []struct {
		element int
		sizes   []int
		want    int64
		ok      bool
	}{
		{2, []int{3, 4}, 24, true},
		{1, nil, 1, true},
		{8, []int{math.MaxInt/8 - 8}, (math.MaxInt/8 - 8) * 8, true},
		{1, []int{math.MaxInt}, 0, false},
		{2, []int{math.MaxInt/2 + 1}, 0, false},
		{1, []int{math.MaxInt, math.MaxInt}, 0, false},
		{1, []int{1 << (bitsOfInt / 2), 1 << (bitsOfInt / 2)}, 0, false},
	} {
		if got, ok := bulk.Size(c.element, c.sizes); ok != c.ok || ok && got != c.want {
			t.Errorf("Size(%d, %v): got %d, %v, want %d, %v", c.element, c.sizes, got, ok, c.want, c.ok)
		}
	}
}

const bitsOfInt = 32 << (^uint(0) >> 63)

func TestBufferGrowsWithWhatIsRead(t *testing.T) {
	const size = 5<<20 + 17
	want := make([]byte, size)
	for i := range want {
		want[i] = byte(i * i >> 3)
	}
	for _, wrap := range []func(io.Reader) io.Reader{
		func(r io.Reader) io.Reader { return r }, iotest.HalfReader, iotest.DataErrReader,
	} {
		b := bulk.Growing(size, 0)
		if n, err := b.Fill(wrap(bytes.NewReader(want[:size/2])), size/2); n != size/2 || err != nil {
			t.Fatal(n, err)
		}
		if n, err := b.Fill(wrap(bytes.NewReader(want[size/2:])), size-size/2); n != size-size/2 || err != nil {
			t.Fatal(n, err)
		}
		if got := b.Bytes(); !bytes.Equal(got, want) || uintptr(unsafe.Pointer(&got[0]))%bulk.Align != 0 {
			t.Error("other bytes, or not aligned")
		}
	}
}

func TestPromisesTakeNoMemory(t *testing.T) {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	b := bulk.Growing(math.MaxInt-bulk.Align, 0)
	n, err := b.Fill(bytes.NewReader(make([]byte, 100)), math.MaxInt-bulk.Align)
	runtime.ReadMemStats(&after)
	if n != 100 || !errors.Is(err, bulk.ErrShort) {
		t.Errorf("got %d, %v, want 100, %v", n, err, bulk.ErrShort)
	}
	if got := after.TotalAlloc - before.TotalAlloc; got > 2*bulk.First {
		t.Errorf("%d bytes allocated", got)
	}
}

func TestFillDistinguishesAnErrorFromTheEnd(t *testing.T) {
	for _, c := range []struct {
		r    io.Reader
		want error
	}{
		{bytes.NewReader([]byte("abc")), bulk.ErrShort},
		{io.MultiReader(bytes.NewReader([]byte("abc")), iotest.ErrReader(io.ErrUnexpectedEOF)), io.ErrUnexpectedEOF},
		{io.MultiReader(bytes.NewReader([]byte("abc")), idle{}), io.ErrNoProgress},
	} {
		b := bulk.Growing(4, 0)
		if n, err := b.Fill(c.r, 4); n != 3 || !errors.Is(err, c.want) {
			t.Errorf("got %d, %v, want 3, %v", n, err, c.want)
		}
		if _, err := bulk.Ended(c.r); c.want != bulk.ErrShort && !errors.Is(err, c.want) {
			t.Errorf("Ended: got %v, want %v", err, c.want)
		}
	}
	if ended, err := bulk.Ended(bytes.NewReader(nil)); !ended || err != nil {
		t.Error("an empty reader has not ended")
	}
	if ended, err := bulk.Ended(bytes.NewReader([]byte("a"))); ended || err != nil {
		t.Error("a full reader has ended")
	}
}

// idle returns nothing, without an error.
type idle struct{}

func (idle) Read([]byte) (int, error) { return 0, nil }

func TestSwapReversesElements(t *testing.T) {
	for _, size := range []int{1, 2, 4, 8} {
		for n := range 9 {
			got := make([]byte, n*size)
			for i := range got {
				got[i] = byte(i)
			}
			want := slices.Clone(got)
			for e := range slices.Chunk(want, size) {
				slices.Reverse(e)
			}
			if bulk.Swap(got, size); !bytes.Equal(got, want) {
				t.Errorf("size %d: got %v, want %v", size, got, want)
			}
		}
	}
}

func TestSourceSkipsAndKnowsItsOffset(t *testing.T) {
	all := make([]byte, 100<<10)
	for i := range all {
		all[i] = byte(i >> 4)
	}
	files := fstest.MapFS{"f": {Data: all}, "d/f": {}}
	for _, fsys := range []fs.FS{files, streams{files}} {
		src, err := bulk.Open(fsys, "f", 1<<10)
		if err != nil {
			t.Fatal(err)
		}
		at := int64(0)
		for _, n := range []int64{0, 1, 500, 5000, 1 << 10, 50000} {
			if err := src.Skip(n); err != nil {
				t.Fatal(err)
			}
			at += n
			if got := src.Offset(); got != at {
				t.Errorf("offset: got %d, want %d", got, at)
			}
			if c, err := src.ReadByte(); err != nil || c != all[at] {
				t.Errorf("byte %d: got %d, %v, want %d", at, c, err, all[at])
			}
			at++
		}
		if err := src.Skip(math.MaxInt64); err != io.ErrUnexpectedEOF {
			t.Errorf("beyond the end: got %v", err)
		}
		if err := src.Close(); err != nil {
			t.Error(err)
		}
	}
	for _, name := range []string{"d", "none"} {
		if _, err := bulk.Open(files, name, 1<<10); err == nil {
			t.Errorf("%s is opened", name)
		}
	}
}

// streams has files that cannot seek.
type streams struct{ fs.FS }

func (s streams) Open(name string) (fs.File, error) {
	f, err := s.FS.Open(name)
	return struct{ fs.File }{f}, err
}
